// How kinds of frames look: a colour and a shape of their own, so that they differ also without colours.

export const KINDS = {
  "ack": { label: "ACK", colour: "ack", shape: "ring" },
  "udp": { label: "UDP, whole", colour: "udp", shape: "disc" },
  "tcp": { label: "TCP", colour: "tcp", shape: "hexagon" },
  "icmpv6": { label: "ICMPv6", colour: "icmpv6", shape: "cross" },
  "first-fragment": { label: "First fragment", colour: "first", shape: "square" },
  "next-fragment": { label: "Next fragment", colour: "next", shape: "diamond" },
  "recoverable-fragment": { label: "RFRAG", colour: "rfrag", shape: "triangle" },
  "recoverable-ack": { label: "RFRAG-ACK", colour: "rack", shape: "open-triangle" },
  "ipv6-fragment": { label: "IPv6 fragment", colour: "frag6", shape: "star" },
  "other": { label: "Other", colour: "other", shape: "open-square" },
};

const polygon = (corners, turn = -Math.PI / 2, radii = [1]) =>
  Array.from({ length: corners }, (_, i) => {
    const angle = turn + (2 * Math.PI * i) / corners;
    const radius = radii[i % radii.length];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });

/** Corners on the unit circle, and whether only the outline is drawn. A circle has no corners. */
const SHAPES = {
  "disc": [null, false],
  "ring": [null, true],
  "square": [polygon(4, -Math.PI / 4, [1.15]), false],
  "open-square": [polygon(4, -Math.PI / 4, [1.15]), true],
  "diamond": [polygon(4, -Math.PI / 2, [1.2]), false],
  "triangle": [polygon(3, -Math.PI / 2, [1.25]), false],
  "open-triangle": [polygon(3, -Math.PI / 2, [1.25]), true],
  "hexagon": [polygon(6, 0, [1.1]), false],
  "star": [polygon(10, -Math.PI / 2, [1.35, 0.6]), false],
  "cross": [polygon(8, -Math.PI / 4, [1.3, 0.5]), false],
};

/** Draws a shape around a place. */
export function drawShape(context, shape, x, y, radius, colour) {
  const [corners, open] = SHAPES[shape];
  context.beginPath();
  if (corners === null) context.arc(x, y, open ? radius * 0.85 : radius, 0, 2 * Math.PI);
  else {
    corners.forEach(([dx, dy], i) => context[i === 0 ? "moveTo" : "lineTo"](x + radius * dx, y + radius * dy));
    context.closePath();
  }
  if (open) {
    context.lineWidth = Math.max(radius * 0.42, 1.4);
    context.strokeStyle = colour;
    context.stroke();
  } else {
    context.fillStyle = colour;
    context.fill();
  }
}

/** The same as an image for the legend. */
export function shapeImage(shape, colour) {
  const [corners, open] = SHAPES[shape];
  const paint = open ? `fill="none" stroke="var(--${colour})" stroke-width="2.2"` : `fill="var(--${colour})"`;
  const body = corners === null
    ? `<circle cx="8" cy="8" r="${open ? 4.4 : 5.2}" ${paint}/>`
    : `<path d="M${corners.map(([x, y]) => `${(8 + 5.2 * x).toFixed(1)} ${(8 + 5.2 * y).toFixed(1)}`).join("L")}Z" ${paint}/>`;
  const template = document.createElement("template");
  template.innerHTML = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${body}</svg>`;
  return template.content.firstChild;
}
