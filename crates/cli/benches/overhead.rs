//! What Fixpoint adds to each attempt, beside the bare agent and the bare check, in a repository of 5,000 files; and how
//! long it takes until the first agent starts.
//!
//! `cargo bench -p fixpoint-cli --bench overhead`. Both sides run in the same process, one after the other. To measure
//! another binary, name it in `BENCH_BINARY`.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const FILES: usize = 5000;
const ATTEMPTS: u32 = 20;

/// What the agent does in each attempt. The check never passes with the tests as they were.
struct Workload {
    name: &'static str,
    /// Writes down when it was started, and changes files.
    agent: &'static str,
    /// How often the check runs for each attempt.
    checks: u32,
}

const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "no test changed",
        agent: "date +%s%N >> \"$0.started\"; echo $FIXPOINT_ATTEMPT$1 >> src/0/0.txt",
        checks: 1,
    },
    // It passes with the changed test, so that it also runs in a proof tree.
    Workload {
        name: "a test changed",
        agent: "date +%s%N >> \"$0.started\"; echo $FIXPOINT_ATTEMPT$1 >> src/0/0.txt; \
                echo 0 > tests/expected; echo \"$FIXPOINT_ATTEMPT$1\" >> tests/more",
        checks: 2,
    },
];

const CHECK: &str = "echo '1..2'; echo 'ok 1 - a'; \
     if [ $(cat tests/expected) = 0 ]; then echo 'ok 2 - b'; else echo 'not ok 2 - b'; exit 1; fi";

fn main() -> Outcome<()> {
    println!("{FILES} files, {ATTEMPTS} attempts");
    for workload in WORKLOADS {
        let place = tempfile::tempdir()?;
        make_repository(&place.path().join("repository"))?;
        fs::write(place.path().join("agent.sh"), workload.agent)?;
        // The first run makes the workspaces; that is not what every attempt pays.
        let cold = looping(place.path(), 1)?;
        let warm = looping(place.path(), 1)?;
        let many = looping(place.path(), ATTEMPTS + 1)?;
        let bare = bare(place.path(), &workload)?;
        let each = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(ATTEMPTS);
        let ours = each(many.whole.saturating_sub(warm.whole));
        let bare = each(bare);
        println!("{}: {} attempts were made", workload.name, many.attempts);
        println!("an attempt with its checks: {ours:.0} ms, bare {bare:.0} ms, added {:.0} ms", ours - bare);
        println!(
            "typed until the agent starts: {:.0} ms the first time, {:.0} ms later",
            cold.start_ms, warm.start_ms
        );
        println!("disk of a workspace beyond its files: {} kB", beyond_files(place.path())? / 1000);
    }
    Ok(())
}

fn binary() -> PathBuf {
    std::env::var_os("BENCH_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_fixpoint").into(), PathBuf::from)
}

struct Looped {
    whole: Duration,
    attempts: usize,
    start_ms: f64,
}

fn make_repository(path: &Path) -> Outcome<()> {
    for n in 0..FILES {
        let directory = path.join("src").join((n / 100).to_string());
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(format!("{n}.txt")), format!("line {n}\n").repeat(20))?;
    }
    fs::create_dir_all(path.join("tests"))?;
    fs::write(path.join("tests/expected"), "1\n")?;
    let git = |words: &[&str]| -> Outcome<()> {
        let ended = Command::new("git").args(words).current_dir(path).stdout(Stdio::null()).status()?;
        if ended.success() { Ok(()) } else { Err(format!("git {words:?}").into()) }
    };
    git(&["init", "-q"])?;
    git(&["add", "-A"])?;
    git(&["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "files"])
}

/// A loop of so many attempts, none of which gets anywhere.
fn looping(place: &Path, attempts: u32) -> Outcome<Looped> {
    let agent = place.join("agent.sh");
    let started = place.join("agent.sh.started");
    drop(fs::remove_file(&started));
    let began = Instant::now();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Command::new(binary())
        .args(["loop", "--quiet", "--until", CHECK, "--set", "convergence.enabled=false", "--max-iterations"])
        .arg(attempts.to_string())
        .args(["--", "sh"])
        .arg(&agent)
        .env("HOME", place)
        // The agent writes down when it starts, beside the repository.
        .env("FIXPOINT_SANDBOX", "off")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .current_dir(place.join("repository"))
        .stdout(Stdio::null())
        .status()?;
    let whole = began.elapsed();
    let starts = fs::read_to_string(&started)?;
    let first: f64 = starts.lines().next().unwrap_or_default().parse()?;
    Ok(Looped { whole, attempts: starts.lines().count(), start_ms: first / 1e6 - now.as_secs_f64() * 1e3 })
}

/// The same agent and checks, run by nobody.
fn bare(place: &Path, workload: &Workload) -> Outcome<Duration> {
    let directory = place.join("repository");
    let began = Instant::now();
    for n in 0..ATTEMPTS {
        let agent = place.join("agent.sh");
        Command::new("sh").arg(agent).arg(n.to_string()).current_dir(&directory).status()?;
        for _ in 0..workload.checks {
            Command::new("sh").args(["-c", CHECK]).current_dir(&directory).stdout(Stdio::null()).status()?;
        }
    }
    Ok(began.elapsed())
}

/// What the agent's workspace takes beside the files of the project.
fn beyond_files(place: &Path) -> Outcome<u64> {
    fn size(path: &Path) -> u64 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let of = |entry: fs::DirEntry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        };
        entries.map(of).sum()
    }
    let pools = fs::read_dir(place.join(".cache/fixpoint/slots"))?.flatten();
    let slots = pools.map(|pool| pool.path().join("agent-0")).filter(|slot| slot.is_dir());
    Ok(slots.map(|slot| size(&slot) - size(&slot.join("tree")) + size(&slot.join("tree/.git"))).sum())
}
