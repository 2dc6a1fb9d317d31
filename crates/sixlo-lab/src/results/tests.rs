use super::*;
use crate::test_folder::TestFolder;

fn tables() -> Tables {
    Tables {
        run: Run {
            simulated_s: 600.25,
            sent: 2,
            delivered: 1,
            pdr: Some(0.5),
            ..Run::default()
        },
        datagrams: vec![
            Datagram {
                datagram: 1,
                source: 7,
                sequence: 1,
                destination: 1,
                payload_bytes: 512,
                hops: 3,
                sent_s: 1.000_000_001,
                latency_ms: Some(87.312_345),
                fate: DELIVERED.to_owned(),
                kind: "udp".to_owned(),
                last: String::new(),
            },
            Datagram {
                datagram: 2,
                fate: "reassembly-timeout".to_owned(),
                ..Datagram::default()
            },
        ],
        nodes: vec![Node {
            node: 1,
            name: "a, \"b\"".to_owned(),
            ..Node::default()
        }],
        losses: Vec::new(),
        transfers: vec![Transfer {
            source: 3,
            destination: 1,
            bytes: 1_000_000_000_007,
            failure: "connection reset, \"by peer\"".to_owned(),
            goodput_kbps: Some(12.25),
            ..Transfer::default()
        }],
        windows: vec![Window {
            source: 3,
            destination: 1,
            at_s: 0.008_256,
            window_bytes: 1_848,
            told: "acked".to_owned(),
        }],
        hops: vec![Hops {
            hops: 3,
            sent: 2,
            delivered: 1,
            pdr: 0.5,
            latency_min_ms: Some(87.312_345),
            ..Hops::default()
        }],
    }
}

#[test]
fn tables_are_read_back_as_they_were_written() {
    let folder = TestFolder::new();
    tables().write(folder.path(), true).unwrap();
    assert_eq!(Tables::read(folder.path()).unwrap(), tables());
}

#[test]
fn single_datagrams_that_were_not_wanted_leave_no_table_and_all_else_is_there() {
    let folder = TestFolder::new();
    tables().write(folder.path(), false).unwrap();
    assert!(!folder.path().join(DATAGRAMS).exists());
    let expected = Tables {
        datagrams: Vec::new(),
        windows: Vec::new(),
        ..tables()
    };
    assert_eq!(Tables::read(folder.path()).unwrap(), expected);
}

#[test]
fn a_table_without_rows_has_its_header() {
    let folder = TestFolder::new();
    tables().write(folder.path(), true).unwrap();
    let text = std::fs::read_to_string(folder.path().join(LOSSES)).unwrap();
    assert_eq!(text, "kind,node,cause,count\n");
}

#[test]
fn times_stand_in_a_table_to_the_nanosecond() {
    let folder = TestFolder::new();
    tables().write(folder.path(), true).unwrap();
    let text = std::fs::read_to_string(folder.path().join(DATAGRAMS)).unwrap();
    assert!(
        text.contains("\n1,udp,7,1,1,512,3,1.000000001,87.312345,delivered,\n"),
        "{text}"
    );
}

#[test]
fn a_table_with_other_columns_is_refused() {
    let folder = TestFolder::new();
    std::fs::write(folder.path().join(LOSSES), "kind,node\nradio,3\n").unwrap();
    assert!(read_rows::<Loss>(&folder.path().join(LOSSES)).is_err());
}

#[test]
fn a_field_is_quoted_where_it_must_be() {
    for (text, quoted) in [
        ("plain", "plain"),
        ("a,b", "\"a,b\""),
        ("say \"x\"", "\"say \"\"x\"\"\""),
    ] {
        assert_eq!(field(text), quoted);
    }
}
