//! Events of a trace in words.

use super::history::Weight;
use super::line::Line;

/// Nanoseconds as milliseconds with three decimals.
pub(super) fn milliseconds(ns: u64) -> String {
    let us = (ns + 500) / 1_000;
    format!("{}.{:03}", us / 1_000, us % 1_000)
}

/// How much an event matters.
pub(crate) fn weight(line: &Line<'_>) -> Weight {
    let dropped = line.word("end") == Some("dropped") || line.word("fate") == Some("dropped");
    match line.event {
        "delivered" => Weight::Arrived,
        "lost" | "lost-in-radio" | "refused" | "frame-dropped" => Weight::Lost,
        _ if dropped
            || line
                .word("outcome")
                .is_some_and(|outcome| outcome != "acked" && outcome != "sent") =>
        {
            Weight::Lost
        }
        _ => Weight::Usual,
    }
}

/// Hops that follow each other: `app > udp > ipv6`. None if the first line is no hop.
pub(super) fn way(hops: &[Line<'_>]) -> Option<String> {
    let first = hops.first().filter(|line| line.event == "hop")?;
    let mut way = first.layer.to_owned();
    for hop in hops {
        way.push_str(" > ");
        way.push_str(hop.word("to").unwrap_or("?"));
        if hop.word("queued").is_some() {
            way.push_str(" (in its mailbox)");
        }
    }
    Some(way)
}

/// One event in words.
pub(crate) fn event(line: &Line<'_>) -> String {
    let word = |key| line.word(key).unwrap_or("?");
    let peer = match line.peer {
        "" => "nobody".to_owned(),
        "all" => "all".to_owned(),
        peer => format!("node {peer}"),
    };
    let told = match line.event {
        _ if matches!(line.layer, "air" | "source" | "sink" | "end") => outside(line, &peer),
        "start" => match line.word("cause") {
            Some(cause) => format!(
                "starts as a packet of {} bytes, in answer to datagram {cause}",
                word("len")
            ),
            None => format!("starts as a packet of {} bytes", word("len")),
        },
        "share" => "one more receiver gets it".to_owned(),
        "frame-in" => format!(
            "frame from {peer}, {} bytes, sequence number {}",
            word("len"),
            word("seq")
        ),
        "frame-dropped" => format!("frame not taken: {}", word("reason")),
        "decompressed" => format!(
            "decompressed from {} to {} bytes",
            word("compressed"),
            word("len")
        ),
        "fragment-in" => format!("fragment {} from {peer}: {}", piece(line), fate(line)),
        "queued" => match word("ahead") {
            "0" => format!("next to go to {peer}"),
            ahead => format!("waits for the radio to {peer}, {ahead} ahead of it"),
        },
        "compressed" => format!(
            "headers compressed from {} to {} bytes for {peer}",
            word("header"),
            word("compressed")
        ),
        "fragment-out" => format!("fragment {} cut for {peer}", piece(line)),
        "window" if line.layer == "tcp" => format!(
            "congestion window of port {} to {}: {} bytes, {} under way ({})",
            word("from_port"),
            word("to_port"),
            word("window"),
            word("flight"),
            word("told")
        ),
        "window" => window(line),
        "recoverable-in" => format!("{} from {peer}: {}", recoverable(line), fate(line)),
        "recoverable-out" => format!("{} cut for {peer}", recoverable(line)),
        "recoverable-ack-in" => format!("{} from {peer}", acknowledgement(line)),
        "recoverable-ack-out" => format!("{} for {peer}", acknowledgement(line)),
        "frame-out" => {
            let retry = match word("attempt") {
                "0" => String::new(),
                attempt => format!(", retry {attempt}"),
            };
            format!(
                "frame to {peer}, {} bytes, sequence number {}{retry}",
                word("len"),
                word("seq")
            )
        }
        "frame-done" => outcome(line),
        "segment-out" => format!(
            "sends {} from port {} to {}: sequence {}, {} bytes, acknowledges {}, window {}",
            word("flags"),
            word("from_port"),
            word("to_port"),
            word("seq"),
            word("len"),
            word("ack"),
            word("window")
        ),
        "end" => ended(line),
        other => format!("{other} {}", line.detail),
    };
    format!("{:<8} {told}", line.layer)
}

/// What happened outside the stacks.
fn outside(line: &Line<'_>, peer: &str) -> String {
    let word = |key| line.word(key).unwrap_or("?");
    match (line.layer, line.event) {
        ("source", "sent") => "the application sends it".to_owned(),
        ("source", _) => "the stack refuses it".to_owned(),
        ("sink", "received") => format!(
            "{} bytes more of transfer {}, every one right",
            word("bytes"),
            word("transfer")
        ),
        ("sink", _) => format!(
            "delivered after {} ms, every byte right",
            time(line, "latency_ns")
        ),
        ("end", _) => ended_lost(line),
        (_, "sent") => format!(
            "{} frame of {} bytes was on the air for {} ms",
            word("kind"),
            word("len"),
            time(line, "airtime_ns")
        ),
        (_, "received") => format!("{} frame from {peer} received", word("kind")),
        (_, "lost") => format!("{} frame from {peer} lost: {}", word("kind"), word("cause")),
        (_, "lost-in-radio") => format!("lost in the radio: {}", word("cause")),
        (_, other) => other.replace('-', " "),
    }
}

fn time(line: &Line<'_>, key: &str) -> String {
    let ns = line.word(key).and_then(|ns| ns.parse().ok());
    ns.map_or_else(|| "?".to_owned(), milliseconds)
}

fn ended_lost(line: &Line<'_>) -> String {
    match (line.word("cause").unwrap_or("?"), line.word("last")) {
        (cause, Some(last)) if last != cause => {
            format!("nothing carries it any more: lost, {cause}; in the end {last}")
        }
        (cause, _) => format!("nothing carries it any more: lost, {cause}"),
    }
}

/// Which bytes of the datagram a fragment holds.
fn piece(line: &Line<'_>) -> String {
    let number = |key| {
        line.word(key)
            .and_then(|value| value.parse::<u32>().ok())
            .unwrap_or(0)
    };
    let (offset, len) = (number("offset"), number("len"));
    let (size, tag) = (number("size"), number("tag"));
    format!("{offset}..{} of {size} bytes (tag {tag})", offset + len)
}

fn fate(line: &Line<'_>) -> String {
    match (line.word("fate").unwrap_or("?"), line.word("reason")) {
        ("dropped", Some(reason)) => format!("dropped, {reason}"),
        ("started", _) => "opens a reassembly".to_owned(),
        ("in-order", _) => "appended".to_owned(),
        ("out-of-order", _) => "kept out of order".to_owned(),
        ("completed", _) => "completes the datagram".to_owned(),
        ("forwarded", _) => "goes on to the next hop".to_owned(),
        ("fell-back", _) => "cannot be forwarded: opens a reassembly".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// A recoverable fragment: its bytes are those of the compressed datagram.
fn recoverable(line: &Line<'_>) -> String {
    let number = |key| {
        line.word(key)
            .and_then(|value| value.parse::<u32>().ok())
            .unwrap_or(0)
    };
    let (offset, len) = (number("offset"), number("len"));
    let tag = number("tag");
    if len == 0 {
        return format!("abort (tag {tag})");
    }
    let asks = line.word("ack").map_or("", |_| ", asks for an acknowledgement");
    let met = line.word("congestion").map_or("", |_| ", met congestion");
    let sequence = number("sequence");
    format!(
        "recoverable fragment {sequence}, {offset}..{} (tag {tag}{asks}{met})",
        offset + len
    )
}

/// An acknowledgement of recoverable fragments.
fn acknowledgement(line: &Line<'_>) -> String {
    let bitmap = line
        .word("bitmap")
        .and_then(|bits| u32::from_str_radix(bits, 16).ok());
    let bitmap = bitmap.unwrap_or(0);
    let what = match bitmap {
        0 => "of nothing: the datagram is given up".to_owned(),
        u32::MAX => "of the whole datagram".to_owned(),
        _ => {
            let has = |sequence: &u32| bitmap & (1 << (31 - sequence)) != 0;
            let numbers: Vec<_> = (0..32).filter(has).map(|sequence| sequence.to_string()).collect();
            format!("of fragments {}", numbers.join(" "))
        }
    };
    let met = line.word("congestion").map_or("", |_| ", congestion was met");
    let tag = line.word("tag").unwrap_or("?");
    format!("acknowledgement {what} (tag {tag}{met})")
}

fn window(line: &Line<'_>) -> String {
    let number = |key| line.word(key).and_then(|value| value.parse::<u64>().ok());
    let interval = number("interval_us").map_or(String::new(), |us| {
        format!(", interval {} ms", milliseconds(us * 1_000))
    });
    let told = match line.word("told").unwrap_or("?") {
        "start" => "at the start".to_owned(),
        other => format!("after {other}"),
    };
    format!(
        "window {}{interval}, {told} (tag {})",
        number("window").unwrap_or(0),
        number("tag").unwrap_or(0)
    )
}

fn outcome(line: &Line<'_>) -> String {
    let number = |key| {
        line.word(key)
            .and_then(|value| value.parse::<u32>().ok())
            .unwrap_or(0)
    };
    let (attempts, busy) = (number("attempts"), number("busy"));
    let plural = |count: u32| if count == 1 { "" } else { "s" };
    let told = match line.word("outcome").unwrap_or("?") {
        "acked" => "acknowledged",
        "no-ack" => "no acknowledgement",
        "channel-busy" => "given up, the channel was busy",
        "refused" => "refused by the device",
        other => other,
    };
    let times = format!("{attempts} transmission{}", plural(attempts));
    match busy {
        0 => format!("{told}, {times}"),
        _ => format!("{told}, {times}, channel busy {busy} time{}", plural(busy)),
    }
}

fn ended(line: &Line<'_>) -> String {
    match (line.word("end").unwrap_or("?"), line.word("reason")) {
        ("dropped", Some(reason)) => format!("dropped: {reason}"),
        ("delivered", _) => "taken by the application".to_owned(),
        ("consumed", _) => "done with".to_owned(),
        ("sent", _) => "all of it has left".to_owned(),
        (other, _) => other.to_owned(),
    }
}
