//! `sixlo watch`.

use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use sixlo_sim::world::Plan;

use super::stored::Stored;
use super::{Failure, WatchArgs};
use crate::campaign::SCENARIO;
use crate::results::{self, Run};
use crate::scenario::BadInput;
use crate::web::http::{Limits, serve};
use crate::web::replay::Replay;

/// Serves the page that plays a run, until the program is ended.
pub(super) fn watch(args: &WatchArgs, out: &mut impl Write) -> Result<(), Failure> {
    // First what may be wrong: recording a run may take a while.
    let stored = Stored::open(&args.results, args.seed)?;
    let listener = listen(args.web)?;
    let replay = replay(&stored)?;
    let address = listener
        .local_addr()
        .map_err(|error| no_server(args.web, error))?;
    serve(listener, Arc::new(replay), Limits::USUAL).map_err(|error| no_server(args.web, error))?;
    let folder = stored.folder.display();
    writeln!(out, "http://{address}/ plays {folder}; Ctrl-C ends")
        .and_then(|()| out.flush())
        .map_err(Failure::stdout)?;
    loop {
        std::thread::park();
    }
}

/// Takes the place where visitors arrive.
pub(super) fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| no_server(address, error))
}

fn no_server(address: SocketAddr, error: io::Error) -> Failure {
    let what = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine does not have that address".to_owned(),
        io::ErrorKind::PermissionDenied => "only an administrator may listen there".to_owned(),
        _ => error.to_string(),
    };
    BadInput::whole(
        address.to_string(),
        what,
        "name another port with --web, or 0 for any that is free",
    )
    .into()
}

/// Reads the run.
fn replay(stored: &Stored) -> Result<Replay, Failure> {
    let scenario = stored.scenario()?;
    let (Some(point), Some(&seed)) = (scenario.points.first(), scenario.seeds.first()) else {
        return Err(stored.failed("its configuration describes no run"));
    };
    let plan = Plan::new(&point.config, seed).map_err(|problem| stored.failed(problem.to_string()))?;
    let read = |error| Failure::Io(stored.folder.display().to_string(), error);
    let runs: Vec<Run> = results::read_rows(&stored.folder.join(results::RUN)).map_err(read)?;
    let duration_s = runs.first().map_or(0.0, |run| run.simulated_s);
    let trace = stored.trace()?;
    let name = stored.folder.file_name().unwrap_or_default().to_string_lossy();
    // The last word of a run's name is a digest.
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    let title = campaign_title(&stored.folder).unwrap_or_else(|| name.to_owned());
    Replay::open(&trace, &plan, &title, name, (duration_s * 1e6) as u64).map_err(read)
}

/// The title of the campaign that a run belongs to, if its scenario lies where it was stored.
fn campaign_title(run: &Path) -> Option<String> {
    let campaign = run.parent()?.parent()?;
    let text = fs::read_to_string(campaign.join(SCENARIO)).ok()?;
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("title")?.as_str()?.to_owned())
}
