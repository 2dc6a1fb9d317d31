//! The weaknesses of the AT86RF23x, each switched on and off.

use sixlo::netdev::CsmaParams;
use sixlo_sim::air::Deaf;
use sixlo_sim::config::{At86rf23x, Config, Cpu, CpuTimes, Mac, Radio, WhenReceiving};
use sixlo_sim::medium::Loss;
use sixlo_sim::result::RunResult;

use crate::raw_mac::{ALL, Access, Job, line, run};

/// Copying a frame of 127 bytes over SPI: 129 bytes at 625 kB/s.
const COPY_127_NS: u64 = 129 * 1_600;

fn config(x_m: &[f64], radio: At86rf23x) -> Config {
    let mut config = line(x_m, 6.0, 6.0);
    config.radio = Radio::At86rf23x(radio);
    // No back-off, so that all times are known; and no end to the assessments.
    config.mac = Mac {
        min_be: 0,
        max_be: 0,
        max_backoffs: 100,
        ..Mac::default()
    };
    config
}

fn job(from: u16, to: u16, start_us: u64, count: u64) -> Job {
    Job {
        from,
        to,
        mpdu_len: 127,
        ack: to != ALL,
        start_us,
        count,
    }
}

fn lost(result: &RunResult, node: usize, loss: Loss) -> u64 {
    result.nodes[node].radio.lost[loss.index()]
}

#[test]
fn an_isolated_frame_takes_its_copies_and_symbols() {
    let (result, heard) = run(
        config(&[0.0, 5.0], At86rf23x::default()),
        Access::Radio,
        &[job(1, 0, 1_000, 1)],
        50,
        1,
        &mut (),
    );
    // Copied in, assessed, turned around, sent; acknowledged, then copied out.
    let ns = 1_000_000 + COPY_127_NS + (128 + 192 + 4_256) * 1_000 + (192 + 352) * 1_000 + COPY_127_NS;
    assert_eq!(heard, [(ns / 1_000, 0, 1)]);
    assert_eq!(result.nodes[1].stack.acknowledged, 1);
    assert_eq!(
        result.nodes[1].deaf[Deaf::Preparing as usize].as_ns(),
        COPY_127_NS
    );
    assert_eq!(result.nodes[1].deaf[Deaf::BackingOff as usize].as_ns(), 128_000);
    assert_eq!(
        result.nodes[1].deaf[Deaf::Transmitting as usize].as_ns(),
        (192 + 4_256) * 1_000
    );
    assert_eq!(
        result.nodes[1].deaf[Deaf::AwaitingAck as usize].as_ns(),
        (192 + 352) * 1_000
    );
    assert_eq!(
        result.nodes[0].deaf[Deaf::BufferFull as usize].as_ns(),
        COPY_127_NS
    );
}

/// Behaviour (a), first half: node 1 sends to node 0 while node 0 wants to send to node 2. Prepared in the moment in
/// which the reception has ended, the transmission overwrites what was received and acknowledged.
fn sends_while_receiving(radio: At86rf23x) -> (RunResult, Vec<(u64, u16, u8)>) {
    // Node 1 is on the air for 4.256 ms from 1.526 ms on, or a back-off later.
    let jobs = [job(1, 0, 1_000, 1), job(0, 2, 4_500, 1)];
    let mut config = config(&[0.0, 5.0, -5.0], radio);
    config.mac = Mac {
        max_backoffs: 100,
        ..Mac::default()
    };
    run(config, Access::Radio, &jobs, 100, 1, &mut ())
}

#[test]
fn a_prepared_transmission_overwrites_what_was_received_and_acknowledged() {
    let blocking = At86rf23x {
        when_receiving: WhenReceiving::Block,
        ..At86rf23x::default()
    };
    let (result, heard) = sends_while_receiving(blocking.clone());
    assert_eq!(lost(&result, 0, Loss::Overwritten), 1);
    assert_eq!(
        result.nodes[1].stack.acknowledged, 1,
        "its sender believes it delivered"
    );
    assert_eq!(heard.iter().map(|&(_, node, _)| node).collect::<Vec<_>>(), [2]);

    let two_buffers = At86rf23x {
        one_buffer: false,
        ..blocking
    };
    let (result, heard) = sends_while_receiving(two_buffers);
    assert_eq!(lost(&result, 0, Loss::Overwritten), 0);
    assert_eq!(heard.len(), 2);
}

