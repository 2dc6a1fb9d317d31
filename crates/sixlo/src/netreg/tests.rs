use super::*;
use crate::netapi::Ty;

const fn app(instance: u8) -> Receiver {
    Receiver {
        module: Module::App,
        instance,
    }
}

#[test]
fn direction_type_and_context_are_the_key() {
    let mut lines = [Entry::EMPTY; 4];
    let mut registry = Registry::new(&mut lines);
    registry.enter(Msg::up(Ty::Udp, 7), false, app(1)).unwrap();
    assert!(registry.knows(Msg::up(Ty::Udp, 7)));
    assert!(!registry.knows(Msg::up(Ty::Udp, 8)));
    assert!(
        !registry.knows(Msg::down(Ty::Udp, 7)),
        "a listener must not get packets on their way down"
    );
    assert!(!registry.knows(Msg::up(Ty::Transport, 7)));
}

#[test]
fn several_receivers_are_found_in_the_order_of_their_entry() {
    let mut lines = [Entry::EMPTY; 4];
    let mut registry = Registry::new(&mut lines);
    let msg = Msg::up(Ty::Udp, 7);
    registry.enter(msg, false, app(1)).unwrap();
    assert!(matches!(registry.receivers(msg), Receivers::One(who) if who == app(1)));
    registry.enter(Msg::up(Ty::Udp, 0), true, app(2)).unwrap();
    assert!(matches!(registry.receivers(msg), Receivers::Several));
    let (first, rest) = registry.nth(msg, 0).unwrap();
    let (second, rest) = registry.nth(msg, rest).unwrap();
    assert_eq!((first, second), (app(1), app(2)));
    assert_eq!(registry.nth(msg, rest), None);
}

#[test]
fn receivers_come_and_go_at_run_time() {
    let mut lines = [Entry::EMPTY; 2];
    let mut registry = Registry::new(&mut lines);
    let msg = Msg::up(Ty::Transport, 99);
    registry.enter(msg, false, app(0)).unwrap();
    registry.enter(msg, false, app(1)).unwrap();
    assert_eq!(registry.enter(msg, false, app(2)), Err(RegistryFull));
    assert!(registry.remove(msg, app(0)));
    assert!(!registry.remove(msg, app(0)));
    assert!(matches!(registry.receivers(msg), Receivers::One(who) if who == app(1)));
    registry.enter(msg, false, app(2)).unwrap();
    assert!(registry.remove_all(app(1)));
    assert!(registry.remove_all(app(2)));
    assert!(!registry.knows(msg));
}
