use super::*;
use sixlo::trace::Module;

fn start(id: PktId, cause: PktId) -> Event {
    Event::Start {
        id,
        module: Module::Udp,
        len: 1,
        cause,
    }
}

fn end(id: PktId, end: End) -> Event {
    Event::End {
        id,
        module: Module::Udp,
        end,
    }
}

fn sent(ledger: &mut Ledger, flow: u16) -> (u32, PktId) {
    let record = ledger.record(Record::new(1, 0, flow, 0, 16, 1, Time::ZERO));
    let id = ledger.identity();
    ledger.event(&start(id, PktId::NONE));
    ledger.sent(record, id);
    (record, id)
}

fn settle(ledger: &mut Ledger) -> Vec<u32> {
    let mut lost = Vec::new();
    ledger.settle(|record, _, _| lost.push(record));
    lost
}

#[test]
fn a_datagram_ends_when_its_last_carrier_goes() {
    let mut ledger = Ledger::new();
    let (record, id) = sent(&mut ledger, 0);
    ledger.carry(id, 1);
    ledger.event(&end(id, End::Sent));
    assert_eq!(settle(&mut ledger), []);
    assert_eq!(ledger.live(), 1);
    ledger.event(&start(id, PktId::NONE));
    ledger.carry(id, -1);
    assert!(ledger.delivered(record, Time::us(5)));
    ledger.event(&end(id, End::Delivered));
    assert_eq!(settle(&mut ledger), []);
    assert_eq!((ledger.live(), ledger.packets()), (0, 0));
    let (records, imbalances) = ledger.into_parts();
    assert_eq!(records[0].fate, Fate::Delivered { at: Time::us(5) });
    assert_eq!(imbalances, []);
}

#[test]
fn a_lost_datagram_names_the_first_drop_and_the_last() {
    let mut ledger = Ledger::new();
    let (record, id) = sent(&mut ledger, 0);
    ledger.lost(id, Loss::Collision);
    ledger.event(&start(id, PktId::NONE));
    ledger.event(&end(id, End::Dropped(Reason::LinkNoAck)));
    ledger.event(&end(id, End::Dropped(Reason::ReassemblyTimeout)));
    assert_eq!(settle(&mut ledger), [record]);
    let first = Cause::Stack(Reason::LinkNoAck);
    let last = Cause::Stack(Reason::ReassemblyTimeout);
    assert_eq!(ledger.get(record).fate, Fate::Lost { first, last });
}

#[test]
fn a_datagram_that_only_the_air_lost_names_that() {
    let mut ledger = Ledger::new();
    let (record, id) = sent(&mut ledger, 0);
    ledger.lost(id, Loss::Collision);
    ledger.event(&end(id, End::Sent));
    settle(&mut ledger);
    let cause = Cause::Radio(Loss::Collision);
    assert_eq!(
        ledger.get(record).fate,
        Fate::Lost {
            first: cause,
            last: cause
        }
    );
}

#[test]
fn a_datagram_that_vanishes_without_a_reason_is_an_imbalance() {
    let mut ledger = Ledger::new();
    let (_, id) = sent(&mut ledger, 0);
    ledger.event(&end(id, End::Sent));
    settle(&mut ledger);
    assert_eq!(ledger.into_parts().1, [Imbalance::NoReason { id: id.number() }]);
}

#[test]
fn one_end_too_many_and_life_after_death_are_imbalances() {
    let mut ledger = Ledger::new();
    let (_, keeps_the_front) = sent(&mut ledger, 0);
    let (_, id) = sent(&mut ledger, 0);
    ledger.event(&end(id, End::Dropped(Reason::NoRoute)));
    ledger.event(&end(id, End::Dropped(Reason::NoRoute)));
    ledger.event(&start(id, PktId::NONE));
    settle(&mut ledger);
    ledger.event(&start(id, PktId::NONE));
    let number = id.number();
    assert_eq!(
        ledger.imbalances,
        [
            Imbalance::NegativeCarriers { id: number },
            Imbalance::CarriedAfterItsEnd { id: number }
        ]
    );
    assert_eq!(ledger.live(), 1, "{keeps_the_front:?}");
}

#[test]
fn an_echo_request_ends_with_its_reply() {
    let mut ledger = Ledger::new();
    let (record, request) = sent(&mut ledger, ECHO_FLOW);
    let reply = ledger.identity();
    ledger.event(&start(reply, request));
    ledger.event(&end(request, End::Consumed));
    assert_eq!(settle(&mut ledger), []);
    assert_eq!(ledger.get(record).fate, Fate::InFlight);
    ledger.event(&end(reply, End::Dropped(Reason::NoRoute)));
    assert_eq!(settle(&mut ledger), [record]);
}

#[test]
fn an_error_about_a_datagram_is_not_part_of_it() {
    let mut ledger = Ledger::new();
    let (record, id) = sent(&mut ledger, 0);
    let error = ledger.identity();
    ledger.event(&start(error, id));
    ledger.event(&end(id, End::Dropped(Reason::HopLimit)));
    assert_eq!(settle(&mut ledger), [record]);
    assert_eq!(ledger.live(), 1);
}

#[test]
fn the_ledger_forgets_what_has_ended() {
    let mut ledger = Ledger::new();
    for _ in 0..10_000 {
        let (_, id) = sent(&mut ledger, 0);
        ledger.event(&end(id, End::Dropped(Reason::NoRoute)));
        settle(&mut ledger);
    }
    assert!(ledger.entries.is_empty());
    assert!(ledger.entries.capacity() < 100);
}

#[test]
fn what_came_twice_is_no_reason_for_a_loss() {
    let mut ledger = Ledger::new();
    let (record, id) = sent(&mut ledger, 0);
    ledger.event(&Event::FrameDropped {
        id,
        iface: sixlo::netdev::IfaceId(0),
        reason: Reason::FrameDuplicate,
    });
    ledger.event(&end(id, End::Dropped(Reason::NoRoute)));
    settle(&mut ledger);
    let cause = Cause::Stack(Reason::NoRoute);
    assert_eq!(
        ledger.get(record).fate,
        Fate::Lost {
            first: cause,
            last: cause
        }
    );
}
