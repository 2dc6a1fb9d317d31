//! Peers that lie.

use sixlo::tcp::TcpError;

use super::tcp::{Trace, recv, send};
use super::{established, plain, press, window, with_sack};

#[test]
fn xt3_blocks_that_cannot_be_are_ignored() {
    let lies = [
        // Left behind right, empty, beyond what was sent, below what is acknowledged, around the end.
        "401-101",
        "101-101",
        "901-1101",
        "1001-1201",
        "5000-6000",
        "4294966796-4294966896",
        "4294966796-301",
        "2294967296-101",
        "101-2294967296",
    ];
    for lie in lies {
        let mut t = with_sack(10);
        for ms in 50..60 {
            send!(t, ms, ". 1 ack 1 win 4096 <sack {lie}>");
        }
        t.quiet(999);
        // All of it is sent again when the time comes.
        recv!(t, 1_000, ". 1(100) ack 1");
    }
}

#[test]
fn xt3_blocks_that_overlap_are_one() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-301 201-401 101-401 151-351>");
    recv!(t, 50, ". 1(100) ack 1");
    send!(t, 60, ". 1 ack 401 win 4096");
    recv!(t, 1_060, ". 401(100) ack 1");
}

#[test]
fn xt3_a_block_of_all_does_not_free_what_is_not_acknowledged() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-1001>");
    recv!(t, 50, ". 1(100) ack 1");
    // The peer goes back on its word: RFC 2018 section 8.
    recv!(t, 1_050, ". 1(100) ack 1");
    send!(t, 1_060, ". 1 ack 101 win 4096");
    recv!(t, 1_060, ". 101(100) ack 1");
    recv!(t, 1_060, ". 201(100) ack 1");
}

#[test]
fn xt3_more_blocks_than_there_is_room_for_do_no_harm() {
    let mut t = established("<mss 64 sackok>", |config| {
        config.tcp.sack = true;
        config.tcp.send_buffer = 2000;
    });
    t.write(640);
    t.settle();
    t.seen.clear();
    for n in 0..300_u32 {
        let left = 65 + n * 37 % 500;
        press(
            &mut t,
            50,
            &format!(". 1 ack 1 win 4096 <sack {}-{}>", left, left + 1 + n % 7),
        );
    }
    t.settle();
    t.seen.clear();
    send!(t, 100, ". 1 ack 641 win 4096");
    t.write(10);
    recv!(t, 100, "P. 641(10) ack 1");
}

#[test]
fn xt17_an_acknowledgement_in_pieces_opens_the_window_no_further_than_its_bytes() {
    let mut t = plain(10);
    for n in 1..=100 {
        send!(t, 50, ". 1 ack {} win 4096", 1 + n);
    }
    // RFC 3465 section 2.1: bytes are counted, not acknowledgements.
    assert_eq!(window(&t), 1100);
}

#[test]
fn xt17_an_acknowledgement_of_what_was_never_sent_opens_nothing() {
    let mut t = plain(5);
    let mut answers = 0;
    for n in 0..50 {
        answers += press(&mut t, 50, &format!(". 1 ack {} win 4096", 502 + n * 100));
    }
    // RFC 9293 section 3.10.7.4 with RFC 5961 section 7: answered, but not each.
    assert!(answers < 10, "{answers}");
    t.seen.clear();
    assert_eq!(window(&t), 1000);
    recv!(t, 1_000, ". 1(100) ack 1");
}

#[test]
fn xt17_a_flood_of_duplicates_lets_no_more_go_than_was_under_way() {
    let mut t = plain(10);
    t.write(3000);
    t.quiet(10);
    let mut sent = 0;
    for _ in 0..500 {
        sent += press(&mut t, 50, ". 1 ack 1 win 4096");
    }
    // Each can stand for one segment that left the network, and ten were under way: RFC 5681 section 3.2 (4) would let 1000
    // more go.
    assert!(sent <= 22, "{sent}");
}

#[test]
fn xt17_two_peers_that_disagree_do_not_answer_each_other_for_ever() {
    let mut t = Trace::established(|_| ());
    let mut answers = 0;
    for n in 0..500 {
        // An old number: what we answer makes the peer send it again.
        answers += press(&mut t, 10 + n / 10, ". 0 ack 5000 win 4096");
    }
    // RFC 5961 section 7.
    assert!(answers < 20, "{answers}");
}

