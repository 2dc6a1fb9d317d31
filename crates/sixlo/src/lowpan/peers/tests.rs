use super::*;

const A: LinkAddr = LinkAddr::Short(1);
const B: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]);

#[test]
fn an_address_takes_one_place_however_often_it_is_used() {
    let mut table = [Peer::EMPTY; 2];
    let mut peers = Peers::new(&mut table);
    let first = peers.intern(A).expect("a place");
    assert_eq!(peers.intern(A), Some(first));
    assert_eq!(peers.used(), 1);
    assert!(peers.is(first, A) && !peers.is(first, B));
    peers.release(first);
    assert_eq!(peers.used(), 1);
    peers.release(first);
    assert_eq!(peers.used(), 0);
}

#[test]
fn a_full_table_takes_no_other_address_until_one_is_released() {
    let mut table = [Peer::EMPTY; 1];
    let mut peers = Peers::new(&mut table);
    let first = peers.intern(A).expect("a place");
    assert_eq!(peers.intern(B), None);
    peers.release(first);
    let second = peers.intern(B).expect("a place again");
    assert_eq!(peers.addr(second), B);
}

#[test]
fn an_address_that_is_used_too_often_is_refused_and_its_count_stays_right() {
    let mut table = [Peer::EMPTY; 1];
    let mut peers = Peers::new(&mut table);
    let ids: std::vec::Vec<_> = (0..300).map_while(|_| peers.intern(A)).collect();
    assert_eq!(ids.len(), 255);
    for id in ids {
        peers.release(id);
    }
    assert_eq!(peers.used(), 0);
}
