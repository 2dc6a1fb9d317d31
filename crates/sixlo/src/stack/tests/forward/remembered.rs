//! What a node remembers of a datagram whose fragments it forwards, where something goes wrong.

use super::*;

fn forwards(net: &mut Net) -> u64 {
    let forwards = net.node(2).stack.get(Target::Stack, Opt::Forwards);
    forwards.expect("an option")
}

fn drops(net: &mut Net, reason: Reason) -> u32 {
    net.node(2).stack.drops(reason)
}

/// Node 2 takes a frame, and nothing is sent yet.
fn hear(net: &mut Net, frame: &[u8]) {
    let now = net.now;
    let node = net.node(2);
    node.stack
        .frame(now, IFACE, frame, RxInfo::default(), &mut node.log);
}

/// Node `k` has as many packets of its own as it can: they wait for the radio.
pub(in crate::stack::tests) fn take_all_packets(net: &mut Net, k: usize, to: usize) {
    let socket = net.bind(k, 9000);
    let now = net.now;
    let node = net.node(k);
    let mut send = || {
        let (to, log) = ((global(to), 9001), &mut node.log);
        let sent = node.stack.udp_send_to(now, socket, to, b"short", log);
        node.stack.poll(now, log);
        sent.is_ok()
    };
    while send() {}
    assert!(node.stack.close(now, socket, &mut node.log));
}

/// The frames of a datagram from node 1 to node 3.
fn frames_of(net: &mut Net, len: usize) -> Vec<Vec<u8>> {
    datagram_in_frames(net, 1, 3, len, 0)
}

/// RFC 8930 section 5: if the first fragment cannot be forwarded, the state must be removed.
#[test]
fn a_first_fragment_that_no_packet_is_left_for_leaves_nothing() {
    let mut net = wide_queue(as_rfc);
    let frames = frames_of(&mut net, 400);
    take_all_packets(&mut net, 2, 3);
    let before = drops(&mut net, Reason::NoSlot);
    hear(&mut net, &frames[0]);
    assert_eq!(drops(&mut net, Reason::NoSlot), before + 1);
    assert_eq!(forwards(&mut net), 0);
    hear(&mut net, &frames[1]);
    assert_eq!(drops(&mut net, Reason::FragmentUnknown), 1);
    assert_forgotten(&mut net);
}

/// RFC 8930 section 6: what follows a fragment that was not sent on is of no use to anyone.
#[test]
fn a_later_fragment_that_no_packet_is_left_for_ends_the_datagram() {
    let mut net = wide_queue(as_rfc);
    let frames = frames_of(&mut net, 400);
    let last = frames.len() - 1;
    put(&mut net, &frames[0]);
    put(&mut net, &frames[1]);
    assert_eq!(fragments_of(&net, 2).len(), 2);
    take_all_packets(&mut net, 2, 3);
    let before = drops(&mut net, Reason::NoSlot);
    hear(&mut net, &frames[2]);
    assert_eq!(drops(&mut net, Reason::NoSlot), before + 1);
    assert_eq!(
        forwards(&mut net),
        1,
        "those that follow are known as its fragments"
    );
    net.pass(Duration::from_secs(1));
    let tag = fragments_of(&net, 2)[0].0.datagram_tag;
    for frame in &frames[3..] {
        put(&mut net, frame);
    }
    assert_eq!(drops(&mut net, Reason::FragmentBroken) as usize, last - 2);
    let sent = fragments_of(&net, 2);
    assert_eq!(sent.iter().filter(|(f, _)| f.datagram_tag == tag).count(), 2);
    assert_eq!(forwards(&mut net), 0, "the last one frees the entry");
    assert_forgotten(&mut net);
}

/// The same for the last fragment: nothing follows that could free the entry.
#[test]
fn a_last_fragment_that_no_packet_is_left_for_frees_the_entry() {
    let mut net = wide_queue(as_rfc);
    let frames = frames_of(&mut net, 400);
    let last = frames.len() - 1;
    for frame in &frames[..last] {
        put(&mut net, frame);
    }
    take_all_packets(&mut net, 2, 3);
    hear(&mut net, &frames[last]);
    assert_eq!(forwards(&mut net), 0);
    assert_forgotten(&mut net);
}

#[test]
fn the_last_fragment_of_a_broken_datagram_frees_its_entry() {
    let mut net = chain(3, as_rfc);
    let frames = frames_of(&mut net, 400);
    let last = frames.len() - 1;
    put(&mut net, &frames[0]);
    put(&mut net, &frames[2]);
    assert_eq!(forwards(&mut net), 1);
    put(&mut net, &frames[last]);
    assert_eq!(
        (forwards(&mut net), drops(&mut net, Reason::FragmentBroken)),
        (0, 2)
    );
    assert_forgotten(&mut net);
}

