//! What would be right: from a message of the TOML reader to advice about the key in question.

/// A unit that stands at the end of keys.
struct KeyUnit {
    ending: &'static str,
    name: &'static str,
    kind: Kind,
    /// In the base unit of its kind.
    size: f64,
}

const fn unit(ending: &'static str, name: &'static str, kind: Kind, size: f64) -> KeyUnit {
    KeyUnit {
        ending,
        name,
        kind,
        size,
    }
}

const KEY_UNITS: &[KeyUnit] = &[
    unit("_kbytes_per_s", "kilobytes a second", Kind::Rate, 1.0),
    unit("_ns", "nanoseconds", Kind::Time, 1e-9),
    unit("_us", "microseconds", Kind::Time, 1e-6),
    unit("_ms", "milliseconds", Kind::Time, 1e-3),
    unit("_s", "seconds", Kind::Time, 1.0),
    unit("_m", "metres", Kind::Length, 1.0),
    unit("_bytes", "bytes", Kind::Size, 1.0),
    unit("_dbm", "dBm", Kind::Power, 1.0),
    unit("_db", "dB", Kind::Ratio, 1.0),
    unit("_ma", "mA", Kind::Current, 1.0),
    unit("_v", "V", Kind::Voltage, 1.0),
];

/// Units that people write behind numbers.
const WRITTEN: &[(&str, Kind, f64)] = &[
    ("ns", Kind::Time, 1e-9),
    ("us", Kind::Time, 1e-6),
    ("µs", Kind::Time, 1e-6),
    ("ms", Kind::Time, 1e-3),
    ("s", Kind::Time, 1.0),
    ("sec", Kind::Time, 1.0),
    ("min", Kind::Time, 60.0),
    ("h", Kind::Time, 3600.0),
    ("cm", Kind::Length, 1e-2),
    ("m", Kind::Length, 1.0),
    ("km", Kind::Length, 1e3),
    ("b", Kind::Size, 1.0),
    ("byte", Kind::Size, 1.0),
    ("bytes", Kind::Size, 1.0),
    ("kb", Kind::Size, 1e3),
    ("kib", Kind::Size, 1024.0),
    ("dbm", Kind::Power, 1.0),
    ("db", Kind::Ratio, 1.0),
    ("ma", Kind::Current, 1.0),
    ("v", Kind::Voltage, 1.0),
    ("mhz", Kind::Rate, 125.0),
    ("%", Kind::Share, 0.01),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Length,
    Size,
    Power,
    Ratio,
    Current,
    Voltage,
    Rate,
    Share,
}

/// What is wrong and what would be right, from the reader's message about the value `value` of the key `key`.
pub(super) fn explain(message: &str, key: &str, value: Option<&str>) -> (String, String) {
    if let Some((unknown, known)) = unknown_name(message, "unknown field ") {
        return (format!("unknown key `{unknown}`"), suggest_key(unknown, &known));
    }
    if let Some((unknown, known)) = unknown_name(message, "unknown variant ") {
        let what = format!("`{unknown}` is nothing that `{key}` can be");
        return (what, suggest_word(unknown, &known));
    }
    if let Some(missing) = message.strip_prefix("missing field ") {
        let missing = missing.trim_matches('`');
        let unit = unit_of(missing).map_or(String::new(), |(_, name)| format!(" (in {name})"));
        return (
            format!("the key `{missing}` is missing"),
            format!("add `{missing} = ...`{unit}"),
        );
    }
    if message.starts_with("invalid type: ") || message.starts_with("invalid value: ") {
        return wrong_value(message, key, value);
    }
    if message.starts_with("wanted exactly 1 element, more") {
        let what = format!("`{key}` has more than one kind");
        return (what, "leave one of its tables and remove the others".to_owned());
    }
    if message.starts_with("wanted string or table")
        || message.starts_with("wanted exactly 1 element, found 0")
    {
        let what = format!("`{key}` does not say which kind it is");
        return (what, format!("write `{key} = \"...\"` or a table `[{key}.KIND]`"));
    }
    if message.starts_with("duplicate key") {
        return (
            format!("the key `{key}` stands there twice"),
            "remove one of the two".to_owned(),
        );
    }
    (
        message.lines().next().unwrap_or_default().to_owned(),
        "the file must be valid TOML (https://toml.io)".to_owned(),
    )
}

/// The unit at the end of a key: the key's stem, and the unit's name.
fn unit_of(key: &str) -> Option<(&str, &'static str)> {
    key_unit(key).map(|(stem, unit)| (stem, unit.name))
}

fn key_unit(key: &str) -> Option<(&str, &'static KeyUnit)> {
    KEY_UNITS
        .iter()
        .find_map(|unit| key.strip_suffix(unit.ending).map(|stem| (stem, unit)))
}

