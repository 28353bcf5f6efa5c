//! The demo, as a stranger meets it: it goes as scripted, says so, and leaves nothing behind.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::process::{Ended, fixpoint, run, run_anywhere, skipped};

/// What the demo promises to show.
const ITEMS: [&str; 9] = [
    "clarified",
    "refined",
    "parallel",
    "known",
    "recovered",
    "replanned",
    "reverted",
    "stopped",
    "delivered",
];

/// A machine with a home, a place for temporary files, and nothing but some programs.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn with(programs: &[&str]) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for directory in ["home", "tmp", "bin"] {
            fs::create_dir(root.path().join(directory)).expect("made");
        }
        for program in programs {
            symlink(found(program), root.path().join("bin").join(program)).expect("linked");
        }
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn fixpoint(&self, arguments: &[&str]) -> Command {
        let mut command = fixpoint(&self.path("home"));
        command.env("PATH", self.path("bin")).env("TMPDIR", self.path("tmp")).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        run(&mut self.fixpoint(arguments), b"")
    }

    /// What is in the home and among the temporary files.
    fn left(&self) -> Vec<OsString> {
        let names = |name: &str| {
            let entries = fs::read_dir(self.path(name)).expect("it is there");
            entries.map(|entry| entry.expect("readable").file_name()).collect::<Vec<_>>()
        };
        names("home").into_iter().chain(names("tmp")).collect()
    }
}

fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{program} is needed"))
}

/// The same command where there is no network, if that can be had here.
fn without_network(command: Command) -> Command {
    let is_possible = Command::new("unshare").args(["-rn", "true"]).stderr(Stdio::null()).status();
    if !is_possible.is_ok_and(|status| status.success()) {
        skipped("the network cannot be taken away here");
        return command;
    }
    let mut cut_off = Command::new(found("unshare"));
    cut_off.args(["-rn", "--"]).arg(command.get_program()).args(command.get_args()).env_clear();
    cut_off.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    cut_off.current_dir(command.get_current_dir().expect("it has one"));
    cut_off
}

#[test]
fn it_goes_as_scripted_with_git_and_sh_alone_and_leaves_nothing_behind() {
    let machine = Machine::with(&["git", "sh"]);
    let told = run(&mut without_network(machine.fixpoint(&["demo"])), b"");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(told.stdout.lines().filter(|line| line.starts_with(" ✓")).count(), ITEMS.len(), "{told:?}");
    for word in
        ["SCRIPTED", "$ fixpoint run", "[partial]", "exit code 8", "src/stock/sold.sh", "not_converging"]
    {
        assert!(told.stdout.contains(word), "{word}: {}", told.stdout);
    }
    for word in ["you (scripted): The discount", "inside the noise", "stage 2", "README.md", "stock-reorder"]
    {
        assert!(told.stderr.contains(word), "{word}: {}", told.stderr);
    }
    // The planner that sees no smaller tasks is heard, and asked only once: the other time is for the large task.
    assert_eq!(told.stderr.matches("to split task ").count(), 2, "{}", told.stderr);
    assert!(told.stdout.contains("Not split into smaller tasks: Two tests want"), "{}", told.stdout);
    assert!(!told.stdout.contains(" README.md"), "what was out of scope is not delivered: {}", told.stdout);
    assert_eq!(machine.left(), Vec::<OsString>::new());
}

