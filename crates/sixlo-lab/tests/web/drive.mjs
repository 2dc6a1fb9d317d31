// Drives the page in Chromium: node drive.mjs URL FOLDER MODE. Screenshots go to the folder. Any failure ends with exit code 1.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [url, folder, mode] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "sixlo-page-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags, viewport: { width: 1440, height: 900 }, colorScheme: "light",
});
const page = await context.newPage();
const trouble = [];
const elsewhere = [];
page.on("pageerror", (error) => trouble.push(String(error)));
page.on("console", (message) => { if (message.type() === "error") trouble.push(message.text()); });
page.on("request", (request) => { if (!request.url().startsWith(url)) elsewhere.push(request.url()); });

const shot = (name) => page.screenshot({ path: join(folder, `${name}.png`) });
const seek = (us) => page.evaluate((time) => {
  const slider = document.getElementById("time");
  slider.value = time;
  slider.dispatchEvent(new Event("input"));
}, us);
/** Where a node is on the page. */
const place = (number) => page.evaluate((node) => {
  const box = document.getElementById("map").getBoundingClientRect();
  const [x, y] = window.sixlo.map.at.get(node);
  return { x: box.left + x, y: box.top + y };
}, number);
const until = (what, argument) => page.waitForFunction(what, argument, { timeout: 60_000 });

/** Loads, and shows the nodes. */
async function loads() {
  await page.goto(url);
  await until(() => window.sixlo?.map.at?.size > 0);
  const shown = await page.evaluate(() => window.sixlo.map.at.size);
  assert.equal(shown, 50, "nodes on the map");
  assert.match(await page.textContent("#run"), /^50 nodes/);
  // Each stands on the map, and no two in the same place.
  const places = await page.evaluate(() => [...window.sixlo.map.at.values()].map((at) => at.map(Math.round).join()));
  assert.equal(new Set(places).size, 50);
}

/** A click opens a node, another one closes it, and so do keys. */
async function opens() {
  const { x, y } = await place(7);
  await page.mouse.click(x, y);
  await page.waitForSelector("#panel h2:has-text('Node 7')");
  await page.waitForSelector("#panel h3:has-text('Counters')");
  await page.waitForSelector("#panel h3:has-text('Routes')");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#panel h2:has-text('Nodes')");
  await page.focus("#map");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("#panel h2:has-text('Node 1')");
  await page.keyboard.press("Escape");
}

async function replay() {
  await loads();
  // Time passes by itself, and stands when it is told to.
  await until(() => window.sixlo.model.time > 0);
  await page.keyboard.press("Space");
  assert.equal(await page.getAttribute("#play", "aria-label"), "Play");
  const stands = await page.evaluate(() => window.sixlo.model.time);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.sixlo.model.time), stands, "paused");

  // The slider leads to any moment, forwards and backwards, and what had been counted by then is there.
  const length = await page.evaluate(() => window.sixlo.source.duration);
  const sentAt = async (time) => {
    await seek(time);
    await until((at) => Math.abs(window.sixlo.model.time - at) < 1 && window.sixlo.source.at !== null, time);
    await page.waitForTimeout(200);
    return page.evaluate(() => window.sixlo.model.totals.sent);
  };
  const late = await sentAt(length * 0.9);
  const early = await sentAt(length * 0.3);
  assert.ok(early > 0 && late > early, `sent until 30 %: ${early}, until 90 %: ${late}`);
  assert.equal(await sentAt(length * 0.9), late, "the same moment is the same again");

  await opens();
  const { x, y } = await place(7);
  await page.mouse.click(x, y);
  await page.waitForSelector("#panel .log li");
  await page.waitForSelector("#panel h3:has-text('Neighbours')");

  // Slowly, so that frames are seen on their way; while everything begins, there are many.
  await seek(length * 0.01);
  await page.evaluate(() => { window.sixlo.controls.setSpeed(0.02); window.sixlo.controls.play(true); });
  await until(() => window.sixlo.model.framesInSight(8400, 9).length > 0);
  await shot("replay-slow");
  await page.evaluate(() => { window.sixlo.controls.setSpeed(10); });
  await page.waitForTimeout(1500);
  await shot("replay-fast");

  // The legend hides a kind.
  const first = page.locator("#legend button").first();
  await first.click();
  assert.equal(await first.getAttribute("aria-pressed"), "false");
  await first.click();

  // As fast as possible, to the end, where it stands.
  await seek(length * 0.5);
  await page.evaluate(() => { window.sixlo.controls.setSpeed(Infinity); window.sixlo.controls.play(true); });
  await until(() => !window.sixlo.controls.playing);
  const totals = await page.evaluate(() => window.sixlo.model.totals);
  assert.equal(totals.delivered + totals.lost, totals.sent, "in the end everything has met its end");
  await page.emulateMedia({ colorScheme: "dark" });
  await seek(length * 0.6);
  await page.evaluate(() => { window.sixlo.controls.setSpeed(1); window.sixlo.controls.play(true); });
  await page.waitForTimeout(1200);
  await shot("replay-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 420, height: 860 });
  await page.waitForTimeout(400);
  await shot("replay-narrow");
}

async function live() {
  await loads();
  const seen = (what, ...rest) => page.evaluate(what, ...rest);
  await until(() => window.sixlo.model.time > 1e6 && window.sixlo.model.totals.frames > 20);
  assert.match(await page.textContent("#status"), /^live/);
  await opens();

  // A node that is switched off is off on the map, and in the table.
  const { x, y } = await place(11);
  await page.mouse.click(x, y);
  await page.click("#switch");
  await until(() => window.sixlo.model.nodes.get(11).on === 0);
  await page.waitForSelector("#panel .off:has-text('off')");
  assert.equal(await page.textContent("#switch"), "Switch on");
  await page.waitForSelector("#panel .log li");
  await page.waitForTimeout(1500);
  await shot("live-off");
  await page.click("#switch");
  await until(() => window.sixlo.model.nodes.get(11).on === 1);

  // Errors of a link are known to who comes later, too.
  await page.click("#panel summary:has-text('Errors of its links')");
  await page.locator("#panel details input[type=range]").first().fill("60");
  await until(() => window.sixlo.source.errors.size === 2);
  const other = await context.newPage();
  await other.goto(url);
  await other.waitForFunction(() => window.sixlo?.source.errors.size === 2);
  await other.close();

  // Time stands when it is told to, and goes on, faster.
  await page.focus("#map");
  await page.keyboard.press("Space");
  await until(() => window.sixlo.source.clock.paused);
  await page.waitForTimeout(400);
  const stands = await seen(() => window.sixlo.model.time);
  await page.waitForTimeout(500);
  assert.equal(await seen(() => window.sixlo.model.time), stands, "paused");
  await page.keyboard.press("Space");
  await until((at) => window.sixlo.model.time > at, stands);
  await seen(() => window.sixlo.controls.setSpeed(20));
  await until(() => window.sixlo.source.clock.speed === 20);
  await until((at) => window.sixlo.model.time > at + 60e6, stands);
  await seen(() => window.sixlo.controls.setSpeed(1));
  await until(() => window.sixlo.source.clock.speed === 1);
  await page.waitForTimeout(1000);
  assert.deepEqual(await seen(() => window.sixlo.source.refused), "");
  await shot("live");
}

try {
  await { replay, live }[mode]();
  assert.deepEqual(trouble, [], "errors in the page");
  assert.deepEqual(elsewhere, [], "requests to elsewhere");
  console.log(`${mode}: all well`);
} catch (error) {
  await shot("failed").catch(() => {});
  console.error(error, trouble);
  process.exitCode = 1;
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