fn wrong_value(message: &str, key: &str, value: Option<&str>) -> (String, String) {
    let (found, expected) = message
        .split_once(": ")
        .map_or(message, |(_, rest)| rest)
        .rsplit_once(", expected ")
        .unwrap_or((message, "another value"));
    let name = last_name(key);
    let found = value.map_or_else(|| found.to_owned(), |value| format!("`{value}`"));
    if let Some((article, example)) = number_wanted(expected) {
        if let Some(text) = value.and_then(unquoted)
            && let Some(hint) = number_with_unit(text, name)
        {
            return (format!("`{key}` is a number, but {found} is text"), hint);
        }
        let unit = unit_of(name).map_or(String::new(), |(_, unit)| {
            format!("; its unit, {unit}, is in the key's name")
        });
        return (
            format!("`{key}` cannot be {found}"),
            format!("write {article}, like `{name} = {example}`{unit}"),
        );
    }
    let wanted = match expected {
        "a string" | "string" | "a borrowed string" => format!("write text in quotes: `{name} = \"...\"`"),
        "a boolean" => format!("write `{name} = true` or `{name} = false`"),
        "a sequence" => format!("write a list in brackets: `{name} = [...]`"),
        other if other.starts_with("struct ") || other.starts_with("a map") => {
            format!("`{key}` is a table: write `[{key}]` and its keys below")
        }
        other => format!("expected {other}"),
    };
    (format!("`{key}` cannot be {found}"), wanted)
}

/// If a number is wanted: in words, and an example.
fn number_wanted(expected: &str) -> Option<(&'static str, &'static str)> {
    match expected {
        "u8" => Some(("a whole number from 0 to 255", "3")),
        "u16" => Some(("a whole number from 0 to 65535", "16")),
        "u32" | "u64" | "usize" => Some(("a whole number, not negative", "16")),
        "i8" | "i16" | "i32" | "i64" => Some(("a whole number", "16")),
        "f32" | "f64" => Some(("a number", "2.5")),
        _ => None,
    }
}

/// Advice on a text such as "5 s" where the key's own unit is wanted.
fn number_with_unit(text: &str, name: &str) -> Option<String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')));
    let (digits, unit) = text.split_at(split.unwrap_or(text.len()));
    let number: f64 = digits.replace('_', "").parse().ok()?;
    let unit = unit.trim().to_lowercase();
    if unit.is_empty() {
        return Some(format!("write it without quotes: `{name} = {digits}`"));
    }
    let &(_, kind, size) = WRITTEN.iter().find(|(written, ..)| *written == unit)?;
    if let Some((_, own)) = key_unit(name) {
        if kind != own.kind {
            return Some(format!("`{name}` is in {}: write the number alone", own.name));
        }
        let value = tidy(number * size / own.size);
        return Some(format!("`{name}` is in {}: write `{name} = {value}`", own.name));
    }
    (kind == Kind::Share).then(|| {
        format!(
            "`{name}` is a share from 0 to 1: write `{name} = {}`",
            tidy(number * size)
        )
    })
}

/// A number without the traces of binary fractions.
fn tidy(value: f64) -> String {
    let rounded = format!("{value:.6}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unquoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.strip_prefix(quote)?.strip_suffix(quote)
}

/// The unknown name and the known ones in a message of serde.
fn unknown_name<'m>(message: &'m str, start: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix(start)?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    Some((unknown, names.collect()))
}

fn suggest_key(unknown: &str, known: &[&str]) -> String {
    // First a key that differs in its unit alone, or to which only the unit is missing.
    let stem = unit_of(unknown).map_or(unknown, |(stem, _)| stem);
    for key in known {
        if let Some((key_stem, unit)) = unit_of(key)
            && key_stem == stem
        {
            return format!("write `{key}`, in {unit}");
        }
    }
    suggest_word(unknown, known)
}

fn suggest_word(unknown: &str, known: &[&str]) -> String {
    let all = known
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let nearest = known
        .iter()
        .map(|name| (distance(unknown, name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    match (nearest, known) {
        (_, []) => "nothing can stand here; remove it".to_owned(),
        (Some((_, name)), [_]) => format!("did you mean `{name}`?"),
        (Some((_, name)), _) => format!("did you mean `{name}`? Possible: {all}"),
        (None, _) => format!("possible: {all}"),
    }
}

/// The last part of a path that is no number.
fn last_name(key: &str) -> &str {
    key.rsplit('.')
        .find(|part| !part.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(key)
}

/// How many characters must be inserted, removed or replaced to make `b` of `a` (Levenshtein).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