/// RFC 4944 section 5.3: its size is part of what a datagram is known by. A fragment that lies about it, or about its
/// place, belongs to none that is forwarded here.
#[test]
fn a_fragment_that_lies_does_no_harm_to_the_datagram_whose_tag_it_bears() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    let frames = frames_of(&mut net, 400);
    let lie = |number: u8, change: &dyn Fn(&mut Fragment)| {
        let header_len = frames[2].len() - Header::parse(&frames[2]).expect("ours").1.len();
        let (mut header, data) = fragment(&frames[2]).expect("a fragment");
        change(&mut header);
        let mut lie = frames[2].clone();
        let written = header.emit(&mut lie[header_len..]).expect("it fits");
        assert_eq!(header_len + written + data.len(), lie.len());
        renumbered(&lie, 100 + number)
    };
    let lies = [
        lie(0, &|header| header.datagram_size -= 8),
        lie(1, &|header| header.datagram_size += 8),
        lie(2, &|header| header.datagram_offset = 255),
        lie(3, &|header| header.datagram_offset = 50),
    ];
    for (frame, lie) in frames.iter().zip([&lies[0], &lies[1], &lies[2], &lies[3]]) {
        put(&mut net, frame);
        put(&mut net, lie);
    }
    assert_eq!(drops(&mut net, Reason::FragmentInvalid), 4);
    for frame in &frames[4..] {
        put(&mut net, frame);
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), Some(payload(400)));
    assert_forgotten(&mut net);
}

/// A first fragment that holds more than its datagram, or a part that is no multiple of eight bytes.
#[test]
fn xf3_xf4_a_first_fragment_that_lies_about_its_length_leaves_nothing() {
    let mut net = chain(3, as_rfc);
    let frames = frames_of(&mut net, 400);
    let longer = [&frames[0][..], &[0; 4]].concat();
    put(&mut net, &longer);
    assert_eq!(drops(&mut net, Reason::FragmentInvalid), 1);
    assert_eq!((forwards(&mut net), net.air.len()), (0, 0));
    assert_forgotten(&mut net);
}

/// RFC 4944 section 5.3: after a reboot of its sender a tag may stand for another datagram, of the same size.
#[test]
fn xf11_a_tag_that_is_used_anew_for_the_same_size_begins_another_datagram() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    let frames = frames_of(&mut net, 400);
    put(&mut net, &frames[0]);
    put(&mut net, &frames[1]);
    for (number, frame) in (100..).zip(&frames) {
        put(&mut net, &renumbered(frame, number));
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), Some(payload(400)));
    let firsts = fragments_of(&net, 2);
    let firsts = firsts.iter().filter(|(fragment, _)| fragment.is_first());
    assert_eq!(firsts.count(), 2);
    assert_forgotten(&mut net);
}

/// A first fragment that was sent and failed on the link: what follows would begin a reassembly that cannot end.
#[test]
fn with_the_fall_back_the_rest_of_a_datagram_whose_first_fragment_failed_is_dropped() {
    let mut net = chain(3, as_paper);
    let frames = frames_of(&mut net, 400);
    net.arrives = Box::new(|_| false);
    put(&mut net, &frames[0]);
    assert_eq!(forwards(&mut net), 1);
    for frame in &frames[1..] {
        put(&mut net, frame);
    }
    assert_eq!(net.node(2).stack.reassemblies(), 0);
    assert_eq!(drops(&mut net, Reason::FragmentBroken) as usize, frames.len() - 1);
    assert_eq!(forwards(&mut net), 0);
    assert_forgotten(&mut net);
}

/// What goes to all neighbours is put together, in whichever order it comes.
#[test]
fn fragments_to_all_are_not_forwarded_but_put_together() {
    let mut net = chain(2, as_rfc);
    let to = net.bind(2, PORT);
    let group = core::net::Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    let socket = net.bind(1, 6000);
    net.send(1, socket, (group, PORT), &payload(200));
    let now = net.now;
    let mut frames = Vec::new();
    loop {
        let node = net.node(1);
        node.stack.poll(now, &mut node.log);
        let Some(frame) = into_void(&mut net, 1) else {
            break;
        };
        frames.push(frame);
    }
    assert!(frames.len() > 1);
    for frame in frames.iter().rev() {
        put(&mut net, frame);
    }
    assert_eq!(net.receive(2, to), Some(payload(200)));
    assert_forgotten(&mut net);
}

/// A chain whose nodes may have more datagrams wait than their buffers hold.
fn wide_queue(change: impl Fn(&mut Config)) -> Net {
    Net::chain_with(3, change, |iface| {
        iface.strategy = Strategy::Forward;
        iface.fragment_gap = Gap::Fixed(Duration::ZERO);
        iface.queue_capacity = 64;
    })
}