/// Behaviour (b): the driver blocks until the reception has ended, or queues the frame, or aborts the reception.
#[test]
fn a_frame_for_a_radio_that_receives_blocks_waits_or_aborts_the_reception() {
    let with = |when_receiving| {
        sends_while_receiving(At86rf23x {
            when_receiving,
            ..At86rf23x::default()
        })
    };

    let (queued, heard) = with(WhenReceiving::Queue);
    assert_eq!(queued.nodes[0].radio.waited_for_reception, 1);
    assert_eq!(
        heard.iter().map(|&(_, node, _)| node).collect::<Vec<_>>(),
        [0, 2],
        "read out first, then sent"
    );
    assert_eq!(queued.nodes[0].radio.lost.iter().sum::<u64>(), 0);

    let (blocked, _) = with(WhenReceiving::Block);
    assert_eq!(blocked.nodes[0].radio.waited_for_reception, 1);

    let (aborted, heard) = with(WhenReceiving::Abort);
    assert_eq!(aborted.nodes[0].radio.waited_for_reception, 0);
    assert_eq!(lost(&aborted, 0, Loss::Deaf(Deaf::Preparing)), 1);
    assert!(aborted.nodes[1].stack.retransmissions >= 1);
    assert!(heard.iter().any(|&(_, node, _)| node == 0), "a retry brings it");
}

/// Behaviour (a), second half: while the buffer holds a frame that was not read out, no frame is received, and none
/// acknowledged. Node 0 computes for 10 ms on a broadcast before it reads the next frame out.
fn slow_reader(radio: At86rf23x) -> (RunResult, Vec<(u64, u16, u8)>) {
    let mut config = config(&[0.0, 3.0, -3.0], radio);
    config.cpu = Cpu::Times(CpuTimes {
        frame_in_us: 20_000,
        ..CpuTimes::default()
    });
    let jobs = [job(1, 0, 1_000, 2), job(2, 0, 17_000, 1)];
    run(config, Access::Radio, &jobs, 200, 1, &mut ())
}

#[test]
fn a_protected_buffer_makes_its_senders_retry() {
    let (result, heard) = slow_reader(At86rf23x::default());
    assert!(lost(&result, 0, Loss::Deaf(Deaf::BufferFull)) >= 1);
    assert_eq!(lost(&result, 0, Loss::Overwritten), 0);
    assert!(result.nodes[2].stack.retransmissions >= 1);
    assert!(heard.len() >= 2);
}

#[test]
fn without_protection_the_next_frame_overwrites_the_one_in_the_buffer() {
    let (result, heard) = slow_reader(At86rf23x {
        protect_buffer: false,
        ..At86rf23x::default()
    });
    assert_eq!(lost(&result, 0, Loss::Deaf(Deaf::BufferFull)), 0);
    assert_eq!(lost(&result, 0, Loss::Overwritten), 1);
    assert_eq!(
        result.nodes[2].stack.acknowledged + result.nodes[1].stack.acknowledged,
        3,
        "all were acknowledged"
    );
    assert_eq!(heard.len(), 2, "one of them is gone");

    let (result, heard) = slow_reader(At86rf23x {
        one_buffer: false,
        ..At86rf23x::default()
    });
    assert_eq!(result.nodes[0].radio.lost.iter().sum::<u64>(), 0);
    assert_eq!(heard.len(), 3);
}

/// Behaviour (c): the device stays busy after a frame.
#[test]
fn a_busy_driver_delays_what_comes_next_and_is_deaf() {
    let busy = At86rf23x {
        busy_after_frame_us: 4_000,
        ..At86rf23x::default()
    };
    let jobs = [job(1, 0, 1_000, 1)];
    let arrival = |radio| run(config(&[0.0, 5.0], radio), Access::Radio, &jobs, 50, 1, &mut ()).1[0].0;
    assert_eq!(arrival(busy.clone()) - arrival(At86rf23x::default()), 4_000);

    // Node 1 has just sent a frame when node 2 sends to it.
    let jobs = [
        Job {
            mpdu_len: 20,
            ..job(1, 0, 1_000, 1)
        },
        job(2, 1, 2_500, 1),
    ];
    let with = |radio| {
        run(
            config(&[0.0, 5.0, 10.0], radio),
            Access::Radio,
            &jobs,
            100,
            1,
            &mut (),
        )
        .0
    };
    assert_eq!(lost(&with(busy), 1, Loss::Deaf(Deaf::Busy)), 1);
    assert_eq!(lost(&with(At86rf23x::default()), 1, Loss::Deaf(Deaf::Busy)), 0);
}

