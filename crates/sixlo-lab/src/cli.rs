//! The program `sixlo`: its command line, what it prints, and its exit codes.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::campaign;
use crate::digest::Digest;
use crate::scenario::BadInput;
use crate::web::site::{default_address, parse_address};

mod compare;
mod list;
#[cfg(target_os = "linux")]
mod live;
mod progress;
mod repro;
mod run;
pub mod shipped;
mod stored;
mod trace;
mod watch;

/// All went well. Also where the reader of the output went away early, as `head` does.
pub const EXIT_OK: u8 = 0;
/// A run failed, or something could not be written. What was finished is stored.
pub const EXIT_FAILED: u8 = 1;
/// What the user gave cannot be used. Nothing was written.
pub const EXIT_BAD_INPUT: u8 = 2;
/// Interrupted by Ctrl-C. What was finished is stored.
pub const EXIT_INTERRUPTED: u8 = 130;

/// The scenario that runs if nothing is said.
const QUICK_START: &str = "quick-start";

const ABOUT: &str = "Runs experiments on low-power radio networks: the sixlo stack on every node of a simulated mesh.

Without a command it runs the quick start: 50 nodes, four ways to forward what no frame holds, four payload sizes, three seeds.";

const EXAMPLES: &str = "Examples:
  sixlo                              the quick start; writes sixlo-results/quick-start
  sixlo list                         scenarios that ship with the program
  sixlo run chain                    run one of them
  sixlo run my.toml -o out           run your own; docs/scenario.md explains the format
  sixlo run my.toml --seeds 10       with the seeds 1 to 10; runs that are stored already are kept
  sixlo compare my-mesh.toml         which strategy and settings suit this network
  sixlo repro fragment-forwarding    reproduce a published study
  sixlo live                         run a mesh in real time and ping its nodes from this host
  sixlo trace out                    what became of the datagrams of a run
  sixlo trace out --datagram 17      the whole history of one of them
  sixlo watch out                    play a run in the browser

Exit codes:
  0    all went well
  1    a run failed, or something could not be written; finished runs are stored
  2    the input cannot be used; nothing was written
  130  interrupted; finished runs are stored
After 1 and 130 the same command runs only what is missing.";

const RUN_EXAMPLES: &str = "Examples:
  sixlo run grid
  sixlo run my.toml -o results/first --threads 1
  sixlo run my.toml --seeds 3,5,9-12";

const REPRO_EXAMPLES: &str = "Examples:
  sixlo repro                                  the studies
  sixlo repro fragment-forwarding --quick      in minutes
  sixlo repro fragment-forwarding              all payloads and variants
  sixlo repro fragment-forwarding --quick --check docs/measured/claims-fragment-forwarding.csv

A claim is decided by at least ten runs on each side. What is interrupted goes on where it stopped.";

const COMPARE_EXAMPLES: &str = "Examples:
  sixlo compare my-mesh.toml

All settings run with three seeds; those that may still be the best with more, the last ones with twelve. They are ranked by
delivery, and the intervals say how sure that is. docs/scenario.md explains the format.";

const TRACE_EXAMPLES: &str = "Examples:
  sixlo trace sixlo-results/quick-start               how many arrived, and why the others did not
  sixlo trace sixlo-results/quick-start --list        every datagram with its number and fate
  sixlo trace sixlo-results/quick-start --datagram 17
  sixlo trace sixlo-results/quick-start --node 23 --seq 4
  sixlo trace sixlo-results/quick-start --lost | less -R

A run without a trace is run once more to record it; it is the same to the bit.";

const WATCH_EXAMPLES: &str = "Examples:
  sixlo watch sixlo-results/quick-start                 then open the address that it prints
  sixlo watch sixlo-results/quick-start --seed 2
  sixlo watch sixlo-results/quick-start/runs/NAME       a certain run
  sixlo watch out --web 9000                            at another port
  sixlo watch out --web [::]:8154                       also for other machines: whoever can reach it can look

The page plays what was recorded: frames on the air, what each node held and lost, at any speed, with a slider for the time. A run
without a trace is run once more to record it. docs/watch.md explains the page.";

#[derive(Debug, Parser)]
#[command(name = "sixlo", version, about = ABOUT, after_help = EXAMPLES, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario: all its parameters and seeds, over all cores
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// List the scenarios that ship with the program
    List(ListArgs),
    /// Reproduce a published study: its claims, published and measured
    #[command(after_help = REPRO_EXAMPLES)]
    Repro(ReproArgs),
    /// Compare strategies, windows, congestion control and link retries over a network, and recommend one
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Run a mesh in real time, joined to this host: ping its nodes
    #[cfg(target_os = "linux")]
    #[command(after_help = live::EXAMPLES)]
    Live(live::LiveArgs),
    /// Tell the history of datagrams from the results of a run
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(TraceArgs),
    /// Play a recorded run in the browser: map, frames, tables and plots
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchArgs),
}

#[derive(Clone, Debug, Args)]
struct RunArgs {
    /// A scenario file (TOML), or the name of one that `sixlo list` shows
    scenario: String,
    /// Output folder [default: sixlo-results/NAME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the campaign that the output folder holds
    #[arg(long)]
    force: bool,
    /// Runs at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seeds instead of those of the scenario: `10` for 1 to 10, or a list like `3,5,9-12`
    #[arg(long, value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Option<Seeds>,
}

/// A list of seeds as one argument.
#[derive(Clone, Debug)]
struct Seeds(Vec<u64>);

fn parse_seeds(argument: &str) -> Result<Seeds, String> {
    crate::scenario::seeds::from_argument(argument).map(Seeds)
}

