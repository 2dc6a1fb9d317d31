use sixlo_sim::observer::Occupancy;

use super::*;

const MS: u64 = 1_000_000;

fn holds(buffer_bytes: usize, queued: usize) -> Occupancy {
    Occupancy {
        buffer_bytes,
        queued,
        ..Occupancy::default()
    }
}

fn row(tally: &Tally, node: u16) -> NodeRow {
    tally.whole().nodes[usize::from(node) - 1]
}

#[test]
fn what_is_held_is_summed_over_time_and_its_peak_begins_anew() {
    let mut tally = Tally::new(2);
    tally.occupancy(1, &holds(100, 2));
    tally.advance(500 * MS);
    tally.occupancy(2, &holds(300, 0));
    tally.occupancy(1, &holds(0, 0));
    tally.advance(1_500 * MS);
    let totals = tally.totals();
    assert!((totals.buffer_s - 350.0).abs() < 1e-9, "{totals:?}");
    assert!((totals.queued_s - 1.0).abs() < 1e-9, "{totals:?}");
    assert_eq!((totals.at, totals.buffer_peak), (1_500_000, 300));
    tally.occupancy(2, &holds(20, 0));
    assert_eq!(tally.totals().buffer_peak, 300, "it was so full until now");
    assert_eq!(tally.totals().buffer_peak, 20);
}

#[test]
fn a_frame_is_told_with_what_became_of_it() {
    let mut tally = Tally::new(3);
    tally.collect(usize::MAX);
    tally.advance(10 * MS);
    tally.frame(1, To::Node(2), FrameKind::Udp, 100, 4 * MS, 7);
    tally.heard(2, 1, false, Some("collision"));
    tally.frame(1, To::All, FrameKind::Other, 20, MS, 0);
    tally.heard(2, 1, false, None);
    tally.heard(3, 1, false, Some("frame-error"));
    tally.frame(2, To::Node(1), FrameKind::Ack, 5, MS, 7);
    tally.heard(1, 2, true, None);
    tally.frame(1, To::None, FrameKind::Udp, 100, MS, 7);
    let batch = tally.batch().unwrap();
    let fates: Vec<_> = batch
        .frames
        .iter()
        .map(|frame| fates()[usize::from(frame.fate)])
        .collect();
    assert_eq!(fates, ["collision", "arrived", "arrived", "nobody"]);
    assert_eq!(batch.frames[0].from_us, 6_000);
    let json = serde_json::to_string(&batch.frames[..2]).unwrap();
    assert_eq!(json, "[[6000,4000,1,2,1,100,1,7],[9000,1000,1,-1,9,20,0,0]]");
    // Acknowledgements count for themselves alone.
    assert_eq!((row(&tally, 1).frames, row(&tally, 1).received), (3, 0));
    assert_eq!(
        (
            row(&tally, 2).missed,
            row(&tally, 2).received,
            row(&tally, 2).acks
        ),
        (1, 1, 1)
    );
    let detail = tally.detail(2).unwrap();
    assert_eq!(detail.misses, [("collision", 1)]);
    assert_eq!(
        detail.neighbors,
        [Neighbor {
            node: 1,
            to: (0, 0),
            from: (1, 0)
        }]
    );
}

#[test]
fn a_datagram_counts_once_at_its_source_whatever_its_end() {
    let mut tally = Tally::new(2);
    tally.sent(1, 5);
    tally.sent(1, 6);
    tally.sent(1, 0);
    tally.delivered(2, 5, 40);
    tally.delivered(2, 5, 40);
    tally.lost(6);
    tally.lost(6);
    let totals = tally.totals();
    assert_eq!(
        (totals.sent, totals.delivered, totals.lost, totals.bytes),
        (3, 1, 2, 80)
    );
    let source = row(&tally, 1);
    assert_eq!((source.sent, source.arrived, source.lost), (3, 1, 2));
    assert_eq!((row(&tally, 2).delivered, row(&tally, 2).bytes), (2, 80));
}

#[test]
fn a_batch_holds_what_has_changed_and_nothing_twice() {
    let mut tally = Tally::new(3);
    tally.collect(usize::MAX);
    assert_eq!(tally.batch(), None);
    tally.switched(2, false);
    tally.dropped(3, 9, "no-buffer");
    let batch = tally.batch().unwrap();
    let changed: Vec<_> = batch
        .nodes
        .iter()
        .map(|row| (row.node, row.on, row.dropped))
        .collect();
    assert_eq!(changed, [(2, 0, 0), (3, 1, 1)]);
    let marks: Vec<_> = batch.marks.iter().map(|mark| (mark.node, mark.what)).collect();
    assert_eq!(marks, [(2, What::Off), (3, What::Dropped)]);
    assert_eq!(tally.batch(), None);
}

#[test]
fn what_names_no_node_or_an_unknown_cause_is_counted_as_far_as_it_can_be() {
    let mut tally = Tally::new(1);
    tally.collect(usize::MAX);
    for node in [0, 2, u16::MAX] {
        tally.frame(node, To::Node(node), FrameKind::Udp, 9, MS, 0);
        tally.heard(node, node, false, None);
        tally.occupancy(node, &holds(9, 9));
        tally.dropped(node, 0, "no-buffer");
        tally.switched(node, false);
        tally.sent(node, 3);
        assert!(tally.detail(node).is_none());
    }
    tally.dropped(1, 0, "what nobody knows");
    tally.lost_in_radio(1, 0, "nor this");
    let detail = tally.detail(1).unwrap();
    assert_eq!(detail.drops, [("unknown", 1)]);
    assert_eq!(detail.misses, [("nobody", 1)]);
}
