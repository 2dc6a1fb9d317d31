//! The program `sixlo` as its users meet it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SMALL: &str = r#"
title = "A small one"
seeds = 2
[sweep]
traffic.payload_bytes = [16, 300]
[topology.chain]
nodes = 4
[medium.disc]
interference_range_m = 6.5
frame_error_rate = 0.2
[mac]
max_retries = 1
[[traffic]]
payload_bytes = 8
count = 10
gap_min_ms = 100
gap_max_ms = 300
"#;

/// A folder to work in, removed at the end.
struct Work(PathBuf);

impl Work {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sixlo-cli-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(text: &str) -> Self {
        let work = Self::new();
        fs::write(work.0.join("my.toml"), text).unwrap();
        work
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sixlo"));
        command.args(arguments).current_dir(&self.0);
        command
    }

    fn sixlo(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs it and expects success; gives what it printed.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.sixlo(arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it and expects this exit code; gives what it complained.
    #[track_caller]
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.sixlo(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(output.stdout.is_empty(), "errors belong on standard error");
        message
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(
                    path.strip_prefix(folder).unwrap().to_owned(),
                    fs::read(path).unwrap(),
                );
            }
        }
    }
    found
}

fn stored(out: &Path) -> usize {
    let Ok(runs) = fs::read_dir(out.join("runs")) else {
        return 0;
    };
    let names = runs.filter_map(|run| Some(run.ok()?.file_name().to_string_lossy().into_owned()));
    names.filter(|name| !name.starts_with('.')).count()
}

#[test]
fn help_names_the_commands_and_shows_examples() {
    let work = Work::new();
    let help = work.ok(&["--help"]);
    for part in [
        "run",
        "list",
        "trace",
        "quick start",
        "sixlo run my.toml",
        "Exit codes",
    ] {
        assert!(help.contains(part), "{part}\n{help}");
    }
    for command in ["run", "trace"] {
        assert!(work.ok(&[command, "--help"]).contains("Examples:"));
    }
    assert!(work.ok(&["--version"]).starts_with("sixlo "));
}

#[test]
fn a_wrong_command_line_is_bad_input() {
    let work = Work::new();
    for arguments in [
        &["walk"][..],
        &["run"],
        &["run", "chain", "--threads", "0"],
        &["run", "chain", "--seeds", "5-3"],
        &["trace", "x", "--node", "3"],
        &["trace", "x", "--datagram", "3", "--list"],
    ] {
        work.fails(2, arguments);
    }
    assert!(contents(&work.0).is_empty());
}

#[test]
fn a_run_prints_a_table_and_writes_everything_that_it_names() {
    let work = Work::with(SMALL);
    let printed = work.ok(&["run", "my.toml", "-o", "out"]);
    assert!(printed.starts_with("A small one\n"), "{printed}");
    for part in [
        "PDR",
        "latency median",
        "90th percentile",
        "link retransmissions",
        "lost",
        "Written to out:",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
    let rows = printed
        .lines()
        .filter(|line| line.starts_with("16 ") || line.starts_with("300 "));
    assert_eq!(rows.count(), 2, "{printed}");
    let out = work.path("out");
    for file in [
        "report.html",
        "summary.csv",
        "runs.csv",
        "datagrams.csv",
        "nodes.csv",
        "losses.csv",
        "scenario.toml",
        "manifest.toml",
        "plots/topology.svg",
        "plots/pdr.svg",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    assert_eq!(stored(&out), 4);
    assert_eq!(fs::read_to_string(out.join("scenario.toml")).unwrap(), SMALL);
    let named = printed
        .lines()
        .find(|line| line.contains("capture.pcapng"))
        .unwrap();
    assert!(out.join(named.split_whitespace().next().unwrap()).is_file());
}

#[test]
fn without_output_folder_the_results_are_named_after_the_scenario() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "--seeds", "1"]);
    assert_eq!(stored(&work.path("sixlo-results/my")), 2);
}

