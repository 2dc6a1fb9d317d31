use std::sync::mpsc::TryRecvError;

use serde_json::Value;
use sixlo_host::wait::waker;
use sixlo_sim::config::{Chain, Config, Topology};

use super::super::messages::{Frame, To};
use super::*;
use crate::frame_kind::FrameKind;

fn plan() -> Plan {
    let chain = Chain {
        nodes: 4,
        spacing_m: 5.0,
    };
    let config = Config {
        topology: Topology::Chain(chain),
        ..toml::from_str("topology = \"f-b-t\"").unwrap()
    };
    Plan::new(&config, 1).unwrap()
}

const CLOCK: ClockState = ClockState {
    paused: false,
    speed: Some(1.0),
};

/// A page, its end in the mesh, and the commands that arrive there.
fn page() -> (Arc<Live>, Feed, Receiver<Command>, sixlo_host::wait::Woken) {
    let (waker, woken) = waker().unwrap();
    let (handle, commands) = Handle::new(waker);
    let (live, feed) = Live::new(&plan(), "title", "live", handle);
    (live, feed, commands, woken)
}

fn ask(live: &Live, path: &str) -> Answer {
    live.answer(&Request {
        is_post: false,
        path: path.to_owned(),
        query: String::new(),
        body: Vec::new(),
    })
}

fn command(live: &Live, body: &str) -> u16 {
    let request = Request {
        is_post: true,
        path: "/command".to_owned(),
        query: String::new(),
        body: body.as_bytes().to_vec(),
    };
    match live.answer(&request) {
        Answer::Whole { status, .. } => status,
        Answer::Events(_) => 0,
    }
}

/// What one who looks is told.
fn look(live: &Live) -> Option<Box<dyn Iterator<Item = Event> + Send>> {
    match ask(live, "/events") {
        Answer::Events(events) => Some(events),
        Answer::Whole { .. } => None,
    }
}

