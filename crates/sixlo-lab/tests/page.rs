//! The page, driven in a real browser: playwright-core with an installed Chromium. Screenshots go to `target/page/`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// Fifty nodes, some of which are busy enough to be seen.
const FIFTY: &str = r#"
title = "Fifty nodes, fragments with recovery"
topology = "lille-50"
cpu = "riot-m3"
seeds = 1
[radio.at86rf23x]
[stack]
strategy = "recover"
reassembly_eviction = true
[[traffic]]
from = "beyond-sink-neighbors"
payload_bytes = 192
count = 6
start_max_ms = 5000
gap_min_ms = 3000
gap_max_ms = 9000
[[reboot]]
node = 11
at_ms = 20000
down_ms = 15000
"#;

/// Why the page cannot be driven here; in CI that is no excuse.
fn missing(why: &str) -> Option<PathBuf> {
    assert!(
        std::env::var_os("CI").is_none(),
        "{why}, and CI must not skip this test"
    );
    println!("skipped: {why}");
    None
}

/// A folder in which the driver finds its library. It is installed once, from the list of packages in `tests/web`.
fn driver() -> Option<PathBuf> {
    static DRIVER: OnceLock<Option<PathBuf>> = OnceLock::new();
    DRIVER.get_or_init(install).clone()
}

fn install() -> Option<PathBuf> {
    let browser = std::env::var_os("CHROMIUM").unwrap_or("/usr/bin/chromium".into());
    if !Path::new(&browser).is_file() {
        return missing(
            "there is no /usr/bin/chromium, nor does CHROMIUM name a browser; try `apt install chromium`",
        );
    }
    for tool in ["node", "npm"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return missing(&format!("there is no `{tool}`; try `apt install nodejs npm`"));
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-driver");
    fs::create_dir_all(&folder).unwrap();
    for file in ["package.json", "package-lock.json", "drive.mjs"] {
        fs::copy(source.join(file), folder.join(file)).unwrap();
    }
    if !folder.join("node_modules/playwright-core/package.json").is_file() {
        let mut install = Command::new("npm");
        install
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder);
        let output = install.output().unwrap();
        if !output.status.success() {
            return missing(&format!("`npm ci` fails:\n{}", told(&output)));
        }
    }
    Some(folder)
}

fn told(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A program that serves the page, ended with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let url = lines.find_map(|line| {
            let url = line.split(' ').find(|word| word.starts_with("http://"))?;
            Some(url.to_owned())
        });
        // What it prints later, nobody reads; a pipe that is full must not hold it up.
        std::thread::spawn(move || lines.for_each(drop));
        let url = url.expect("it says where the page is");
        Self { child, url }
    }

    /// Lets the driver do what it does in this mode.
    #[track_caller]
    fn is_driven(&self, driver: &Path, mode: &str) {
        let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../page");
        fs::create_dir_all(&shots).unwrap();
        let mut node = Command::new("node");
        node.current_dir(driver)
            .arg("drive.mjs")
            .arg(&self.url)
            .arg(&shots)
            .arg(mode);
        let output = node.output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sixlo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlo"));
    command.args(arguments).current_dir(folder);
    command
}

#[test]
fn a_recorded_run_is_played_in_a_browser() {
    let Some(driver) = driver() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-replay");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("fifty.toml"), FIFTY).unwrap();
    let output = sixlo(&folder, &["run", "fifty.toml", "-o", "out"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let server = Server::start(&mut sixlo(&folder, &["watch", "out", "--web", "0"]));
    server.is_driven(&driver, "replay");
}

/// Fifty nodes that send for as long as anyone looks.
#[cfg(target_os = "linux")]
const BUSY: &str = r#"
title = "Fifty nodes, live"
topology = "lille-50"
[stack]
strategy = "forward"
[[traffic]]
from = "beyond-sink-neighbors"
payload_bytes = 192
count = 100000
start_max_ms = 3000
gap_min_ms = 3000
gap_max_ms = 9000
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_mesh_that_runs_is_shown_and_steered_by_a_browser() {
    let Some(driver) = driver() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-live");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("busy.toml"), BUSY).unwrap();
    let server = Server::start(&mut sixlo(
        &folder,
        &["live", "busy.toml", "--no-tun", "--web", "0"],
    ));
    server.is_driven(&driver, "live");
}
