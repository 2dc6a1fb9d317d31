use super::*;
use crate::netapi::Ty;
use proptest::prelude::*;
use std::vec::Vec;

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

/// A message of few kinds and contexts, so that many are alike.
fn any_msg() -> impl Strategy<Value = Msg> {
    let ty = prop::sample::select(std::vec![Ty::Link, Ty::Ipv6, Ty::Transport, Ty::Icmpv6, Ty::Udp]);
    (any::<bool>(), ty, 0_u16..3).prop_map(|(up, ty, context)| match up {
        true => Msg::up(ty, context),
        false => Msg::down(ty, context),
    })
}

#[derive(Clone, Debug)]
enum Call {
    Enter(Msg, bool, u8),
    Remove(Msg, u8),
    RemoveAll(u8),
}

fn any_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (any_msg(), any::<bool>(), 0_u8..4).prop_map(|(msg, any, who)| Call::Enter(msg, any, who)),
        2 => (any_msg(), 0_u8..4).prop_map(|(msg, who)| Call::Remove(msg, who)),
        1 => (0_u8..4).prop_map(Call::RemoveAll),
    ]
}

proptest! {
    /// The registry against a plain list of what was entered.
    #[test]
    fn any_calls_leave_the_receivers_that_a_list_would_have(
        calls in prop::collection::vec(any_call(), 0..40),
        asked in any_msg(),
    ) {
        let mut lines = [Entry::EMPTY; 12];
        let mut registry = Registry::new(&mut lines);
        let mut model: Vec<(Msg, bool, u8)> = Vec::new();
        for call in calls {
            match call {
                Call::Enter(msg, any, who) => {
                    let entered = registry.enter(msg, any, app(who));
                    prop_assert_eq!(entered.is_ok(), model.len() < 12);
                    if entered.is_ok() {
                        model.push((msg, any, who));
                    }
                }
                Call::Remove(msg, who) => {
                    let before = model.len();
                    model.retain(|line| (line.0, line.2) != (msg, who));
                    prop_assert_eq!(registry.remove(msg, app(who)), model.len() < before);
                }
                Call::RemoveAll(who) => {
                    let before = model.len();
                    model.retain(|line| line.2 != who);
                    prop_assert_eq!(registry.remove_all(app(who)), model.len() < before);
                }
            }
        }
        let takes = |line: &&(Msg, bool, u8)| {
            (line.0.dir, line.0.ty) == (asked.dir, asked.ty) && (line.1 || line.0.context == asked.context)
        };
        let expected: Vec<u8> = model.iter().filter(takes).map(|line| line.2).collect();
        let mut found = Vec::new();
        let mut passed = 0;
        while let Some((who, behind)) = registry.nth(asked, passed) {
            found.push(who.instance);
            passed = behind;
        }
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(registry.knows(asked), !expected.is_empty());
        let told = match registry.receivers(asked) {
            Receivers::None => 0,
            Receivers::One(who) => { prop_assert_eq!(who, app(expected[0])); 1 }
            Receivers::Several => 2,
        };
        prop_assert_eq!(told, expected.len().min(2));
    }
}
