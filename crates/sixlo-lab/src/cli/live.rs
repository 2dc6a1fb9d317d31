//! `sixlo live`: a mesh in real time, joined to this host by a TUN device.

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use sixlo_host::wait::waker;
use sixlo_sim::config::{Border, Problem};
use sixlo_sim::run::with_world;
use sixlo_sim::stack_host::address;
use sixlo_sim::time::Time;
use sixlo_sim::world::Plan;

use super::watch::listen;
use super::{Failure, shipped};
use crate::live::clock::{Clock, Speed};
use crate::live::command::{Command, Handle};
use crate::live::engine::{Engine, Ports, Tally};
use crate::live::watch::Watch;
use crate::pcapng::LinkType;
use crate::record::Recorder;
use crate::scenario::{BadInput, Scenario};
use crate::web::http::{Limits, serve};
use crate::web::live::Live;
use crate::web::site::parse_address;

mod device;

pub(super) const EXAMPLES: &str = "Examples:
  sudo sixlo live                    a mesh of 50 nodes; then, in another terminal: ping fd00::5
  sudo sixlo live my-mesh.toml       your own (docs/scenario.md)
  sudo sixlo live --web              with a page in the browser that shows and steers it
  sudo sixlo live --tun mesh0 --prefix fd12:3456:789a::
  unshare --net --map-root-user sixlo live --for 60    without rights, in a network namespace of its own

It runs until Ctrl-C. The TUN device, its address and its route then go away with the program; docs/live.md tells more.";

/// How often progress is told where there is no terminal, and where there is one.
const TICKS: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(1)];

#[derive(Clone, Debug, Args)]
pub(super) struct LiveArgs {
    /// A scenario file (TOML) without a sweep, or the name of one that `sixlo list` shows
    #[arg(default_value = "live")]
    scenario: String,
    /// The name of the TUN device
    #[arg(long, value_name = "NAME", default_value = "sixlo0", value_parser = device::name)]
    tun: String,
    /// Run without a TUN device: no rights are needed, and nothing of this host reaches the mesh
    #[arg(long)]
    no_tun: bool,
    /// The /64 prefix of the mesh, instead of that of the scenario
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<Ipv6Addr>,
    /// How fast simulated time goes: a multiple of real time like 0.5, or `max`
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = Speed::parse)]
    speed: Speed,
    /// Write all frames of the mesh and all packets that cross its border to this file (pcapng, for Wireshark)
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Serve a page that shows the mesh and steers it: at a port of this machine, or an address and a port [default port: 8154]
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, default_missing_value = "8154", value_parser = parse_address)]
    web: Option<SocketAddr>,
    /// End after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let span = text
        .parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok());
    span.ok_or_else(|| "a number of seconds".to_owned())
}

/// Runs a mesh until it is stopped.
pub(super) fn live(args: &LiveArgs, out: &mut impl Write) -> Result<(), Failure> {
    let plan = plan(args)?;
    let nodes = plan.nodes();
    let recorder = recorder(args, &plan)?;
    let listener = args.web.map(listen).transpose()?;
    let mut ports = Ports::default();
    if !args.no_tun {
        let device = device::open(&args.tun, &plan)?;
        device.tell(out).map_err(Failure::stdout)?;
        ports.outside = Some(Box::new(device.tun));
    }
    tell_nodes(&plan, out).map_err(Failure::stdout)?;
    let pipe = waker().map_err(|error| Failure::Io("a pair of sockets".to_owned(), error))?;
    let (handle, commands) = Handle::new(pipe.0);
    stop_at_signals(handle.clone());
    let mut watch = Watch::new(nodes);
    if let Some(recorder) = recorder {
        watch.record(recorder);
    }
    if let Some(listener) = listener {
        show(listener, &plan, &args.scenario, handle, &mut watch, out)?;
    }
    let started = Instant::now();
    let (tally, broken) = with_world(&plan, &mut watch, |mut world| {
        let start = Instant::now();
        let clock = Clock::new(start, args.speed);
        let mut engine = Engine::new(&mut world, nodes, clock, ports, (commands, pipe.1));
        let until = args.duration.and_then(|span| start.checked_add(span));
        let tick = TICKS[usize::from(io::stderr().is_terminal())];
        let ended = engine.run(until, tick, progress);
        (engine.tally().clone(), ended)
    })
    .map_err(|problem| bad(&args.scenario, problem))?;
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr());
    }
    summary(&tally, &watch, out)
        .and_then(|()| tell_cpu(started.elapsed(), out))
        .map_err(Failure::stdout)?;
    if let (Some(path), Err(error)) = (&args.capture, watch.finish()) {
        return Err(Failure::Io(path.display().to_string(), error));
    }
    broken.map_err(|error| Failure::Io(format!("the device {}", args.tun), error))
}

