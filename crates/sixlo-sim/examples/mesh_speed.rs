//! How fast the simulator is: simulated seconds and radio transmissions a CPU second, and peak memory, for meshes of 50,
//! 200 and 1000 nodes.
//!
//! A jittered grid with about 5 neighbours a node that interfere twice as far, routes along shortest paths to a sink in the middle, datagrams of 512
//! bytes from all other nodes; 5 to 15 s between them at 50 nodes, stretched with the number of nodes so that the
//! network carries about as many a second. Each mesh runs in a process of its own, so that its peak memory is its own.
//!
//! `cargo run --release -p sixlo-sim --example mesh_speed [NODES]`

use std::process::Command;

use sixlo_sim::config::Config;
use sixlo_sim::result::RunResult;
use sixlo_sim::run::run_plan;
use sixlo_sim::world::Plan;

fn config(nodes: u16, simulated_s: u64) -> Config {
    let stretch = u64::from(nodes) * 1_000 / 50;
    let text = format!(
        "end_ms = {end}\n\
         topology = {{ grid = {{ nodes = {nodes}, spacing_m = 5.0, jitter_m = 1.0, network_seed = 1 }} }}\n\
         medium = {{ disc = {{ range_m = 6.8, interference_range_m = 13.6 }} }}\n\
         stack = {{ reassembly_entries = 8 }}\n\
         [[traffic]]\nfrom = \"all-but-sink\"\npayload_bytes = 512\ncount = 0\n\
         start_max_ms = {start}\ngap_min_ms = {low}\ngap_max_ms = {high}\n",
        end = simulated_s * 1_000,
        start = 10 * stretch,
        low = 5 * stretch,
        high = 15 * stretch,
    );
    toml::from_str(&text).expect("a valid configuration")
}

/// CPU time of this process in seconds, and its peak memory in MB: Linux tells.
fn used() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let ns: f64 = stat
        .split(' ')
        .next()
        .and_then(|ns| ns.parse().ok())
        .unwrap_or(f64::NAN);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = peak
        .and_then(|kb| kb.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(f64::NAN);
    (ns / 1e9, kb / 1024.0)
}

fn measure(nodes: u16) {
    let simulated_s = 10_000;
    let plan = Plan::new(&config(nodes, simulated_s), 1).expect("a valid configuration");
    let receivers: usize = (0..nodes).map(|node| plan.medium.receivers(node).len()).sum();
    let (before, _) = used();
    let result: RunResult = run_plan(&plan, &mut ()).expect("the books balance");
    let (after, peak_mb) = used();
    let cpu_s = after - before;
    let (delivered, sent) = result.delivered();
    let hops: u64 = result.records.iter().map(|record| u64::from(record.hops)).sum();
    println!(
        "{nodes:5} nodes, {:.1} neighbours, {:.1} hops: {:7.0} simulated s a CPU s, {:8.0} transmissions a CPU s, \
         {:4.2} events a transmission, {peak_mb:.1} MB; {sent} datagrams, {:.1} % delivered, {} transmissions",
        receivers as f64 / f64::from(nodes),
        hops as f64 / sent as f64,
        simulated_s as f64 / cpu_s,
        result.transmissions as f64 / cpu_s,
        result.events as f64 / result.transmissions as f64,
        100.0 * delivered as f64 / sent as f64,
        result.transmissions,
    );
}

fn main() {
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_default();
    match arguments.next() {
        Some(nodes) => measure(nodes.parse().expect("a number of nodes")),
        None => {
            for nodes in ["50", "200", "1000"] {
                let status = Command::new(&program).arg(nodes).status();
                assert!(status.is_ok_and(|status| status.success()), "{nodes} nodes");
            }
        }
    }
}
