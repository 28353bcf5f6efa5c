//! From `fixpoint run "…"` typed to the first byte of the first question to a model, in a repository of 5,000 files, and
//! the memory it holds then.
//!
//! `cargo bench -p fixpoint-cli --bench first_request`. The model is a socket on the loopback that never answers; the
//! question holds the repository as a planner sees it. Files are in the system's cache; "first" is a user who never ran
//! it here, "later" one who did. Beside it, in turns, what git alone takes for the two looks that cannot be left out.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::error::Error;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

const FILES: usize = 5000;
const ROUNDS: usize = 25;

fn main() -> Outcome<()> {
    let place = tempfile::tempdir()?;
    let repository = place.path().join("repository");
    make_repository(&repository)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let first = asked(place.path(), "first", &listener, port)?;
    println!("{FILES} files, {ROUNDS} rounds");
    println!("first: {:.1} ms to the first request", first.ms);
    let (mut times, mut held, mut gits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        gits.push(git_alone(&repository)?);
        let asked = asked(place.path(), "first", &listener, port)?;
        times.push(asked.ms);
        held.push(asked.resident_mb);
    }
    let (best, median) = spread(times);
    let (git_best, git_median) = spread(gits);
    println!("later: {median:.1} ms (best {best:.1}); git alone {git_median:.1} ms (best {git_best:.1})");
    println!("resident then: {:.1} MB", spread(held).1);
    Ok(())
}

struct Asked {
    ms: f64,
    resident_mb: f64,
}

/// The least and the median.
fn spread(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let at = |place: usize| numbers.get(place).copied().unwrap_or_default();
    (at(0), at(numbers.len() / 2))
}

fn git(directory: &Path, words: &[&str]) -> Outcome<()> {
    let ended = Command::new("git").args(words).current_dir(directory).stdout(Stdio::null()).status()?;
    if ended.success() { Ok(()) } else { Err(format!("git {words:?}").into()) }
}

fn make_repository(path: &Path) -> Outcome<()> {
    for n in 0..FILES {
        let directory = path.join("src").join((n / 100).to_string());
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(format!("{n}.txt")), format!("line {n}\n").repeat(20))?;
    }
    fs::write(path.join("README.md"), "# Sample\n\nFive thousand files.\n")?;
    fs::write(path.join("AGENTS.md"), "# Rules\n\n- Keep it small.\n")?;
    fs::write(path.join("Makefile"), "test:\n\ttrue\n")?;
    git(path, &["init", "-q"])?;
    git(path, &["add", "-A"])?;
    git(path, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "files"])
}

/// Which files differ from what is checked out, and which files there are.
fn git_alone(repository: &Path) -> Outcome<f64> {
    let began = Instant::now();
    git(repository, &["status", "--porcelain=v2", "-z", "--untracked-files=all"])?;
    git(repository, &["ls-tree", "-r", "-z", "--name-only", "HEAD"])?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Types a goal, waits for the question it leads to, and ends the run there.
fn asked(place: &Path, home: &str, listener: &TcpListener, port: u16) -> Outcome<Asked> {
    let home = place.join(home);
    let settings = home.join(".config/fixpoint");
    fs::create_dir_all(&settings)?;
    let roles = ["planner", "judge", "reflector"].map(|role| format!("  {role}: here/m\n")).concat();
    let endpoints = format!("  endpoints:\n    here: {{ url: \"http://127.0.0.1:{port}/v1\" }}\n");
    fs::write(settings.join("config.yaml"), format!("models:\n{roles}{endpoints}"))?;
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["run", "make the files say two", "--until", "true", "--", "true"])
        .env("HOME", &home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(place.join("repository"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let (mut stream, _) = listener.accept()?;
    stream.read_exact(&mut [0])?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    child.kill()?;
    child.wait()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(Asked { ms, resident_mb: kilobytes / 1024.0 })
}