fn line(events: &mut dyn Iterator<Item = Event>) -> Value {
    match events.next() {
        Some(Event::Line(line)) => serde_json::from_str(&line).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn batch(number: u64) -> Batch {
    let frame = Frame {
        from_us: number,
        air_us: 1,
        sender: 1,
        to: To::Node(2),
        kind: FrameKind::Udp,
        len: 9,
        fate: 0,
        datagram: 0,
    };
    Batch {
        until: number,
        frames: vec![frame],
        nodes: vec![NodeRow {
            node: 2,
            frames: number as u32,
            ..NodeRow::default()
        }],
        ..Batch::default()
    }
}

#[test]
fn who_comes_sees_all_nodes_first_and_then_what_is_new() {
    let (live, mut feed, ..) = page();
    let start = Instant::now();
    feed.turn(start, Time::ms(1), CLOCK);
    while live.present().rows.is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut events = look(&live).unwrap();
    let first = line(&mut *events);
    assert_eq!(
        (first["whole"] == true, first["nodes"].as_array().unwrap().len()),
        (true, 4)
    );
    assert_eq!(first["clock"]["speed"], 1.0);
    live.present().tell(batch(7));
    let second = line(&mut *events);
    assert_eq!(
        (&second["t"], second["frames"].as_array().unwrap().len()),
        (&Value::from(7), 1)
    );
    let whole: Value = serde_json::from_str(&live.present().whole(0)).unwrap();
    assert_eq!(whole["nodes"][1][0], 2, "each node is there once");
}

#[test]
fn who_does_not_listen_misses_it_and_is_told_everything_later_and_nobody_else_waits() {
    let (live, _feed, ..) = page();
    let (mut deaf, mut keen) = (look(&live).unwrap(), look(&live).unwrap());
    line(&mut *keen);
    live.present().rows = (1..=4)
        .map(|node| NodeRow {
            node,
            ..NodeRow::default()
        })
        .collect();
    let start = Instant::now();
    for number in 1..=1_000 {
        live.present().tell(batch(number));
        assert_eq!(line(&mut *keen)["t"], number);
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    // What was in the channel, with the line of the beginning, and the empty one that looked for whoever is gone when the other came.
    for _ in 0..WAITING_MAX {
        line(&mut *deaf);
    }
    live.present().tell(batch(1_001));
    let all = line(&mut *deaf);
    assert_eq!(all["whole"], true);
    let missed = 1_000 - (WAITING_MAX as u64 - 2);
    assert_eq!(all["skipped"], missed + 1, "those before, and that of this batch");
    assert_eq!(
        all["nodes"][1][NodeRow::PLACES
            .iter()
            .position(|place| *place == "frames")
            .unwrap()],
        1_001
    );
    live.present().tell(batch(1_002));
    assert_eq!(line(&mut *deaf)["t"], 1_002);
}

#[test]
fn only_so_many_can_look_and_who_goes_makes_room() {
    let (live, _feed, ..) = page();
    let mut looking: Vec<_> = (0..LOOKING_MAX).map(|_| look(&live).unwrap()).collect();
    assert!(look(&live).is_none());
    looking.pop();
    assert!(look(&live).is_some(), "one has gone");
}

/// The mesh goes on though nobody takes what it tells, and once somebody does, they get all of it.
#[test]
fn a_mesh_never_waits_for_its_page() {
    let (out, batches) = sync_channel(2);
    let mut feed = Feed {
        tap: Tap::new(&plan()),
        out,
        next: Instant::now(),
        told: None,
        behind: None,
    };
    let start = Instant::now();
    for turn in 1..=50 {
        let at = start + EVERY * turn;
        sixlo_sim::observer::Observer::reboot(feed.tap(), Time::ms(u64::from(turn)), 1, turn % 2 == 0);
        feed.turn(at, Time::ms(u64::from(turn)), CLOCK);
    }
    assert!(feed.behind.is_some());
    assert!(batches.try_iter().all(|batch| !batch.whole));
    feed.turn(start + EVERY * 51, Time::ms(51), CLOCK);
    let whole = batches.try_recv().unwrap();
    assert_eq!((whole.whole, whole.nodes.len(), whole.nodes[1].on), (true, 4, 1));
    // Nothing is new, so nothing is told; a change of the clock is told at once.
    feed.turn(start + EVERY * 52, Time::ms(52), CLOCK);
    assert_eq!(batches.try_recv(), Err(TryRecvError::Empty));
    let paused = ClockState {
        paused: true,
        ..CLOCK
    };
    feed.turn(start + EVERY * 52, Time::ms(52), paused);
    assert_eq!(batches.try_recv().unwrap().clock, Some(paused));
}

#[test]
fn commands_are_understood_or_refused() {
    let (live, _feed, commands, _woken) = page();
    for (body, wanted) in [
        ("{\"pause\":true}", "Pause(true)"),
        ("{\"speed\":\"max\"}", "Speed(Unlimited)"),
        ("{\"speed\":\"0.5\"}", "Speed(Times(0.5))"),
        (
            "{\"switch\":{\"node\":4,\"on\":false}}",
            "Switch { node: 4, on: false }",
        ),
        (
            "{\"link\":{\"from\":1,\"to\":2,\"errors\":0.25}}",
            "LinkErrors { from: 1, to: 2, probability: 0.25 }",
        ),
    ] {
        assert_eq!(command(&live, body), 204, "{body}");
        assert_eq!(format!("{:?}", commands.try_recv().unwrap()), wanted);
    }
    for body in [
        "",
        "{}",
        "null",
        "{\"stop\":null}",
        "{\"pause\":1}",
        "{\"pause\":true,\"speed\":\"1\"}",
        "{\"speed\":\"0\"}",
        "{\"speed\":\"NaN\"}",
        "{\"switch\":{\"node\":0,\"on\":true}}",
        "{\"switch\":{\"node\":5,\"on\":true}}",
        "{\"switch\":{\"node\":70000,\"on\":true}}",
        "{\"switch\":{\"node\":1,\"on\":true,\"more\":1}}",
        "{\"link\":{\"from\":1,\"to\":1,\"errors\":0.5}}",
        "{\"link\":{\"from\":1,\"to\":2,\"errors\":1.5}}",
        "{\"link\":{\"from\":1,\"to\":2,\"errors\":-0.1}}",
        "\u{0}\u{1}[[[[[[[[[[",
    ] {
        assert_eq!(command(&live, body), 400, "{body}");
    }
    assert!(commands.try_recv().is_err(), "nothing of that reached the mesh");
    drop(commands);
    assert_eq!(command(&live, "{\"pause\":true}"), 503, "the mesh has ended");
}

#[test]
fn a_flood_of_commands_reaches_the_mesh_as_a_trickle() {
    let (live, _feed, commands, _woken) = page();
    let start = Instant::now();
    let statuses: Vec<u16> = (0..2_000).map(|_| command(&live, "{\"pause\":true}")).collect();
    let obeyed = commands.try_iter().count();
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), obeyed);
    let most = COMMANDS_AT_ONCE + start.elapsed().as_secs_f64() * COMMANDS_PER_S;
    assert!(
        obeyed as f64 <= most && obeyed >= COMMANDS_AT_ONCE as usize,
        "{obeyed} of at most {most}"
    );
    assert_eq!(statuses.last(), Some(&429));
    // In the long run so many a second.
    let mut bucket = Bucket::full(start);
    let taken = (0..10_000)
        .filter(|ms| bucket.take(start + Duration::from_millis(*ms)))
        .count();
    assert_eq!(taken, COMMANDS_AT_ONCE as usize + 199);
}

#[test]
fn errors_of_links_are_shown_to_all_also_to_those_who_come_later() {
    let (live, _feed, _commands, _woken) = page();
    let mut early = look(&live).unwrap();
    line(&mut *early);
    assert_eq!(
        command(&live, "{\"link\":{\"from\":3,\"to\":2,\"errors\":0.5}}"),
        204
    );
    let wanted: Value = serde_json::from_str("[[3,2,0.5]]").unwrap();
    assert_eq!(line(&mut *early)["errors"], wanted);
    let mut late = look(&live).unwrap();
    assert_eq!(line(&mut *late)["errors"], wanted);
}