#[test]
fn one_and_two_threads_write_the_same_bytes() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "-o", "one", "--threads", "1"]);
    work.ok(&["run", "my.toml", "-o", "two", "--threads", "2"]);
    assert!(contents(&work.path("one")) == contents(&work.path("two")));
}

#[test]
fn bad_input_is_one_message_with_file_line_and_remedy_and_nothing_is_written() {
    let chain = "[topology.chain]\nnodes = 4";
    let twice = "[[topology.nodes]]\n[[topology.nodes]]\nx_m = 3\nshort_address = 1";
    for (piece, by, parts) in [
        (
            "count = 10",
            "cuont = 10",
            &["my.toml:15:1", "unknown key `cuont`", "did you mean `count`?"][..],
        ),
        (
            "gap_min_ms = 100",
            "gap_min_ms = \"0.1 s\"",
            &["my.toml:16:14", "write `gap_min_ms = 100`"],
        ),
        (
            "gap_min_ms = 100",
            "gap_min_s = 0.1",
            &["my.toml:16:1", "write `gap_min_ms`, in milliseconds"],
        ),
        (
            "nodes = 4",
            "nodes = 4\nspacing_m = 50",
            &["my.toml:6:2", "does not reach"],
        ),
        (chain, twice, &["my.toml:9:17", "short_address", "one of its own"]),
        ("300]", "1233]", &["my.toml:5:30", "1233 bytes", "8 to 1232"]),
    ] {
        assert!(SMALL.contains(piece), "{piece}");
        let work = Work::with(&SMALL.replace(piece, by));
        let message = work.fails(2, &["run", "my.toml", "-o", "out"]);
        assert_eq!(message.matches("error:").count(), 1, "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?}\n{message}");
        }
        assert!(!work.path("out").exists());
    }
}

#[test]
fn a_scenario_that_does_not_exist_is_bad_input_and_a_near_name_is_suggested() {
    let work = Work::new();
    assert!(work.fails(2, &["run", "chian"]).contains("did you mean `chain`?"));
    assert!(work.fails(2, &["run", "nothing.toml"]).contains("nothing.toml"));
    assert!(
        work.fails(2, &["list", "--show", "gird"])
            .contains("did you mean `grid`?")
    );
}

#[test]
fn a_foreign_folder_is_never_touched_and_another_campaign_only_with_force() {
    let work = Work::with(SMALL);
    fs::create_dir(work.path("out")).unwrap();
    fs::write(work.path("out/report.html"), "mine").unwrap();
    let message = work.fails(2, &["run", "my.toml", "-o", "out", "--force"]);
    assert!(message.contains("out") && message.contains("-o"), "{message}");
    assert_eq!(contents(&work.path("out")).len(), 1);

    work.ok(&["run", "my.toml", "-o", "other"]);
    let before = contents(&work.path("other"));
    fs::write(work.path("my.toml"), SMALL.replace("count = 10", "count = 5")).unwrap();
    let message = work.fails(2, &["run", "my.toml", "-o", "other"]);
    assert!(message.contains("--force"), "{message}");
    assert!(contents(&work.path("other")) == before);
    work.ok(&["run", "my.toml", "-o", "other", "--force"]);
    assert!(contents(&work.path("other")) != before);
}

