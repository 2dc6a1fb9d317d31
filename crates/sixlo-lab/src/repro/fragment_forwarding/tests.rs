use super::arithmetic::{Frames, Place, end_to_end_mtu, headers_len, saved};
use super::*;
use crate::repro::verdict::Verdict;
use crate::repro::{Extent, STUDIES};

#[test]
fn frames_leave_the_bytes_that_the_paper_counts() {
    assert_eq!(Frames::Published.payload_len(), 102);
    assert_eq!(Frames::Extended.payload_len(), 104);
    assert_eq!(Frames::Short.payload_len(), 116);
}

#[test]
fn headers_take_17_bytes_at_the_source_and_26_at_a_forwarder() {
    assert_eq!(headers_len(Frames::Published, Place::Source), 17);
    assert_eq!(headers_len(Frames::Published, Place::Forwarder), 26);
    assert_eq!(headers_len(Frames::Short, Place::Source), 11);
}

#[test]
fn no_header_saves_less_than_the_mtu_of_end_to_end_fragmentation_counts_on() {
    for frames in Frames::ALL {
        let least = end_to_end_mtu(frames) - frames.payload_len();
        for place in [Place::Source, Place::Forwarder] {
            for first in [true, false] {
                assert!(
                    saved(frames, place, first) >= least,
                    "{frames:?} {place:?} {first}"
                );
            }
        }
    }
}

#[test]
fn the_legend_of_figure_14_is_exact_and_the_stack_sends_just_so() {
    let claims = claims_arithmetic::all();
    let legend = claims.iter().find(|claim| claim.id == "F2").unwrap();
    let parts = legend.parts.iter();
    let wrong: Vec<_> = parts.filter(|part| part.verdict != Verdict::Reproduced).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_fragment_saves_less_than_published_because_lengths_that_cannot_be_inferred_are_carried() {
    // RFC 6282 sections 4.2 and 4.3: the reserved byte of the fragment header is carried, and the UDP header of a first
    // fragment is not compressed, since its length does not follow from that of the frame. The paper counts both.
    let frames = Frames::Published;
    for first in [true, false] {
        assert_eq!(saved(frames, Place::Forwarder, first), 22 - 2);
        assert_eq!(saved(frames, Place::Source, first), 22 - 2 + 8 + 1);
    }
    assert_eq!(end_to_end_mtu(frames), 122);
}

#[test]
fn the_ledger_has_each_claim_once_even_if_nothing_was_run() {
    let claims = (STUDIES[0].judge)(&Findings::new(&[], &Default::default()));
    let ids: Vec<_> = claims.iter().map(|claim| claim.id).collect();
    for number in 1..=13 {
        let id = format!("F{number}");
        assert_eq!(ids.iter().filter(|other| **other == id).count(), 1, "{id}");
    }
    let of_runs = claims.iter().find(|claim| claim.id == "F5").unwrap();
    assert_eq!(of_runs.verdict(), Verdict::NotMeasured);
}

#[test]
fn a_claim_is_decided_by_as_many_runs_as_are_asked_for() {
    let seeds = |seeds| {
        let scenario = setups::scenario(&Extent { quick: true, seeds });
        scenario.points.iter().map(|point| point.seeds.len()).max()
    };
    assert_eq!(seeds(None), Some(10));
    assert_eq!(seeds(Some(12)), Some(12));
}

#[test]
fn bytes_of_code_and_memory_are_those_of_the_tracked_table_and_a_missing_part_is_told() {
    let table = "# remark\npart,router_rom,hwr_rom,hwr_ram\na,1,20,3\nb,1,40,5\nc,1,,7\n";
    assert_eq!(
        claims_size::sum(table, "hwr", &["a", "b"]),
        Ok(claims_size::Cell { rom: 60, ram: 8 })
    );
    for (table, part, complaint) in [
        (table, "d", "no part `d`"),
        (table, "c", "no number for `c`"),
        ("part,hwr_rom\na,1\n", "a", "no column `hwr_ram`"),
        ("", "a", "no column `hwr_rom`"),
    ] {
        let error = claims_size::sum(table, "hwr", &[part]).unwrap_err();
        assert!(error.starts_with(complaint), "{error}");
    }
    // The tracked table has all that the claims are about.
    for claim in claims_size::all() {
        let missing = claim
            .parts
            .iter()
            .filter(|part| part.verdict == Verdict::NotMeasured);
        assert_eq!(missing.count(), 0, "{claim:#?}");
    }
}

#[test]
fn a_control_is_better_if_it_is_above_at_ten_of_twelve_counts_and_below_at_none() {
    use claims_own::Score;
    let verdict = |above, below, all| Score { above, below, all }.verdict();
    assert_eq!(verdict(10, 0, 12), Verdict::Reproduced);
    assert_eq!(verdict(10, 1, 12), Verdict::NotReproduced);
    assert_eq!(verdict(9, 0, 12), Verdict::Undecided);
    assert_eq!(verdict(5, 0, 6), Verdict::Reproduced);
    assert_eq!(verdict(4, 0, 6), Verdict::Undecided);
    assert_eq!(verdict(0, 0, 0), Verdict::NotMeasured);
}

#[test]
fn every_variant_of_the_second_set_up_differs_from_the_first() {
    use sixlo_sim::config::Control;
    let configs = section_v::COURSES.map(|course| section_v::config(course.name, Control::Quic, 112));
    for (place, config) in configs.iter().enumerate() {
        let same = configs.iter().filter(|other| *other == config);
        assert_eq!(same.count(), 1, "{}", section_v::COURSES[place].name);
    }
}