/// Behaviour (d): a radio that backs off by itself is deaf meanwhile.
#[test]
fn hardware_back_off_is_deaf() {
    // Both ends of three nodes send to the middle, which sends to the first.
    let jobs = [job(0, 1, 0, 400), job(1, 2, 0, 400)];
    let with = |deaf_in_backoff| {
        let radio = At86rf23x {
            deaf_in_backoff,
            ..At86rf23x::default()
        };
        let mut config = config(&[0.0, 5.0, 10.0], radio);
        config.mac = Mac::default();
        run(config, Access::Radio, &jobs, 20_000, 1, &mut ()).0
    };
    let (deaf, hearing) = (with(true), with(false));
    assert!(
        lost(&deaf, 1, Loss::Deaf(Deaf::BackingOff)) > 20,
        "{:?}",
        deaf.nodes[1].radio.lost
    );
    assert_eq!(lost(&hearing, 1, Loss::Deaf(Deaf::BackingOff)), 0);
    assert!(deaf.nodes[0].stack.retransmissions > hearing.nodes[0].stack.retransmissions);
    // With one buffer, what comes in during a back-off displaces the frame to send, which is copied once more.
    assert!(hearing.nodes[1].radio.copied_again > 20);
    assert_eq!(deaf.nodes[1].radio.copied_again, 0);
}

/// Behaviour (e): with the CSMA/CA of the stack, retries can wait a random time; the radio hears between them.
#[test]
fn software_csma_hears_between_its_attempts_and_can_delay_its_retries() {
    let radio = At86rf23x {
        hardware_csma: false,
        ..At86rf23x::default()
    };
    // Node 1 sends to a node that is not there: 4 attempts.
    let absent = Job {
        to: 7,
        ..job(1, 7, 1_000, 1)
    };
    let duration = |retry_delay_max_ms| {
        let params = CsmaParams {
            min_be: 0,
            max_be: 0,
            retry_delay_max: sixlo::time::Duration::from_millis(retry_delay_max_ms),
            ..CsmaParams::default()
        };
        let (result, _) = run(
            config(&[0.0, 5.0], radio.clone()),
            Access::Stack(params),
            &[absent],
            500,
            1,
            &mut (),
        );
        assert_eq!(result.nodes[1].radio.frames_sent, 4);
        assert_eq!(result.nodes[1].stack.no_ack, 1);
        result.nodes[1].deaf[Deaf::BackingOff as usize]
    };
    assert_eq!(duration(0).as_ns(), 0);
    assert_eq!(duration(40).as_ns(), 0);

    // While node 1 tries in vain, node 0 sends to it: what comes in displaces the frame to send.
    let jobs = [absent, job(0, 1, 9_000, 1)];
    let slow = CsmaParams {
        retry_delay_max: sixlo::time::Duration::from_millis(40),
        ..CsmaParams::default()
    };
    let (result, heard) = run(
        config(&[0.0, 5.0], radio),
        Access::Stack(slow),
        &jobs,
        500,
        3,
        &mut (),
    );
    assert_eq!(heard.len(), 1);
    assert_eq!(result.nodes[1].radio.frames_sent, 4);
}

/// Behaviour (f): each retry of the radio starts CSMA/CA anew, or follows after one assessment.
#[test]
fn a_retry_of_the_radio_backs_off_again_or_not() {
    let absent = Job {
        to: 7,
        ..job(1, 7, 1_000, 1)
    };
    let deaf = |retry_restarts_csma| {
        let radio = At86rf23x {
            retry_restarts_csma,
            ..At86rf23x::default()
        };
        let mut config = config(&[0.0, 5.0], radio);
        config.mac = Mac {
            min_be: 5,
            max_be: 5,
            ..Mac::default()
        };
        let (result, _) = run(config, Access::Radio, &[absent], 500, 1, &mut ());
        assert_eq!(result.nodes[1].radio.frames_sent, 4);
        assert_eq!(result.nodes[1].stack.retransmissions, 3);
        result.nodes[1].deaf[Deaf::BackingOff as usize].as_ns() / 1_000
    };
    // Four assessments, and one back-off of at most 31 periods, or four.
    let (once, each) = (deaf(false), deaf(true));
    assert!(
        once <= 4 * 128 + 31 * 320 && (once - 4 * 128) % 320 == 0,
        "{once}"
    );
    assert!(each > once, "{each}");
}

#[test]
fn frames_for_others_reach_no_stack() {
    for radio in [Radio::default(), Radio::At86rf23x(At86rf23x::default())] {
        let mut config = config(&[0.0, 3.0, 6.0], At86rf23x::default());
        let access = match radio {
            Radio::Ideal(_) => Access::Stack(CsmaParams::default()),
            Radio::At86rf23x(_) => Access::Radio,
        };
        config.radio = radio;
        let jobs = [
            job(1, 0, 0, 5),
            Job {
                start_us: 90_000,
                ..job(2, ALL, 0, 1)
            },
        ];
        let (_, heard) = run(config, access, &jobs, 200, 1, &mut ());
        let at = |node| heard.iter().filter(|&&(_, at, _)| at == node).count();
        assert_eq!((at(0), at(1), at(2)), (6, 1, 0));
    }
}
