//! The plot of the traversal.

use sixlo_lab::plot::{Horizontal, LineChart, Origin, Series, Unit, Value, colour};

use crate::chip::Chip;
use crate::host::Hosts;
use crate::tools::{self, Failure};
use crate::traverse::{Counts, Way};

/// Writes docs/measured/traverse.svg (the chip) and traverse-host.svg (both stacks on the host).
pub(crate) fn write(chip: &Chip, hosts: &Hosts) -> Result<(), Failure> {
    draw(
        "traverse.svg",
        "Instructions for a UDP datagram on Cortex-M3",
        &[
            ("receive", &chip.counts, Way::Receive),
            ("send", &chip.counts, Way::Send),
        ],
    )?;
    draw(
        "traverse-host.svg",
        "Instructions for a UDP datagram on the host",
        &[
            ("smoltcp receives", &hosts.smoltcp, Way::Receive),
            ("smoltcp sends", &hosts.smoltcp, Way::Send),
            ("sixlo receives", &hosts.sixlo, Way::Receive),
            ("sixlo sends", &hosts.sixlo, Way::Send),
        ],
    )
}

fn draw(file: &str, title: &str, lines: &[(&str, &Counts, Way)]) -> Result<(), Failure> {
    let series = lines
        .iter()
        .enumerate()
        .map(|(number, (label, counts, way))| Series {
            origin: Origin::Measured,
            label: (*label).to_owned(),
            colour: colour::series(number),
            values: values(counts, *way),
        });
    let chart = LineChart {
        title: title.to_owned(),
        x: Horizontal::Numbers(lines[0].1.keys().map(|(_, payload)| *payload as f64).collect()),
        x_title: "UDP payload in bytes".to_owned(),
        unit: Unit::Number,
        y_title: title.to_owned(),
        series: series.collect(),
    };
    let svg = chart.draw().into_string();
    tools::write(tools::root().join("docs/measured").join(file), svg + "\n")
}

fn values(counts: &Counts, way: Way) -> Vec<Value> {
    let own = counts.iter().filter(|((counted, _), _)| *counted == way);
    let values = own.map(|((_, payload), count)| Value {
        x: *payload as f64,
        y: f64::from(*count),
        interval: None,
        tooltip: format!("{payload} bytes: {count} instructions"),
    });
    values.collect()
}