#[test]
fn the_same_campaign_again_runs_nothing_and_changes_nothing() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "-o", "out"]);
    let run = fs::read_dir(work.path("out/runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let made = fs::metadata(&run).unwrap().modified().unwrap();
    let before = contents(&work.path("out"));
    work.ok(&["run", "my.toml", "-o", "out"]);
    assert_eq!(fs::metadata(&run).unwrap().modified().unwrap(), made);
    assert!(contents(&work.path("out")) == before);
}

/// A campaign of many runs, each long enough to be caught in the middle.
fn long() -> String {
    SMALL
        .replace("seeds = 2", "seeds = 60")
        .replace("count = 10", "count = 400")
}

/// Starts the long campaign and waits until some runs are stored.
fn start_long(work: &Work) -> std::process::Child {
    let child = work
        .command(&["run", "my.toml", "-o", "out", "--threads", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while stored(&work.path("out")) < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is stored");
        sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_campaign_that_was_killed_is_taken_up_again_and_leaves_the_same_bytes() {
    let work = Work::with(&long());
    let mut child = start_long(&work);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = stored(&work.path("out"));
    assert!(kept < 120, "it was over before it could be killed");
    let run = fs::read_dir(work.path("out/runs"))
        .unwrap()
        .map(|run| run.unwrap().path())
        .find(|run| !run.file_name().unwrap().to_string_lossy().starts_with('.'))
        .unwrap();
    let made = fs::metadata(&run).unwrap().modified().unwrap();
    work.ok(&["run", "my.toml", "-o", "out"]);
    assert_eq!(
        fs::metadata(&run).unwrap().modified().unwrap(),
        made,
        "a finished run was run again"
    );
    assert_eq!(stored(&work.path("out")), 120);
    work.ok(&["run", "my.toml", "-o", "whole"]);
    assert!(contents(&work.path("out")) == contents(&work.path("whole")));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_finished_runs_says_so_and_has_its_own_exit_code() {
    let work = Work::with(&long());
    let mut child = start_long(&work);
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let status = child.wait().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(status.code(), Some(130), "{message}");
    assert!(
        message.contains("interrupted: ") && message.contains(" of 120 runs are stored"),
        "{message}"
    );
    assert!((3..120).contains(&stored(&work.path("out"))));
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_campaign_and_keeps_finished_runs() {
    let work = Work::with(&format!(
        "{}[output]\ntrace = \"none\"\ncapture = \"none\"\n",
        long()
    ));
    fs::create_dir(work.path("disk")).unwrap();
    let mount = |arguments: &[&str]| {
        let output = Command::new(arguments[0])
            .args(&arguments[1..])
            .current_dir(&work.0)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk"]) {
        println!("skipped: a small file system cannot be mounted here (that needs root)");
        return;
    }
    let output = work.sixlo(&["run", "my.toml", "-o", "disk/out"]);
    let kept = stored(&work.path("disk/out"));
    let parts = fs::read_dir(work.path("disk/out/runs"))
        .unwrap()
        .filter(|run| {
            run.as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with('.')
        })
        .count();
    assert!(mount(&["umount", "disk"]));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the disk is full"), "{message}");
    assert!(
        message.contains(&format!("{kept} of 120 runs are stored")),
        "{message}"
    );
    assert!(kept > 0);
    assert_eq!(parts, 0, "what an unfinished run wrote is removed");
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    let work = Work::new();
    let output = work
        .command(&["list"])
        .stdout(fs::OpenOptions::new().write(true).open(full).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let work = Work::with(&SMALL.replace("count = 10", "count = 200"));
    work.ok(&["run", "my.toml", "-o", "out"]);
    let mut child = work
        .command(&["trace", "out", "--lost"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut out = BufReader::with_capacity(64, child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    drop(out);
    assert!(first.starts_with("datagram "), "{first}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Number, source, sequence number and fate of every datagram, from the list.
fn listed(work: &Work) -> Vec<(String, String, String, String)> {
    let list = work.ok(&["trace", "out", "--list"]);
    list.lines()
        .skip(1)
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let word = |at: usize| words[at].to_owned();
            (word(0), word(1), word(2), word(8))
        })
        .collect()
}

#[test]
fn every_datagram_has_a_history_that_ends_in_its_delivery_or_the_reason_of_its_loss() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "-o", "out"]);
    let all = listed(&work);
    assert_eq!(all.len(), 30);
    let lost = all.iter().filter(|(.., fate)| fate != "delivered").count();
    assert!((1..30).contains(&lost), "{lost} lost");
    for (number, source, sequence, fate) in &all {
        let history = work.ok(&["trace", "out", "--datagram", number]);
        let last = history.trim_end().lines().last().unwrap();
        if fate == "delivered" {
            assert!(last.starts_with("= delivered after "), "{last}");
            assert!(history.contains("every byte right"), "{history}");
        } else {
            assert!(last.starts_with(&format!("= lost: {fate}")), "{fate}: {last}");
            assert!(
                history.contains(&format!("nothing carries it any more: lost, {fate}")),
                "{history}"
            );
        }
        assert!(
            history
                .lines()
                .nth(2)
                .unwrap()
                .contains("the application sends it"),
            "{history}"
        );
        let same = work.ok(&["trace", "out", "--node", source, "--seq", sequence]);
        assert_eq!(history, same);
    }
    let histories = work.ok(&["trace", "out", "--lost"]);
    assert_eq!(histories.matches("\n= lost: ").count(), lost);
    let overview = work.ok(&["trace", "out"]);
    assert!(
        overview.contains(&format!("delivered{:>1$}", "", 0)) && overview.contains("30 datagrams in"),
        "{overview}"
    );
    let counts = overview
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    assert_eq!(counts.sum::<usize>(), 30, "{overview}");
}

#[test]
fn a_run_without_trace_is_run_again_to_record_the_same_trace() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "-o", "out"]);
    let trace = contents(&work.path("out"))
        .into_keys()
        .find(|path| path.ends_with("trace.csv"))
        .map(|path| work.path("out").join(path))
        .unwrap();
    let bytes = fs::read(&trace).unwrap();
    let run = trace.parent().unwrap().to_str().unwrap();
    let history = work.ok(&["trace", run, "--datagram", "1"]);
    fs::remove_file(&trace).unwrap();
    assert_eq!(work.ok(&["trace", run, "--datagram", "1"]), history);
    assert!(fs::read(&trace).unwrap() == bytes);
}

#[test]
fn what_holds_no_results_or_not_the_datagram_is_bad_input() {
    let work = Work::with(SMALL);
    assert!(work.fails(2, &["trace", "."]).contains("no results"));
    work.ok(&["run", "my.toml", "-o", "out"]);
    assert!(
        work.fails(2, &["trace", "out", "--datagram", "9999"])
            .contains("no datagram 9999")
    );
    assert!(
        work.fails(2, &["trace", "out", "--node", "1", "--seq", "0"])
            .contains("no datagram 0 of node 1")
    );
}

#[test]
fn the_configuration_of_a_run_repeats_it() {
    let work = Work::with(SMALL);
    work.ok(&["run", "my.toml", "-o", "out"]);
    let runs: Vec<PathBuf> = fs::read_dir(work.path("out/runs"))
        .unwrap()
        .map(|run| run.unwrap().path())
        .collect();
    let config = runs[0].join("config.toml");
    work.ok(&["run", config.to_str().unwrap(), "-o", "again"]);
    let again = fs::read_dir(work.path("again/runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for table in ["run.csv", "datagrams.csv", "nodes.csv", "losses.csv"] {
        assert!(
            fs::read(runs[0].join(table)).unwrap() == fs::read(again.join(table)).unwrap(),
            "{table}"
        );
    }
}

#[test]
fn a_topology_file_travels_with_the_results() {
    let text = SMALL.replace(
        "[topology.chain]\nnodes = 4",
        "[topology.csv]\nfile = \"site.csv\"",
    );
    let work = Work::with(&text);
    fs::write(work.path("site.csv"), "node,x_m,y_m\na,0,0\nb,5,0\nc,10,0\n").unwrap();
    work.ok(&["run", "my.toml", "-o", "out"]);
    fs::remove_file(work.path("site.csv")).unwrap();
    let run = fs::read_dir(work.path("out/runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    work.ok(&["run", run.join("config.toml").to_str().unwrap(), "-o", "again"]);
}

#[test]
fn every_scenario_that_ships_is_listed_with_its_title_and_can_be_shown() {
    let work = Work::new();
    let list = work.ok(&["list"]);
    for shipped in sixlo_lab::cli::shipped::ALL {
        let line = list.lines().find(|line| line.starts_with(shipped.name)).unwrap();
        assert!(line.len() > shipped.name.len() + 5, "no title: {line}");
        assert_eq!(work.ok(&["list", "--show", shipped.name]), shipped.text);
    }
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments")).unwrap();
    let files: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        files.len(),
        sixlo_lab::cli::shipped::ALL.len(),
        "each file in experiments ships"
    );
}
