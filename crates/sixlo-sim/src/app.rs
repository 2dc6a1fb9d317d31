//! Applications: sources that send on their own clocks, and the check of what arrives.

use crate::config::{self, Problem};
use crate::faults::check_set;
use crate::host::Service;
use crate::ledger::ECHO_FLOW;
use crate::rng::{Purpose, Rng, mix};
use crate::time::Time;
use crate::topology::Routes;

/// The most that a datagram carries: an MTU of 1280 less the headers of IPv6 and UDP, or of IPv6 and ICMPv6 echo (RFC
/// 8200 sections 3 and 5, RFC 768, RFC 4443 section 4.1).
pub const PAYLOAD_MAX: usize = 1_280 - 40 - 8;

/// What stands at the start of each payload: flow and sequence number.
pub const PAYLOAD_MIN: usize = 8;

/// One source.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The index of the sender.
    pub from: u16,
    /// The index of the destination.
    pub to: u16,
    /// The number of the flow; with [`ECHO_FLOW`] if it waits for answers.
    pub number: u16,
    /// Bytes of each payload.
    pub payload_bytes: u16,
    ports: Option<(u16, u16)>,
    gap: (Time, Time),
    /// Datagrams still to be sent.
    left: u32,
    /// The number of the next datagram.
    sequence: u32,
    /// The records of what was sent, by sequence number.
    pub records: Vec<u32>,
    rng: Rng,
    /// When the first datagram is sent.
    pub start: Time,
}

impl Flow {
    /// The next datagram is due: its sequence number, and when the one after it is.
    pub fn next(&mut self, now: Time) -> (u32, Option<Time>) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.left -= 1;
        let again = (self.left > 0).then(|| {
            let gap = self.rng.between(self.gap.0.as_ns(), self.gap.1.as_ns());
            now + Time::ns(gap)
        });
        (sequence, again)
    }

    /// How it is sent.
    pub const fn service(&self, sequence: u32) -> Service {
        match self.ports {
            Some((from, to)) => Service::Udp { from, to },
            None => Service::Echo {
                sequence: sequence as u16,
            },
        }
    }
}

/// Writes the payload of a datagram: flow (2 bytes), 2 bytes of a checksum over flow and sequence number, sequence
/// number (4 bytes), then a pattern made of both.
pub fn fill(payload: &mut [u8], flow: u16, sequence: u32) {
    let key = mix(u64::from(flow) << 32 | u64::from(sequence));
    let [a, b] = flow.to_be_bytes();
    let [c, d, ..] = key.to_be_bytes();
    let [e, f, g, h] = sequence.to_be_bytes();
    let (head, body) = payload.split_at_mut(PAYLOAD_MIN.min(payload.len()));
    for (to, from) in head.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *to = from;
    }
    let mut word = key;
    for chunk in body.chunks_mut(8) {
        word = mix(word);
        for (to, from) in chunk.iter_mut().zip(word.to_be_bytes()) {
            *to = from;
        }
    }
}

/// Whose payload this is: flow and sequence number. None if it is not, byte for byte, one that [`fill`] made.
pub fn check(payload: &[u8]) -> Option<(u16, u32)> {
    let (head, _) = payload.split_first_chunk::<PAYLOAD_MIN>()?;
    let [a, b, _, _, e, f, g, h] = *head;
    let (flow, sequence) = (u16::from_be_bytes([a, b]), u32::from_be_bytes([e, f, g, h]));
    let mut expected = [0; PAYLOAD_MAX];
    let expected = expected.get_mut(..payload.len())?;
    fill(expected, flow, sequence);
    (expected == payload).then_some((flow, sequence))
}

/// All sources of a run.
pub fn flows(config: &config::Config, routes: &Routes, nodes: u16, seed: u64) -> Result<Vec<Flow>, Problem> {
    let mut flows = Vec::new();
    for (i, traffic) in config.traffic.iter().enumerate() {
        let rule = Rule {
            key: format!("traffic.{i}"),
            from: &traffic.from,
            to: traffic.to,
            payload_bytes: traffic.payload_bytes,
            count: traffic.count,
            start_max_ms: traffic.start_max_ms,
            gap_ms: (traffic.gap_min_ms, traffic.gap_max_ms),
            ports: Some((traffic.source_port, traffic.port)),
        };
        rule.add(config, routes, nodes, seed, &mut flows)?;
    }
    for (i, echo) in config.echo.iter().enumerate() {
        let rule = Rule {
            key: format!("echo.{i}"),
            from: &echo.from,
            to: echo.to,
            payload_bytes: echo.payload_bytes,
            count: echo.count,
            start_max_ms: echo.start_max_ms,
            gap_ms: (echo.gap_min_ms, echo.gap_max_ms),
            ports: None,
        };
        rule.add(config, routes, nodes, seed, &mut flows)?;
    }
    Ok(flows)
}

struct Rule<'a> {
    key: String,
    from: &'a config::NodeSet,
    to: u16,
    payload_bytes: u16,
    count: u32,
    start_max_ms: u64,
    gap_ms: (u64, u64),
    ports: Option<(u16, u16)>,
}

