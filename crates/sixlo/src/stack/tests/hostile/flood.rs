//! XF9: a flood of first fragments, each of which takes a place and waits for what never comes.

use super::*;
use crate::lowpan::{Eviction, ReassemblyConfig};
use crate::rng::Rng;

/// Honest datagrams of a flood.
const DATAGRAMS: u32 = 200;
/// Fragments of each.
const FRAGMENTS: u64 = 5;
/// Between two of them.
const INTERVAL: Duration = Duration::from_secs(10);

/// What a flood looks like.
#[derive(Clone, Copy)]
struct Flood {
    /// Places in the reassembly table.
    slots: usize,
    /// Spoofed datagrams that begin in a second.
    rate: u64,
    /// Fragments of each of them.
    spoofed_fragments: usize,
    /// The longest time between two fragments of an honest datagram; the shortest is the time of a frame on the air.
    gap_max: Duration,
    eviction: Eviction,
}

impl Flood {
    /// As the bar of this test has it: one spoofed first fragment a slot and second.
    fn one_a_slot_and_second(slots: usize) -> Self {
        Self {
            slots,
            rate: slots as u64,
            spoofed_fragments: 1,
            gap_max: Duration::from_millis(15),
            eviction: Eviction::Stalest,
        }
    }

    /// How many of the honest datagrams are delivered.
    fn delivered(self) -> u32 {
        let mut config = Config::new(1);
        config.lowpan.reassembly = ReassemblyConfig {
            eviction: self.eviction,
            ..ReassemblyConfig::default()
        };
        let mut victim = Victim::with(memory(8192, 64, self.slots), &config);
        let mut rng = Rng::new(self.slots as u64 * 1000 + self.rate);
        let packet = udp_packet(global(FRIEND), global(1), &pattern(430));
        // Frames with the time at which they come: of friends (a datagram), and of foes that nobody has met before.
        let mut frames: Vec<(u64, Option<(u16, usize)>)> = Vec::new();
        for number in 0..DATAGRAMS {
            let mut at = INTERVAL.as_micros() * u64::from(number) + u64::from(rng.below(1_000_000));
            for index in 0..FRAGMENTS {
                frames.push((at, Some((number as u16, index as usize))));
                at += 4_256 + u64::from(rng.below(self.gap_max.as_micros() as u32 - 4_255));
            }
        }
        let seconds = INTERVAL.as_micros() * u64::from(DATAGRAMS) / 1_000_000;
        for second in 0..seconds {
            for _ in 0..self.rate {
                frames.push((second * 1_000_000 + u64::from(rng.below(1_000_000)), None));
            }
        }
        frames.sort_unstable();
        let (mut delivered, mut foe) = (0, 1000);
        let start = victim.now;
        for (at, honest) in frames {
            let at = start + Duration::from_micros(at);
            let answer = victim.pass(at.since(victim.now));
            assert!(answer.delivered.is_empty());
            if let Some((tag, index)) = honest {
                let piece = &fragments(tag, &packet)[index];
                delivered += victim.payload(FRIEND, piece).delivered.len() as u32;
            } else {
                foe = 1000 + (foe + 1) % 50_000;
                let pieces = fragments(foe as u16, &udp_packet(global(foe), global(1), &[0; 1232]));
                for piece in &pieces[..self.spoofed_fragments] {
                    victim.payload(foe, piece);
                }
            }
        }
        victim.assert_idle();
        delivered
    }
}

/// The bar: 95 % at any size of the table.
#[test]
fn xf9_honest_datagrams_come_through_a_flood_of_first_fragments() {
    for slots in [1, 2, 3, 4, 8, 16] {
        let delivered = Flood::one_a_slot_and_second(slots).delivered();
        assert!(
            delivered * 100 >= DATAGRAMS * 95,
            "{delivered} of {DATAGRAMS} with {slots} slots"
        );
    }
}

/// Where fragments come as slowly as over busy links, with retries and other traffic between them.
#[test]
fn xf9_slow_honest_datagrams_come_through_as_well() {
    for slots in [2, 4, 8] {
        let flood = Flood {
            gap_max: Duration::from_millis(80),
            ..Flood::one_a_slot_and_second(slots)
        };
        let delivered = flood.delivered();
        assert!(
            delivered * 100 >= DATAGRAMS * 95,
            "{delivered} of {DATAGRAMS} with {slots} slots"
        );
    }
}

/// What a flood of twice the frames does: with two fragments a spoofed datagram counts as one that makes progress.
#[test]
fn xf9_a_flood_of_two_fragments_each_is_held_off_by_tables_of_four_and_more() {
    for slots in [4, 8] {
        let flood = Flood {
            spoofed_fragments: 2,
            ..Flood::one_a_slot_and_second(slots)
        };
        let delivered = flood.delivered();
        assert!(
            delivered * 100 >= DATAGRAMS * 95,
            "{delivered} of {DATAGRAMS} with {slots} slots"
        );
    }
}

/// Why eviction is the default.
#[test]
fn xf9_without_eviction_a_flood_keeps_honest_datagrams_out() {
    let flood = Flood {
        eviction: Eviction::Never,
        ..Flood::one_a_slot_and_second(4)
    };
    assert!(flood.delivered() * 100 < DATAGRAMS * 10);
}