#[test]
fn xt12_numbers_wrap_in_the_middle_of_a_stream() {
    // The peer's begin 256 before the end of the number space.
    let mut t = established("<mss 100 sackok>", |config| config.tcp.sack = true);
    let mut seq = 1;
    for n in 0..10 {
        press(&mut t, n * 10, &format!(". {}(100) ack 1 win 4096", seq + 100));
        t.seen.clear();
        send!(t, n * 10, ". {seq}(100) ack 1 win 4096");
        recv!(t, n * 10, ". 1 ack {} <>", seq + 200);
        assert_eq!(t.read(1000), Ok(200));
        t.seen.clear();
        seq += 200;
    }
}

#[test]
fn xt12_a_hole_across_the_end_of_the_number_space_is_told_and_filled() {
    let mut t = established("<mss 500 sackok>", |config| config.tcp.sack = true);
    // 256 is 0.
    send!(t, 0, ". 200(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 <sack 200-300>");
    send!(t, 1, ". 1(199) ack 1 win 4096");
    recv!(t, 1, ". 1 ack 300 <>");
    assert_eq!(t.read(1000), Ok(299));
}

#[test]
fn xt20_every_order_of_five_pieces_gives_the_stream() {
    let mut orders = vec![vec![]];
    for piece in 0..5_u32 {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<u32>| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, piece);
                    order
                })
            })
            .collect();
    }
    let mut t = established("<mss 500 sackok>", |config| config.tcp.sack = true);
    let (mut begin, mut ms) = (1, 0);
    for order in orders {
        ms += 200;
        for piece in order {
            // Pieces overlap by a byte.
            press(&mut t, ms, &format!(". {}(8) ack 1 win 4096", begin + piece * 7));
        }
        t.seen.clear();
        assert_eq!(t.read(1000), Ok(36));
        begin += 36;
        t.run_until(super::tcp::at(ms + 150));
        t.seen.clear();
    }
}

#[test]
fn xt20_every_set_of_pieces_that_has_come_is_told_of_rightly() {
    // 7 pieces of 20 bytes behind a hole: all 128 sets, against a plain list.
    for set in 0..128_u32 {
        let mut t = established("<mss 500 sackok>", |config| config.tcp.sack = true);
        let have = |piece: u32| set >> piece & 1 == 1;
        for piece in (0..7).filter(|piece| have(*piece)) {
            press(&mut t, 0, &format!(". {}(20) ack 1 win 4096", 21 + piece * 20));
        }
        t.settle();
        if let Some((_, last)) = t.seen.pop_back() {
            for block in last.options.sack.as_slice() {
                let (from, to) = ((block.left.0 - 21) / 20, (block.right.0 - 21) / 20);
                assert!((from..to).all(have), "{set:b}: {from}..{to}");
                assert!((from == 0 || !have(from - 1)) && !(to < 7 && have(to)), "{set:b}");
            }
            assert_eq!(last.options.sack.as_slice().is_empty(), set == 0);
        }
        t.seen.clear();
        send!(t, 1, ". 1(20) ack 1 win 4096");
        t.settle();
        t.run_until(super::tcp::at(200));
        t.seen.clear();
        let contiguous = (0..7).take_while(|piece| have(*piece)).count();
        assert_eq!(t.read(1000), Ok(20 + 20 * contiguous), "{set:b}");
    }
}

#[test]
fn xt10_a_peer_that_never_reads_holds_no_more_than_the_send_buffer() {
    let mut t = established("<mss 100>", |config| config.tcp.send_buffer = 500);
    send!(t, 0, "P. 1(1) ack 1 win 4096");
    send!(t, 0, ". 2 ack 1 win 0");
    assert_eq!(t.try_write(2000), Ok(500));
    assert_eq!(t.try_write(1), Err(TcpError::WouldBlock));
    let id = t.id();
    let reserved = t.stack.tcp_reserve(t.now, id, 1, &mut ()).map(|room| room.len());
    assert_eq!(reserved, Err(TcpError::WouldBlock));
    t.seen.clear();
    t.abort().unwrap();
    t.seen.clear();
    t.assert_idle();
}
