//! Networks from CSV text.

use super::{Network, Place};
use crate::config::Problem;

fn problem(line: usize, what: impl std::fmt::Display, wanted: &str) -> Problem {
    Problem::new("topology.csv.file", format!("line {line}: {what}"), wanted)
}

/// Reads a header line with `node,x_m,y_m` and optionally `z_m,parent`, then a line a node, the sink first.
pub(super) fn read(text: &str) -> Result<Network, Problem> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim_end()))
        .filter(|(_, line)| !line.is_empty());
    let (_, header) = lines
        .next()
        .ok_or_else(|| problem(1, "the file is empty", "a header line, then a line a node"))?;
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|&other| other == name);
    let wanted = |name: &str| {
        column(name).ok_or_else(|| {
            problem(
                1,
                format!("no column \"{name}\""),
                "the columns node,x_m,y_m and optionally z_m,parent",
            )
        })
    };
    let (name, x, y) = (wanted("node")?, wanted("x_m")?, wanted("y_m")?);
    let (z, parent) = (column("z_m"), column("parent"));

    let mut nodes: Vec<Place> = Vec::new();
    let mut parents: Vec<(usize, String)> = Vec::new();
    for (line, text) in lines {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let field = |at: usize| {
            fields
                .get(at)
                .copied()
                .ok_or_else(|| problem(line, "too few fields", "as many as the header names"))
        };
        let metres = |at: usize| {
            let text = field(at)?;
            text.parse::<f64>()
                .map_err(|_| problem(line, format!("\"{text}\" is no number"), "metres, like 4.25"))
        };
        let at_m = [metres(x)?, metres(y)?, z.map_or(Ok(0.0), metres)?];
        let parent = parent.map_or(Ok(""), field)?;
        parents.push((line, parent.to_owned()));
        nodes.push(Place::new(nodes.len(), field(name)?.to_owned(), at_m, None));
    }
    for (index, (line, parent)) in parents
        .iter()
        .enumerate()
        .filter(|(_, (_, parent))| !parent.is_empty())
    {
        let found = nodes.iter().position(|node| node.name == *parent);
        let found =
            found.ok_or_else(|| problem(*line, format!("no node \"{parent}\""), "the name of a node"))?;
        nodes[index].parent = Some(found as u16);
    }
    Ok(Network { nodes })
}