#[derive(Clone, Debug, Args)]
struct ListArgs {
    /// Print the text of this scenario, to start your own from
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
}

#[derive(Clone, Debug, Args)]
struct ReproArgs {
    /// The study; without it they are listed
    study: Option<String>,
    /// Fewer payloads and shorter runs: minutes instead of an hour
    #[arg(long)]
    quick: bool,
    /// Runs at each point at which a claim is decided [default: 10, the least that decides]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: Option<u16>,
    /// Output folder [default: sixlo-results/repro-STUDY, with --quick repro-STUDY-quick]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the campaign that the output folder holds
    #[arg(long)]
    force: bool,
    /// Runs at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A ledger of before (claims.csv): fail if something held by it and holds no longer
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
struct CompareArgs {
    /// A scenario file (TOML) without a sweep: topology, links and traffic of the network
    scenario: String,
    /// Output folder [default: sixlo-results/compare-NAME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the campaign that the output folder holds
    #[arg(long)]
    force: bool,
    /// Runs at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

#[derive(Clone, Debug, Args)]
struct TraceArgs {
    /// The output folder of a campaign, or that of one of its runs
    results: PathBuf,
    /// The datagram with this number
    #[arg(long, value_name = "N", conflicts_with_all = ["node", "seq", "lost", "list"])]
    datagram: Option<u32>,
    /// A datagram of this source (needs --seq)
    #[arg(long, value_name = "K", requires = "seq", conflicts_with_all = ["lost", "list"])]
    node: Option<u16>,
    /// The datagram with this number at its source, counted from 0 (needs --node)
    #[arg(long, value_name = "S", requires = "node")]
    seq: Option<u32>,
    /// Every datagram that was lost; with --list, only these
    #[arg(long)]
    lost: bool,
    /// Only list the datagrams, each with its fate
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Debug, Args)]
struct WatchArgs {
    /// The output folder of a campaign, or that of one of its runs
    results: PathBuf,
    /// The run with this seed [default: the first run that left a trace]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the page is served: a port of this machine, or an address and a port; 0 takes any port that is free
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_address, default_value_t = default_address())]
    web: SocketAddr,
}

/// Why the program ends without having done what was asked.
#[derive(Debug)]
enum Failure {
    Campaign(campaign::Error),
    BadInput(BadInput),
    /// What the operating system does not allow, or has otherwise: a sentence with the remedy.
    #[cfg(target_os = "linux")]
    Refused(String),
    /// Something could not be read or written: what, and why.
    Io(String, io::Error),
    /// Claims that held do not hold any more, a sentence each.
    Claims(Vec<String>),
    /// Nothing more is wanted: who read the output went away.
    BrokenPipe,
}

impl Failure {
    /// An error while writing to standard output.
    fn stdout(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::Io("standard output".to_owned(), error)
        }
    }

    const fn exit_code(&self) -> u8 {
        match self {
            Self::BrokenPipe => EXIT_OK,
            Self::BadInput(_) | Self::Campaign(campaign::Error::BadInput(_)) => EXIT_BAD_INPUT,
            #[cfg(target_os = "linux")]
            Self::Refused(_) => EXIT_BAD_INPUT,
            Self::Campaign(_) | Self::Io(..) | Self::Claims(_) => EXIT_FAILED,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Campaign(error) => error.fmt(f),
            Self::BadInput(bad) => bad.fmt(f),
            #[cfg(target_os = "linux")]
            Self::Refused(sentence) => f.write_str(sentence),
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Claims(lost) => write!(
                f,
                "claims that held do not hold any more:\n  {}",
                lost.join("\n  ")
            ),
            Self::BrokenPipe => f.write_str("the output was closed"),
        }
    }
}

impl From<BadInput> for Failure {
    fn from(bad: BadInput) -> Self {
        Self::BadInput(bad)
    }
}

impl From<campaign::Error> for Failure {
    fn from(error: campaign::Error) -> Self {
        Self::Campaign(error)
    }
}

/// Does what the command line says, and gives the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output, mistakes to standard error; a closed pipe is no mistake.
            let _ = error.print();
            return if error.use_stderr() {
                EXIT_BAD_INPUT
            } else {
                EXIT_OK
            };
        }
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = match cli.command {
        None => run::run(&quick_start(), &mut out),
        Some(Command::Run(args)) => run::run(&args, &mut out),
        Some(Command::List(args)) => list::list(&args, &mut out),
        Some(Command::Repro(args)) => repro::repro(&args, &mut out),
        Some(Command::Compare(args)) => compare::run(&args, &mut out),
        #[cfg(target_os = "linux")]
        Some(Command::Live(args)) => live::live(&args, &mut out),
        Some(Command::Trace(args)) => trace::trace(&args, &mut out),
        Some(Command::Watch(args)) => watch::watch(&args, &mut out),
    };
    match done.and_then(|()| out.flush().map_err(Failure::stdout)) {
        Ok(()) => EXIT_OK,
        Err(failure) => {
            if failure.exit_code() != EXIT_OK {
                // Nobody may be there to read it; the exit code says it too.
                let _ = writeln!(io::stderr(), "error: {failure}");
            }
            failure.exit_code()
        }
    }
}

fn quick_start() -> RunArgs {
    RunArgs {
        scenario: QUICK_START.to_owned(),
        out: None,
        force: false,
        threads: None,
        seeds: None,
    }
}

/// What tells this build of the program from others: a digest of the program itself.
fn build_id() -> Result<String, Failure> {
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.map_err(|error| Failure::Io("the program itself".to_owned(), error))?;
    Ok(Digest::of(&[&program]).to_string())
}
