use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn events_come_in_the_order_of_time_class_and_insertion(
        events in prop::collection::vec((0u64..20, any::<bool>()), 0..200),
    ) {
        let mut queue = Queue::new();
        let mut expected = Vec::new();
        for (number, &(time, end)) in events.iter().enumerate() {
            let class = if end { Class::End } else { Class::Rest };
            queue.push(Time::ns(time), class, number);
            expected.push((time, class, number));
        }
        expected.sort();
        let mut got = Vec::new();
        while let Some((time, number)) = queue.pop() {
            got.push((time.as_ns(), number));
        }
        let expected: Vec<_> = expected.into_iter().map(|(time, _, number)| (time, number)).collect();
        prop_assert_eq!(got, expected);
    }
}

#[test]
fn what_is_put_in_while_an_event_is_handled_comes_after_what_waits_at_the_same_time() {
    let mut queue = Queue::new();
    queue.push(Time::us(1), Class::Rest, 'a');
    queue.push(Time::us(1), Class::Rest, 'b');
    assert_eq!(queue.pop(), Some((Time::us(1), 'a')));
    queue.push(Time::us(1), Class::Rest, 'c');
    queue.push(Time::us(1), Class::End, 'd');
    assert_eq!(queue.next_time(), Some(Time::us(1)));
    let rest: String = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
    assert_eq!(rest, "dbc");
    assert!(queue.is_empty());
}
