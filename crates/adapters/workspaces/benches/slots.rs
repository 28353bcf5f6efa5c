//! Slots and their commits compared with the git commands they replace, as ratios: `cargo bench -p fixpoint-workspaces`.
//!
//! Both sides do the same work on the same files, in turns, so that the load of the machine affects both alike. The
//! medians are compared.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, CommitId, Slot, SlotLeftovers, SlotPurpose, SlotRequest, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

type BenchResult<T> = Result<T, Box<dyn Error>>;

fn git(directory: &Path, arguments: &[&str]) -> BenchResult<String> {
    let output = Command::new("git").args(arguments).current_dir(directory).output()?;
    if !output.status.success() {
        return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_string())
}

/// A repository with this many files of some hundred bytes, 50 in each directory.
fn repository(place: &Path, files: usize) -> BenchResult<PathBuf> {
    let user = place.join("user");
    fs::create_dir_all(&user)?;
    git(&user, &["init", "-q"])?;
    git(&user, &["config", "user.name", "bench"])?;
    git(&user, &["config", "user.email", "bench@localhost"])?;
    git(&user, &["config", "gc.auto", "0"])?;
    for number in 0..files {
        let directory = user.join(format!("d{}/e{}", number / 2500, number / 50 % 50));
        if number % 50 == 0 {
            fs::create_dir_all(&directory)?;
        }
        fs::write(directory.join(format!("f{number}")), format!("file {number}\n").repeat(30))?;
    }
    fs::write(user.join(".gitignore"), "target/\n")?;
    git(&user, &["add", "-A"])?;
    git(&user, &["commit", "-q", "-m", "first"])?;
    git(&user, &["repack", "-adq"])?;
    Ok(user)
}

/// A slot for an agent whose work can be recovered.
fn acquire(workspaces: &GitWorkspaces, at: &CommitId) -> BenchResult<Box<dyn Slot>> {
    let request = SlotRequest {
        purpose: SlotPurpose::Agent,
        at,
        recover_as: Some("unfinished"),
        leftovers: SlotLeftovers::Kept,
    };
    Ok(workspaces.acquire(&request, &Cancel::default())?)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Acquires a slot and leaves nothing to recover.
fn abandoned(workspaces: &GitWorkspaces, at: &CommitId) -> BenchResult<()> {
    acquire(workspaces, at)?.abandon();
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> BenchResult<T>) -> BenchResult<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn report(what: &str, ours: Vec<Duration>, theirs: Vec<Duration>) -> BenchResult<()> {
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    writeln!(std::io::stdout(), "{what}: {ours:.1?} compared with {theirs:.1?}, ratio {ratio:.2}")?;
    Ok(())
}

/// A slot of 5,000 files is switched to a commit in which 20 files differ, compared with `git checkout`.
fn slot_at_another_commit(rounds: usize) -> BenchResult<()> {
    let place = tempfile::tempdir()?;
    let user = repository(place.path(), 5_000)?;
    let first = CommitId(git(&user, &["rev-parse", "HEAD"])?);
    for number in 0..20 {
        let number = number * 250;
        let path = user.join(format!("d{}/e{}/f{number}", number / 2500, number / 50 % 50));
        fs::write(path, "changed\n".repeat(20))?;
    }
    git(&user, &["commit", "-q", "-a", "-m", "second"])?;
    let second = CommitId(git(&user, &["rev-parse", "HEAD"])?);
    let beside = place.path().join("beside");
    git(place.path(), &["clone", "-q", "--shared", "user", "beside"])?;
    let workspaces = GitWorkspaces::open(&user, &place.path().join("slots"), WorkspaceOptions::default())?;
    let cold = timed(|| abandoned(&workspaces, &first))?;
    let slot = workspaces.pool().join("agent-0/tree");
    for tree in [&slot, &beside] {
        fs::create_dir_all(tree.join("target/cache"))?;
        for number in 0..500 {
            fs::write(tree.join(format!("target/cache/{number}")), "x")?;
        }
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let at = if round % 2 == 0 { &second } else { &first };
        ours.push(timed(|| abandoned(&workspaces, at))?);
        theirs.push(timed(|| git(&beside, &["checkout", "-q", "--detach", &at.0]))?);
    }
    writeln!(std::io::stdout(), "a new slot of 5,000 files: {cold:.1?}")?;
    report("F: slot of 5,000 files, 20 differ, and git checkout", ours, theirs)
}

/// A commit of a slot in which one file has changed, compared with git commands that find the change.
fn commit(files: usize, rounds: usize) -> BenchResult<()> {
    let place = tempfile::tempdir()?;
    let user = repository(place.path(), files)?;
    let workspaces = GitWorkspaces::open(&user, &place.path().join("slots"), WorkspaceOptions::default())?;
    let base = workspaces.snapshot("base")?.commit;
    let mut slot = acquire(&workspaces, &base)?;
    let directory = slot.directory().to_path_buf();
    // Git compares the content of files that are as old as the index.
    std::thread::sleep(Duration::from_millis(1100));
    git(&directory, &["status", "--porcelain"])?;
    slot.commit("warm", "warm")?;
    let (mut ours, mut status, mut add) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        fs::write(directory.join("d0/e0/f0"), format!("round {round}\n"))?;
        let reference = format!("taken-{}", ours.len());
        ours.push(timed(|| Ok(slot.commit(&reference, "message")?))?);
        status.push(timed(|| git(&directory, &["status", "--porcelain"]))?);
        add.push(timed(|| git(&directory, &["add", "-A"]).and_then(|_| git(&directory, &["write-tree"])))?);
    }
    report(&format!("I: commit of {files} files, 1 changed, and git status"), ours.clone(), status)?;
    report(&format!("I: commit of {files} files, 1 changed, and git add -A && git write-tree"), ours, add)?;
    let mut snapshots = Vec::new();
    let mut commands = Vec::new();
    for round in 0..rounds {
        fs::write(user.join("d0/e0/f0"), format!("round {round}\n"))?;
        snapshots.push(timed(|| Ok(workspaces.snapshot("snapshot")?))?);
        commands.push(timed(|| git(&user, &["status", "--porcelain"]))?);
    }
    report(&format!("snapshot of {files} files, 1 changed, and git status"), snapshots, commands)
}

fn main() -> BenchResult<()> {
    slot_at_another_commit(41)?;
    commit(5_000, 21)?;
    commit(100_000, 7)
}