#[test]
fn kept_it_can_be_looked_at_with_every_command() {
    let machine = Machine::with(&["git", "sh"]);
    let told = machine.run(&["demo", "--keep", "--lang", "ja"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("台本") && told.stderr.contains("計画はまだ提案です"), "{told:?}");
    assert!(
        told.stderr.contains("[discount] 試行1: 同じ失敗、失敗2件"),
        "progress is in Japanese too: {told:?}"
    );
    let left = fs::read_dir(machine.path("tmp")).expect("it is there").next().expect("it is kept");
    let kept = left.expect("readable").path().canonicalize().expect("it is there");
    assert!(told.stdout.contains(&kept.display().to_string()), "{told:?}");
    let look = |arguments: &[&str]| {
        let mut command = machine.fixpoint(arguments);
        let looked = run(command.env("HOME", &kept).current_dir(kept.join("shop")), b"");
        assert_eq!(looked.code, 0, "{arguments:?}: {looked:?}");
        looked.stdout
    };
    assert!(look(&["list"]).contains("partial"));
    assert!(look(&["explain"]).contains("tax"));
    assert!(look(&["diff"]).contains("src/price.sh"));
    assert!(look(&["show"]).contains("stock"));
    assert!(!look(&["replay", "--json"]).is_empty());
    assert_eq!(branches(&kept.join("shop")).len(), 2, "main and the result");
}

fn branches(repository: &Path) -> Vec<String> {
    let mut command = Command::new("git");
    command.current_dir(repository).args(["branch", "--format=%(refname:short)"]);
    let ended = command.output().expect("git starts");
    String::from_utf8(ended.stdout).expect("text").lines().map(ToString::to_string).collect()
}

#[test]
fn in_one_object_for_programs() {
    let machine = Machine::with(&["git", "sh", "sleep"]);
    let told = machine.run(&["demo", "--json", "--quiet"]);
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    let summary: Value = serde_json::from_str(&told.stdout).expect("one object");
    assert_eq!((&summary["as_scripted"], &summary["exit_code_of_run"]), (&true.into(), &8.into()));
    let items: Vec<&str> = summary["items"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|item| item["name"].as_str())
        .collect();
    assert_eq!(items, ITEMS);
    assert_eq!((&summary["run"]["cause"], &summary["kept"]), (&"partial".into(), &Value::Null));
    let run = summary["run"]["run"].as_str().expect("a name");
    assert_eq!(summary["run"]["branch"], format!("fixpoint/{run}"));
    assert_eq!(machine.left(), Vec::<OsString>::new());
}

/// Without `sh` no agent can be started, so nothing goes as scripted.
#[test]
fn what_did_not_happen_is_named_and_is_a_failure() {
    let machine = Machine::with(&["git"]);
    // The agents of the demo are shell scripts; this shell does nothing.
    symlink(found("true"), machine.path("bin").join("sh")).expect("linked");
    let told = machine.run(&["demo"]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.stdout.contains(" ✓ fixpoint history  an unclear goal") && told.stdout.contains(" ✗"),
        "{told:?}"
    );
    assert!(told.stderr.contains("did not go as scripted") && told.stderr.contains("recovered"), "{told:?}");
    assert_eq!(machine.left(), Vec::<OsString>::new());
}

/// Interrupted so many times while agents are at work; the second signal gives the first time to be seen.
fn interrupted(times: usize) {
    let machine = Machine::with(&["git", "sh", "sleep"]);
    let mut command = machine.fixpoint(&["demo"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    assert!(lines.any(|line| line.contains("[discount] started")), "the run is under way");
    kill(pid, Signal::SIGINT).expect("sent");
    if times > 1 {
        assert!(lines.any(|line| line.contains("press Ctrl-C again to stop immediately")));
        // It may be over already, which is as good.
        let _ = kill(pid, Signal::SIGINT);
    }
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(machine.left(), Vec::<OsString>::new());
}

#[test]
fn interrupted_once_it_leaves_nothing_behind() {
    interrupted(1);
}

#[test]
fn interrupted_twice_it_leaves_nothing_behind() {
    interrupted(2);
}

#[test]
fn all_demos_are_listed() {
    let listed = run_anywhere(&["demo", "--list"], b"");
    let names: Vec<&str> = listed.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..3], ["whole", "loop", "decisions"]);
    for name in &names[3..] {
        let told = run_anywhere(&["demo", name], b"");
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{name}");
    }
    let refused = run_anywhere(&["demo", "noise", "--keep"], b"");
    assert!(refused.code == 2 && refused.stderr.contains("--keep"), "{refused:?}");
}
