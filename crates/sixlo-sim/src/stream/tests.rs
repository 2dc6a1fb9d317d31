use super::*;
use crate::config::Config;
use crate::result::RunResult;
use crate::run::run;

fn config(text: &str) -> Config {
    toml::from_str(text).expect("a configuration")
}

const CHAIN: &str = "end_ms = 60000\n[topology.chain]\nnodes = 3\nspacing_m = 6.0\n[medium.disc]\nrange_m = 6.5\n\
                     [stack]\nreassembly_entries = 4\n[stack.tcp]\nmss_bytes = 462\n";

fn of(text: &str, seed: u64) -> RunResult {
    run(&config(&format!("{CHAIN}{text}")), seed, &mut ()).expect("a run that adds up")
}

#[test]
fn every_byte_of_a_transfer_arrives_in_order_and_both_ends_know_it() {
    for (from, to, hops) in [(2, 1, 1), (3, 1, 2), (1, 3, 2)] {
        let result = of(
            &format!("[[bulk]]\nfrom = [{from}]\nto = {to}\nbytes = 20000\n"),
            1,
        );
        let [stream] = &result.streams[..] else {
            panic!("one transfer")
        };
        assert_eq!((stream.from, stream.to, stream.hops), (from - 1, to - 1, hops));
        assert_eq!(
            (stream.bytes, stream.complete, stream.failure),
            (20_000, true, None)
        );
        let segments = stream.segments;
        assert!(segments.sent - segments.again >= 20_000_u64.div_ceil(462));
        assert!(stream.rtt_mean.is_some() && !stream.windows.is_empty());
    }
}

#[test]
fn a_transfer_without_end_goes_on_until_the_run_ends() {
    let result = of("[[bulk]]\nfrom = [2]\nbytes = 0\n", 1);
    let stream = &result.streams[0];
    assert!(!stream.complete && stream.failure.is_none());
    let (_, last) = stream.received.expect("bytes");
    assert!(last > Time::ms(59_000) && stream.bytes > 20_000);
}

#[test]
fn what_the_air_loses_is_sent_again_and_counted() {
    let fault = "[[fault]]\nkind = \"drop\"\nprobability = 0.3\n";
    let result = of(&format!("{fault}[[bulk]]\nfrom = [2]\nbytes = 8000\n"), 3);
    let stream = &result.streams[0];
    assert_eq!((stream.bytes, stream.complete), (8_000, true));
    assert!(stream.segments.again > 0 && stream.segments.lost <= stream.segments.again);
}

#[test]
fn a_reboot_of_either_end_fails_the_transfer() {
    for node in [1, 2] {
        let text = format!("[[reboot]]\nnode = {node}\nat_ms = 1500\n[[bulk]]\nfrom = [2]\nbytes = 0\n");
        let result = of(&text, 1);
        let stream = &result.streams[0];
        assert!(!stream.complete && stream.bytes > 0);
        let (_, last) = stream.received.expect("bytes");
        assert!(last < Time::ms(2_000), "node {node}");
    }
}

#[test]
fn the_same_seed_gives_the_same_transfer() {
    let once = || {
        let stream = of("[[bulk]]\nbytes = 3000\n", 7).streams.remove(0);
        (stream.bytes, stream.received, stream.segments, stream.windows)
    };
    assert_eq!(once(), once());
}

#[test]
fn mistakes_are_named() {
    let wrong = |text: &str| {
        let text = format!("[topology.chain]\nnodes = 3\n{text}");
        match run(&config(&text), 1, &mut ()) {
            Err(crate::result::RunError::Config(problem)) => problem.key,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(wrong("[[bulk]]\nbytes = 0\n"), "bulk.0.bytes");
    assert_eq!(wrong("[[bulk]]\nbytes = 9\nto = 4\n"), "bulk.0.to");
    assert_eq!(wrong("[[bulk]]\nbytes = 9\nport = 0\n"), "bulk.0.port");
    assert_eq!(wrong("[[bulk]]\nbytes = 9\nfrom = [7]\n"), "bulk.0.from");
    let tcp = |line: &str| wrong(&format!("[stack.tcp]\n{line}\n[[bulk]]\nbytes = 9\n"));
    assert_eq!(tcp("congestion = \"none\""), "stack.tcp.congestion");
    assert_eq!(tcp("mss_bytes = 20"), "stack.tcp.mss_bytes");
    assert_eq!(tcp("delayed_ack_ms = 500"), "stack.tcp.delayed_ack_ms");
}
