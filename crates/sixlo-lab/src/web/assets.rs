//! The files of the page, in the program.

/// A file: its path, its media type, and what it holds.
pub type Asset = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

/// All of them.
pub const ASSETS: &[Asset] = &[
    ("/", HTML, include_str!("../../web/index.html")),
    ("/style.css", CSS, include_str!("../../web/style.css")),
    ("/icon.svg", IMAGE, include_str!("../../web/icon.svg")),
    ("/live.js", SCRIPT, include_str!("../../web/live.js")),
    ("/main.js", SCRIPT, include_str!("../../web/main.js")),
    ("/controls.js", SCRIPT, include_str!("../../web/controls.js")),
    ("/format.js", SCRIPT, include_str!("../../web/format.js")),
    ("/kinds.js", SCRIPT, include_str!("../../web/kinds.js")),
    ("/map.js", SCRIPT, include_str!("../../web/map.js")),
    ("/model.js", SCRIPT, include_str!("../../web/model.js")),
    ("/panel.js", SCRIPT, include_str!("../../web/panel.js")),
    ("/plots.js", SCRIPT, include_str!("../../web/plots.js")),
    ("/replay.js", SCRIPT, include_str!("../../web/replay.js")),
];