impl Rule<'_> {
    fn check(&self, config: &config::Config, nodes: u16) -> Result<(), Problem> {
        let key = |name: &str| format!("{}.{name}", self.key);
        check_set(self.from, nodes, || key("from"))?;
        if !(1..=nodes).contains(&self.to) {
            return Err(Problem::new(
                key("to"),
                format!("no node {}", self.to),
                format!("1 to {nodes}"),
            ));
        }
        if !(PAYLOAD_MIN..=PAYLOAD_MAX).contains(&usize::from(self.payload_bytes)) {
            return Err(Problem::new(
                key("payload_bytes"),
                format!("{} bytes", self.payload_bytes),
                format!("{PAYLOAD_MIN} to {PAYLOAD_MAX} bytes, what a packet of 1280 bytes carries"),
            ));
        }
        if self.gap_ms.0 > self.gap_ms.1 {
            return Err(Problem::new(
                key("gap_min_ms"),
                format!("{} ms", self.gap_ms.0),
                "at most gap_max_ms",
            ));
        }
        if self.count == 0 && config.end_ms.is_none() {
            return Err(Problem::new(
                key("count"),
                "no end of the traffic",
                "a count, or end_ms for the run",
            ));
        }
        if self.count == 0 && self.gap_ms.1 == 0 {
            return Err(Problem::new(
                key("gap_max_ms"),
                "0 ms without a count",
                "more than 0 ms",
            ));
        }
        if let Some((from, to)) = self.ports {
            for (name, port) in [("source_port", from), ("port", to)] {
                if port == 0 {
                    return Err(Problem::new(key(name), "port 0", "1 to 65535"));
                }
            }
        }
        Ok(())
    }

    fn add(
        &self,
        config: &config::Config,
        routes: &Routes,
        nodes: u16,
        seed: u64,
        flows: &mut Vec<Flow>,
    ) -> Result<(), Problem> {
        self.check(config, nodes)?;
        let to = self.to - 1;
        for from in (0..nodes).filter(|&node| node != to && self.from.contains(node + 1, routes.depth(node)))
        {
            let at = flows.len();
            if at >= usize::from(ECHO_FLOW) {
                return Err(Problem::new(
                    format!("{}.from", self.key),
                    "too many sources",
                    "fewer than 32768",
                ));
            }
            let mut rng = Rng::new(seed, Purpose::Traffic, at as u64);
            let start = Time::ns(rng.between(0, Time::ms(self.start_max_ms).as_ns()));
            flows.push(Flow {
                from,
                to,
                number: at as u16 | if self.ports.is_none() { ECHO_FLOW } else { 0 },
                payload_bytes: self.payload_bytes,
                ports: self.ports,
                gap: (Time::ms(self.gap_ms.0), Time::ms(self.gap_ms.1)),
                left: if self.count == 0 { u32::MAX } else { self.count },
                sequence: 0,
                records: Vec::new(),
                rng,
                start,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Network;

    #[test]
    fn a_payload_tells_its_origin_and_no_changed_byte_passes() {
        for len in [8, 9, 16, 17, 100, PAYLOAD_MAX] {
            let mut payload = vec![0; len];
            fill(&mut payload, 0x8003, 77);
            assert_eq!(check(&payload), Some((0x8003, 77)));
            for at in 0..len {
                payload[at] ^= 0x10;
                assert_eq!(check(&payload), None, "byte {at} of {len}");
                payload[at] ^= 0x10;
            }
        }
        assert_eq!(check(&[0; 7]), None);
        assert_eq!(check(&[0; PAYLOAD_MAX + 1]), None);
    }

    fn of(text: &str) -> Result<Vec<Flow>, Problem> {
        let text = format!("topology = {{ chain = {{ nodes = 5 }} }}\n{text}");
        let config: config::Config = toml::from_str(&text).unwrap();
        let network = Network::build(&config.topology, 1).unwrap();
        let routes = Routes::build(&network, config.routes, |_, _| true).unwrap();
        flows(&config, &routes, 5, 1)
    }

    const F_A: &str = "[[traffic]]\nfrom = \"beyond-sink-neighbors\"\npayload_bytes = 16\ncount = 50\n\
                       gap_min_ms = 5000\ngap_max_ms = 15000\n";

    #[test]
    fn sources_start_and_go_on_within_the_stated_times() {
        let flows = of(F_A).unwrap();
        assert_eq!(flows.iter().map(|flow| flow.from).collect::<Vec<_>>(), [2, 3, 4]);
        for mut flow in flows {
            assert!(flow.start <= Time::ms(10_000));
            let mut now = flow.start;
            for expected in 0..50 {
                let (sequence, again) = flow.next(now);
                assert_eq!(sequence, expected);
                assert_eq!(again.is_some(), expected < 49);
                let Some(again) = again else { break };
                assert!((Time::ms(5_000)..=Time::ms(15_000)).contains(&(again - now)));
                now = again;
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |from: &str, to: &str| of(&F_A.replace(from, to)).unwrap_err().key;
        assert_eq!(
            wrong("payload_bytes = 16", "payload_bytes = 1233"),
            "traffic.0.payload_bytes"
        );
        assert_eq!(
            wrong("payload_bytes = 16", "payload_bytes = 7"),
            "traffic.0.payload_bytes"
        );
        assert_eq!(
            wrong("gap_min_ms = 5000", "gap_min_ms = 15001"),
            "traffic.0.gap_min_ms"
        );
        assert_eq!(wrong("count = 50", "count = 0"), "traffic.0.count");
        assert_eq!(wrong("count = 50", "count = 50\nto = 6"), "traffic.0.to");
        assert_eq!(wrong("count = 50", "count = 50\nport = 0"), "traffic.0.port");
        assert_eq!(wrong("\"beyond-sink-neighbors\"", "[9]"), "traffic.0.from");
    }
}