/// Serves the page of a mesh.
fn show(
    listener: TcpListener,
    plan: &Plan,
    scenario: &str,
    handle: Handle,
    watch: &mut Watch,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let failed = |error| Failure::Io("the page".to_owned(), error);
    let address = listener.local_addr().map_err(failed)?;
    let title = shipped::open(scenario, None)?.title;
    let (live, feed) = Live::new(plan, &title, "live", handle);
    serve(listener, live, Limits::USUAL).map_err(failed)?;
    watch.show(feed);
    writeln!(out, "http://{address}/ shows the mesh")
        .and_then(|()| out.flush())
        .map_err(Failure::stdout)
}

/// The network that is to run.
fn plan(args: &LiveArgs) -> Result<Plan, Failure> {
    let scenario: Scenario = shipped::open(&args.scenario, None)?;
    let [point] = &scenario.points[..] else {
        let what = format!("a sweep over {} points", scenario.points.len());
        return Err(BadInput::whole(
            &args.scenario,
            what,
            "a scenario without [sweep]: one mesh can run",
        )
        .into());
    };
    let mut config = point.config.clone();
    config.border.get_or_insert_with(Border::default);
    config.services = true;
    if let Some(prefix) = args.prefix {
        config.link.prefix = prefix;
    }
    let seed = point.seeds.first().copied().unwrap_or(1);
    Plan::new(&config, seed).map_err(|problem| bad(&args.scenario, problem))
}

fn bad(file: &str, problem: Problem) -> Failure {
    let what = format!("{}: {}", problem.key, problem.what);
    BadInput::whole(file, what, problem.wanted).into()
}

/// Opens the file for a capture, if one is wanted.
fn recorder(args: &LiveArgs, plan: &Plan) -> Result<Option<Recorder>, Failure> {
    let Some(path) = &args.capture else {
        return Ok(None);
    };
    let mut recorder = Recorder::new(&plan.network, &plan.config.link);
    let channel = plan.config.link.channel;
    recorder
        .capture(path, LinkType::Tap, channel, &plan.network, plan.border())
        .map_err(|error| Failure::Io(path.display().to_string(), error))?;
    Ok(Some(recorder))
}

/// Ctrl-C and SIGTERM end the run as its end would.
fn stop_at_signals(handle: Handle) {
    // Without a handler they end the program too, only without a summary; the device goes in any case.
    let _ = ctrlc::set_handler(move || {
        handle.send(Command::Stop);
    });
}

/// Says which nodes there are.
fn tell_nodes(plan: &Plan, out: &mut impl Write) -> io::Result<()> {
    let last = plan.nodes() - 1;
    let border = plan.border().unwrap_or_default();
    writeln!(
        out,
        "nodes 1 to {}: {} to {}; the border router is node {}",
        last + 1,
        address(plan, 0),
        address(plan, last),
        border + 1
    )?;
    out.flush()
}

fn progress(time: Time, watch: &Watch, tally: &Tally) {
    let mut err = io::stderr();
    let line = format!(
        "{:.0} s, {} frames, {} packets in, {} out; lateness {}",
        time.as_secs(),
        watch.frames(),
        tally.packets_in,
        tally.packets_out,
        tally.lateness
    );
    // Nobody may be there to read it.
    let _ = if err.is_terminal() {
        write!(err, "\r\x1b[K{line}").and_then(|()| err.flush())
    } else {
        writeln!(err, "{line}")
    };
}

fn summary(tally: &Tally, watch: &Watch, out: &mut impl Write) -> io::Result<()> {
    let Tally {
        packets_in,
        packets_out,
        packets_lost,
        packets_refused,
        lateness,
        slipped,
    } = tally;
    writeln!(out, "{} frames on the air", watch.frames())?;
    writeln!(
        out,
        "{packets_in} packets from this host, {packets_lost} of them lost before the border router"
    )?;
    writeln!(
        out,
        "{packets_out} packets to this host, {packets_refused} more refused by it"
    )?;
    writeln!(out, "lateness of {} events: {lateness}", lateness.count())?;
    if *slipped > Duration::ZERO {
        writeln!(
            out,
            "the clock was set back by {slipped:?}: this machine did not keep up"
        )?;
    }
    Ok(())
}

/// Says how much of a processor the program used.
fn tell_cpu(ran: Duration, out: &mut impl Write) -> io::Result<()> {
    let used = sixlo_host::usage::cpu_time();
    let share = 100.0 * used.as_secs_f64() / ran.as_secs_f64().max(1e-9);
    writeln!(
        out,
        "processor time: {:.1} s, {share:.1} % of one core",
        used.as_secs_f64()
    )
}
