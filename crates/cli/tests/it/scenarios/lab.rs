//! A scratch repository with its own home, the binary run in it, and what every run must keep to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::unchanged::{Allowed, Picture};
use crate::process::{Ended, TRUST, run};

/// A check that tells in TAP which files below `src` say `ok`.
pub(crate) const CHECK: &str = "\
n=0; status=0
for file in src/*; do
  [ -f \"$file\" ] || continue
  n=$((n + 1))
  if [ \"$(head -n 1 \"$file\")\" = ok ]; then echo \"ok $n - ${file#src/}\"
  else echo \"not ok $n - ${file#src/}\"; sed 's/^/# /' \"$file\"; status=1; fi
done
echo \"1..$n\"
exit $status
";

/// Where the user stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Root,
    Below,
}

/// A repository, and everything the binary may use beside it.
pub(crate) struct Lab {
    directory: TempDir,
    pub(crate) place: Place,
}

/// How a loop ended, as a program sees it.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) json: Value,
    pub(crate) stderr: String,
}

/// Runs a scenario in both places, at the same time: most of it is waiting.
pub(crate) fn both(scenario: impl Fn(&Lab) + Sync) {
    std::thread::scope(|scope| {
        let run = |place| {
            scope.spawn({
                let scenario = &scenario;
                move || scenario(&Lab::new(place))
            })
        };
        let threads = [Place::Root, Place::Below].map(|place| (place, run(place)));
        for (place, thread) in threads {
            if let Err(panic) = thread.join() {
                eprintln!("in this place: {place:?}");
                std::panic::resume_unwind(panic);
            }
        }
    });
}

impl Lab {
    /// A repository with one commit and nothing in it that matters.
    pub(crate) fn new(place: Place) -> Self {
        let lab = Self { directory: tempfile::tempdir().expect("a directory"), place };
        for directory in ["home", "tmp"] {
            fs::create_dir_all(lab.beside(directory)).expect("made");
        }
        fs::create_dir_all(lab.here()).expect("made");
        lab.git(&["init", "-q", "-b", "main", "."]);
        fs::write(lab.root().join("README"), "hello\n").expect("written");
        lab.commit("first");
        lab
    }

    /// Commits [`CHECK`] and files below `src`.
    pub(crate) fn sources(&self, files: &[(&str, &str)]) {
        self.put("check.sh", CHECK);
        for (name, content) in files {
            self.put(&format!("src/{name}"), &format!("{content}\n"));
        }
        self.commit("sources");
    }

    /// Commits a goal that passes once the file `goal` says `ok`, beside what is there.
    pub(crate) fn goal(&self) {
        self.put("goal.sh", "grep -qx ok goal");
        self.put("goal", "not yet\n");
        self.commit("a goal");
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> PathBuf {
        self.beside("repository")
    }

    /// A place outside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where the user stands.
    pub(crate) fn here(&self) -> PathBuf {
        self.root().join(self.prefix())
    }

    /// Where the user stands, seen from the root, with a slash.
    pub(crate) fn prefix(&self) -> &'static str {
        match self.place {
            Place::Root => "",
            Place::Below => "part one/inner/",
        }
    }

    /// A path as the repository names it.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix())
    }

    /// Writes a file where the user stands.
    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = self.here().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }

    /// Writes the project's configuration; committed with the next commit.
    pub(crate) fn configure(&self, content: &str) {
        fs::create_dir_all(self.root().join(".fixpoint")).expect("made");
        fs::write(self.root().join(".fixpoint/config.yaml"), content).expect("written");
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.env_clear().env("PATH", std::env::var_os("PATH").expect("a PATH"));
        git.env("HOME", self.beside("home")).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.root());
        git.args(["-c", "user.name=User", "-c", "user.email=user@example.org"]).args(arguments);
        let ended = run(&mut git, b"");
        assert_eq!(ended.code, 0, "git {arguments:?}: {}", ended.stderr);
        ended.stdout
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// The binary, where the user stands.
    pub(crate) fn binary(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        command.env_clear().env("PATH", std::env::var_os("PATH").expect("a PATH"));
        command.env("HOME", self.beside("home")).env("TMPDIR", self.beside("tmp"));
        // Scripts of the tests leave marks beside the repository.
        command.env("FIXPOINT_SANDBOX", "off");
        for name in ["CONFIG", "STATE", "CACHE", "DATA"] {
            command.env(format!("XDG_{name}_HOME"), self.beside("home").join(name.to_lowercase()));
        }
        for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            let below_home = || {
                let name = format!(".{}", name.trim_end_matches("_HOME").to_lowercase());
                let home = PathBuf::from(std::env::var_os("HOME")?).join(name);
                home.is_dir().then(|| home.into_os_string())
            };
            if let Some(value) = std::env::var_os(name).or_else(below_home) {
                command.env(name, value);
            }
        }
        command.env(TRUST.0, TRUST.1).current_dir(self.here()).args(arguments);
        command
    }

    /// The binary of a user who has trusted nothing yet.
    pub(crate) fn wary(&self, arguments: &[&str]) -> Command {
        let mut command = self.binary(arguments);
        command.env_remove(TRUST.0);
        command
    }

    /// Runs the binary and holds it to leaving the repository alone.
    pub(crate) fn call(&self, arguments: &[&str]) -> Ended {
        self.run(&mut self.binary(arguments), b"")
    }

    /// Runs a prepared command with this input and holds it to leaving the repository alone.
    pub(crate) fn run(&self, command: &mut Command, input: &[u8]) -> Ended {
        let before = Picture::of(&self.root());
        let ended = run(command, input);
        let after = Picture::of(&self.root());
        let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        // What is partly done is delivered as well, and so is what nobody could judge as a whole.
        let is_delivered =
            ["done", "partial", "judge_unavailable"].iter().any(|cause| json["cause"] == *cause);
        let branch = json["run"].as_str().filter(|_| is_delivered);
        let allowed = branch.map_or(Allowed::Nothing, Allowed::Branch);
        assert_eq!(before.differences(&after, allowed), [""; 0], "{command:?}\n{}", ended.stderr);
        ended
    }

    /// Runs the binary and reads the one JSON value it prints.
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let ended = self.call(arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        serde_json::from_str(&ended.stdout).expect("one JSON value")
    }

    /// The agent: a script outside the repository.
    pub(crate) fn agent(&self, script: &str) -> String {
        let path = self.beside("agent.sh");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path.to_string_lossy().into_owned()
    }

    /// A loop until [`CHECK`] passes.
    pub(crate) fn until_checked(&self, agent: &str) -> Outcome {
        self.looping(&["--until", "sh ./check.sh"], agent)
    }

    /// A loop with this script as its agent, and its explanation.
    pub(crate) fn looping(&self, arguments: &[&str], agent: &str) -> Outcome {
        let agent = self.agent(agent);
        let mut whole = vec!["loop", "--json"];
        whole.extend(arguments);
        whole.extend(["--", agent.as_str()]);
        self.outcome(&mut self.binary(&whole), b"")
    }

    /// Resumes the latest run.
    pub(crate) fn resume(&self, arguments: &[&str]) -> Outcome {
        let mut whole = vec!["resume", "--json"];
        whole.extend(arguments);
        self.outcome(&mut self.binary(&whole), b"")
    }

    /// Runs a command that prints a run, and explains that.
    pub(crate) fn outcome(&self, command: &mut Command, input: &[u8]) -> Outcome {
        let Ended { code, stdout, stderr } = self.run(command, input);
        let json =
            serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("no JSON: {code} {stdout}{stderr}"));
        let outcome = Outcome { code, json, stderr };
        self.explained(&outcome);
        outcome
    }

    /// The explanation of the latest run: cause, evidence and next action, on one screen.
    pub(crate) fn explained(&self, outcome: &Outcome) -> String {
        let told = self.call(&["explain"]);
        let lines: Vec<&str> = told.stdout.lines().collect();
        let is_wide = |line: &&str| line.chars().count() > 80;
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(lines.len() <= 24 && !lines.iter().any(is_wide), "no screen:\n{}", told.stdout);
        let cause = outcome.json["cause"].as_str().expect("a cause");
        assert!(told.stdout.contains(&format!("[{cause}]")), "{cause}:\n{}", told.stdout);
        assert!(lines.iter().any(|line| line.starts_with("→ ")), "no next action:\n{}", told.stdout);
        let needs_evidence = !outcome.iterations().is_empty() || cause == "baseline_unusable";
        let has_evidence = lines.iter().any(|line| line.starts_with("  · "));
        assert!(has_evidence || !needs_evidence, "no evidence:\n{}", told.stdout);
        told.stdout
    }

    /// How often a line was written into a file beside the repository.
    pub(crate) fn count(&self, name: &str) -> usize {
        fs::read_to_string(self.beside(name)).map_or(0, |content| content.lines().count())
    }
}

impl Outcome {
    /// Exit code, status and cause.
    pub(crate) fn end(&self) -> (i32, &str, &str) {
        let text = |name: &str| self.json[name].as_str().unwrap_or_default();
        (self.code, text("status"), text("cause"))
    }

    pub(crate) fn iterations(&self) -> &[Value] {
        self.json["iterations"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// What each attempt came to.
    pub(crate) fn progress(&self) -> Vec<&str> {
        self.iterations().iter().map(|line| line["progress"].as_str().unwrap_or_default()).collect()
    }

    pub(crate) fn stages(&self) -> Vec<u64> {
        self.iterations().iter().map(|line| line["stage"].as_u64().unwrap_or_default()).collect()
    }

    /// A list of the last attempt.
    pub(crate) fn last(&self, name: &str) -> Vec<&str> {
        let list = self.iterations().last().and_then(|line| line[name].as_array());
        list.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    /// The fingerprints, or the tests, of what stands in the way after an attempt.
    pub(crate) fn failures(&self, attempt: usize, field: &str) -> Vec<&str> {
        let list = self.iterations().get(attempt - 1).and_then(|line| line["new_failures"].as_array());
        let fields = list.into_iter().flatten().map(|failure| failure[field].as_str().unwrap_or_default());
        fields.collect()
    }

    /// The run's directory.
    pub(crate) fn directory(&self) -> PathBuf {
        PathBuf::from(self.json["directory"].as_str().expect("a directory"))
    }

    pub(crate) fn run(&self) -> &str {
        self.json["run"].as_str().expect("a run")
    }
}

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The processes whose command line or environment holds a mark.
pub(crate) fn processes_with(mark: &str) -> Vec<u32> {
    let holds = |path: &Path| {
        let read = |name: &str| fs::read(path.join(name)).unwrap_or_default();
        [read("cmdline"), read("environ")].iter().any(|text| String::from_utf8_lossy(text).contains(mark))
    };
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse().ok();
    let own = std::process::id();
    entries
        .filter_map(|entry| number(&entry.path()).filter(|id| *id != own && holds(&entry.path())))
        .collect()
}
