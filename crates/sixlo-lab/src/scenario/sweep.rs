//! What varies between the runs of a campaign: axes of parameters, and the grid that they span.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::source::{BadInput, Source};

/// More points than this are a mistake in the scenario rather than a plan.
pub(super) const POINTS_MAX: usize = 100_000;

/// A parameter that varies.
#[derive(Clone, Debug)]
pub(super) struct Axis<'t> {
    /// The path of its key in the scenario, with dots.
    pub(super) key: String,
    /// Where the key stands.
    pub(super) key_span: Range<usize>,
    /// Its values, in the order of the file.
    pub(super) values: Vec<AxisValue<'t>>,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub(super) struct AxisValue<'t> {
    /// As tables and plots show it.
    pub(super) label: String,
    span: Range<usize>,
    /// As it stands in the file; none for a step of a range, whose label says it all.
    written: Option<DeValue<'t>>,
}

impl<'t> AxisValue<'t> {
    fn value<'p>(&'p self) -> Spanned<DeValue<'p>>
    where
        't: 'p,
    {
        match &self.written {
            Some(value) => Spanned::new(self.span.clone(), value.clone()),
            None => {
                let step = DeValue::parse(&self.label).map_or(DeValue::Boolean(false), Spanned::into_inner);
                Spanned::new(self.span.clone(), step)
            }
        }
    }
}

/// Reads the table `[sweep]`: each leaf is a list of values or a range.
pub(super) fn axes<'t>(source: &Source, sweep: &Spanned<DeValue<'t>>) -> Result<Vec<Axis<'t>>, BadInput> {
    let Some(table) = sweep.get_ref().as_table() else {
        return Err(source.complain(
            sweep.span(),
            "`sweep` is a table of parameters that vary",
            "write `[sweep]` and below it, for example, `traffic.payload_bytes = [16, 128, 512]`",
        ));
    };
    let mut found = Vec::new();
    // Tables that wait, with the path that leads to them.
    let mut waiting = vec![(String::new(), table)];
    while let Some((path, table)) = waiting.pop() {
        for (key, value) in table.iter() {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", key.get_ref());
            let values = match value.get_ref() {
                DeValue::Table(range) if range.contains_key("step") => stepped(source, value.span(), range)?,
                DeValue::Table(inner) => {
                    waiting.push((path, inner));
                    continue;
                }
                DeValue::Array(values) if !values.is_empty() => {
                    values.iter().map(|value| written(source, value)).collect()
                }
                _ => {
                    let what = format!("`sweep.{path}` does not say which values `{path}` takes");
                    let wanted = format!(
                        "write a list like `{path} = [1, 2, 4]` or a range like \
                         `{path} = {{ from = 16, to = 1024, step = 16 }}`"
                    );
                    return Err(source.complain(value.span(), what, wanted));
                }
            };
            found.push(Axis {
                key: path,
                key_span: key.span(),
                values,
            });
        }
    }
    found.sort_by_key(|axis| axis.key_span.start);
    for axis in &found {
        let mut labels: Vec<_> = axis.values.iter().map(|value| &value.label).collect();
        labels.sort();
        if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            let what = format!("`sweep.{}` has the value {} twice", axis.key, twice[0]);
            return Err(source.complain(axis.key_span.clone(), what, "name each value once"));
        }
    }
    let points = found
        .iter()
        .try_fold(1_usize, |points, axis| points.checked_mul(axis.values.len()));
    if points.is_none_or(|points| points > POINTS_MAX) {
        return Err(source.complain(
            sweep.span(),
            format!("the sweep spans more than {POINTS_MAX} points"),
            "use fewer values or larger steps",
        ));
    }
    Ok(found)
}

fn written<'t>(source: &Source, value: &Spanned<DeValue<'t>>) -> AxisValue<'t> {
    let label = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        _ => source.text[value.span()]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    };
    AxisValue {
        label,
        span: value.span(),
        written: Some(value.get_ref().clone()),
    }
}

/// The values of `{ from = a, to = b, step = c }`, the end included.
fn stepped<'t>(
    source: &Source,
    span: Range<usize>,
    range: &DeTable<'_>,
) -> Result<Vec<AxisValue<'t>>, BadInput> {
    let bound = |name: &str| {
        let value = range.get(name)?.get_ref().as_integer()?;
        i64::from_str_radix(value.as_str(), value.radix()).ok()
    };
    let wrong = |what: &str| {
        let wanted = "write `{ from = 16, to = 1024, step = 16 }` with whole numbers, `to` at least `from`, and a \
                      step above 0";
        source.complain(span.clone(), what, wanted)
    };
    let (Some(from), Some(to), Some(step), 3) = (bound("from"), bound("to"), bound("step"), range.len())
    else {
        return Err(wrong("this range is not complete"));
    };
    if step <= 0 || to < from {
        return Err(wrong("this range has no values"));
    }
    if to.abs_diff(from) / step.unsigned_abs() >= POINTS_MAX as u64 {
        return Err(wrong("this range has too many values"));
    }
    let steps = std::iter::successors(Some(from), |value| value.checked_add(step));
    Ok(steps
        .take_while(|value| *value <= to)
        .map(|value| AxisValue {
            label: value.to_string(),
            span: span.clone(),
            written: None,
        })
        .collect())
}

/// Puts one value of an axis into a configuration.
pub(super) fn place<'p>(
    source: &Source,
    config: &mut DeTable<'p>,
    axis: &'p Axis<'_>,
    value: &'p AxisValue<'_>,
) -> Result<(), BadInput> {
    let parts: Vec<&'p str> = axis.key.split('.').collect();
    // The tables that wait, with the parts of the path that are still to go. A part that is no number goes into all
    // entries of an array of tables.
    let mut waiting = vec![(config, parts.as_slice())];
    while let Some((table, parts)) = waiting.pop() {
        let [part, rest @ ..] = parts else { continue };
        if rest.is_empty() {
            // Key and value together: an entry that stays would keep the place of its old key.
            table.remove(*part);
            table.insert(Spanned::new(axis.key_span.clone(), (*part).into()), value.value());
            continue;
        }
        let empty = Spanned::new(axis.key_span.clone(), DeValue::Table(DeTable::new()));
        let entry = table
            .entry(Spanned::new(axis.key_span.clone(), (*part).into()))
            .or_insert(empty);
        match entry.get_mut() {
            DeValue::Table(inner) => waiting.push((inner, rest)),
            DeValue::Array(array) => {
                let index = rest[0].parse::<usize>().ok();
                let rest = if index.is_some() { &rest[1..] } else { rest };
                let mut met = false;
                for (at, item) in array.iter_mut().enumerate() {
                    if index.is_none_or(|index| index == at)
                        && !rest.is_empty()
                        && let DeValue::Table(inner) = item.get_mut()
                    {
                        waiting.push((inner, rest));
                        met = true;
                    }
                }
                if !met {
                    return Err(not_there(source, axis));
                }
            }
            _ => return Err(not_there(source, axis)),
        }
    }
    Ok(())
}

fn not_there(source: &Source, axis: &Axis<'_>) -> BadInput {
    source.complain(
        axis.key_span.clone(),
        format!("there is no `{}` in this scenario that could vary", axis.key),
        "name a key by its path, as in `traffic.payload_bytes` (all `[[traffic]]` tables) or `traffic.0.payload_bytes` \
         (the first)",
    )
}
