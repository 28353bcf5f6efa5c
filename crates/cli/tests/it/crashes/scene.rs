//! A repository with an agent and checks made of shell, and the binary started in it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::process::Ended;

/// No part of a test takes longer than this, unless it hangs.
pub(super) const LONG: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(2);

/// Works in small steps, each noted in the ledger after it is on the disk, and starts children that stay.
const AGENT: &str = r#"#!/bin/sh
id="$FIXPOINT_ATTEMPT-$$-$(date +%N)"
steps=5
if [ "$STUBBORN" = "$FIXPOINT_ATTEMPT" ] && [ ! -e "$GATES/stubborn" ]; then
  : >"$GATES/stubborn"
  trap '' TERM PIPE
  steps=60
fi
setsid sleep 300 >/dev/null 2>&1 &
sleep 300 &
mkdir -p notes parts
k=0
while [ $k -lt $steps ]; do
  k=$((k + 1))
  echo "$id $k" >"notes/$id-$k"
  echo "notes/$id-$k" >>"$LEDGER/$id"
  echo "step $k"
  sleep 0.04
done
case "$WAY-$FIXPOINT_ATTEMPT" in
*-1) echo one >parts/1 ;;
short-2) echo two >parts/2; echo three >parts/3 ;;
long-5) echo two >parts/2 ;;
long-6) echo three >parts/3 ;;
esac
while [ -e "$GATES/agent" ]; do : >"$GATES/agent-waits"; sleep 0.02; done
"#;

/// The goal: three parts must be there. It leaves a process in a session of its own.
const GOAL: &str = r#"setsid sleep 300 >/dev/null 2>&1 &
sleep 0.05
while [ -e "$GATES/goal" ]; do : >"$GATES/goal-waits"; sleep 0.02; done
echo 1..4
echo ok 1 - always
code=0
for part in 1 2 3; do
  if [ -f parts/$part ]; then echo "ok $((part + 1)) - part $part"
  else echo "not ok $((part + 1)) - part $part"; code=1; fi
done
exit $code
"#;

/// The guard: one test passes, one is known to fail.
const GUARD: &str = "echo 1..2\necho ok 1 - stays\necho not ok 2 - known\nexit 1\n";

/// A place for one or more runs.
pub(super) struct Scene {
    root: tempfile::TempDir,
    pub(super) mark: String,
    pub(super) state: PathBuf,
    pub(super) cache: PathBuf,
    stubborn: &'static str,
    way: &'static str,
}

/// The binary at work.
pub(super) struct Running {
    pub(super) child: Child,
    output: PathBuf,
}

/// What must be the same whatever happens on the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) cause: Value,
    /// Number, stage and progress of each attempt.
    pub(super) attempts: Vec<(Value, Value, Value)>,
    /// The files of the result but for the notes, which are different ones each time, with their contents.
    pub(super) files: BTreeSet<String>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let mark = format!("crash-{}-{:?}", std::process::id(), root.path().file_name().expect("named"));
        let (state, cache) = (root.path().join("state"), root.path().join("cache"));
        let scene = Self { mark, state, cache, root, stubborn: "never", way: "short" };
        for directory in ["repository/src", "home", "ledger", "gates", "output"] {
            fs::create_dir_all(scene.path(directory)).expect("made");
        }
        scene.write("agent.sh", AGENT);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(scene.path("agent.sh"), executable).expect("executable");
        for (name, content) in [("goal.sh", GOAL), ("guard.sh", GUARD), ("src/a.txt", "a\n")] {
            scene.write(&format!("repository/{name}"), content);
        }
        for words in [
            "init -q -b main",
            "config user.name Crash",
            "config user.email crash@example.invalid",
            "add -A",
            "commit -q -m base",
        ] {
            scene.git(&words.split(' ').collect::<Vec<_>>());
        }
        // Work of the user's that is in no commit.
        scene.write("repository/src/a.txt", "a\nnot committed\n");
        scene.write("repository/untracked.txt", "untracked\n");
        scene
    }

    /// An agent that does not listen to requests to end, and works longer, when this attempt is made first.
    pub(super) fn stubborn_at(mut self, attempt: &'static str) -> Self {
        self.stubborn = attempt;
        self
    }

    /// An agent that gets nowhere for a while, so that the stage rises: six attempts instead of two.
    pub(super) fn long(mut self) -> Self {
        self.way = "long";
        self
    }

    /// The agent, or the goal, waits before its end until the gate is opened.
    pub(super) fn shut(&self, gate: &str) {
        self.write(&format!("gates/{gate}"), "");
    }

    /// Waits until somebody waits at the gate.
    pub(super) fn await_gate(&self, gate: &str) {
        let waits = self.path(&format!("gates/{gate}-waits"));
        wait_for("somebody at the gate", LONG, || waits.exists().then_some(()));
    }

    pub(super) fn open(&self, gate: &str) {
        fs::remove_file(self.path(&format!("gates/{gate}"))).expect("it was shut");
        fs::remove_file(self.path(&format!("gates/{gate}-waits"))).expect("somebody waited");
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("written");
    }

    /// What git says in the user's repository.
    pub(super) fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(words).current_dir(self.repository()).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_OPTIONAL_LOCKS", "0").env("HOME", self.path("home"));
        let ended = git.output().expect("git runs");
        assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// The arguments of `fixpoint loop` with the agent and the checks of this place.
    pub(super) fn looping(&self) -> Vec<String> {
        let agent = self.path("agent.sh").to_string_lossy().into_owned();
        let mut words = vec!["loop", "--json", "--until", "sh goal.sh", "--check", "sh guard.sh"];
        for variable in ["CRASH_MARK", "LEDGER", "GATES", "STUBBORN", "WAY"] {
            words.extend(["--env", variable]);
        }
        words.extend(["--prompt", "make the parts", "--", &agent]);
        words.into_iter().map(ToString::to_string).collect()
    }

    pub(super) fn start<S: AsRef<str>>(&self, words: &[S]) -> Running {
        let output = tempfile::Builder::new().tempfile_in(self.path("output")).expect("a file").keep();
        let output = output.expect("kept").1;
        let errors = output.with_extension("err");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        command.args(words.iter().map(AsRef::as_ref)).current_dir(self.repository()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("home"));
        command.env("XDG_STATE_HOME", &self.state).env("XDG_CACHE_HOME", &self.cache);
        command.env("CRASH_MARK", &self.mark).env("LEDGER", self.path("ledger"));
        command.env("GATES", self.path("gates")).env("FIXPOINT_SANDBOX", "off");
        command.env("STUBBORN", self.stubborn).env("WAY", self.way);
        command.stdin(Stdio::null());
        command.stdout(fs::File::create(&output).expect("made"));
        command.stderr(fs::File::create(&errors).expect("made"));
        Running { child: command.spawn().expect("the binary starts"), output }
    }

    /// Runs the binary to its end.
    pub(super) fn run<S: AsRef<str>>(&self, words: &[S]) -> Ended {
        self.start(words).end()
    }

    /// Runs a loop that ends well, and answers its name.
    pub(super) fn looped(&self) -> String {
        let ended = self.run(&self.looping());
        assert_eq!(ended.code, 0, "{ended:?}");
        name_in(&ended)
    }

    /// The only run there is.
    pub(super) fn only_run(&self) -> String {
        let listed = self.run(&["list", "--json"]).stdout;
        let runs: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(runs.len(), 1, "{listed}");
        runs[0]["run"].as_str().expect("a name").to_string()
    }

    pub(super) fn shown(&self, run: &str) -> Value {
        let ended = self.run(&["show", run, "--json"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        serde_json::from_str(&ended.stdout).expect("JSON")
    }

    pub(super) fn directory(&self, run: &str) -> PathBuf {
        PathBuf::from(self.shown(run)["directory"].as_str().expect("a directory"))
    }

    /// The directory of a run, found without asking the binary.
    pub(super) fn state_of(&self, run: &str) -> PathBuf {
        let mut states = fs::read_dir(self.state.join("fixpoint")).expect("readable").flatten();
        let of_run =
            states.find_map(|state| Some(state.path().join("runs").join(run)).filter(|path| path.is_dir()));
        of_run.expect("a run")
    }

    pub(super) fn outcome(&self, run: &str) -> Outcome {
        let shown = self.shown(run);
        let attempts = shown["iterations"].as_array().expect("a list").iter();
        let of = |one: &Value| (one["n"].clone(), one["stage"].clone(), one["progress"].clone());
        let result = shown["result"].as_str().expect("a result").to_string();
        assert_eq!(self.git(&["rev-parse", &format!("fixpoint/{run}")]).trim(), result);
        let files = self.git(&["ls-tree", "-r", &result]);
        let files = files.lines().filter(|line| !line.contains("\tnotes/")).map(ToString::to_string);
        Outcome {
            cause: shown["cause"].clone(),
            attempts: attempts.map(of).collect(),
            files: files.collect(),
        }
    }

    /// The directory of the slots.
    pub(super) fn pool(&self) -> PathBuf {
        let mut pools = fs::read_dir(self.cache.join("fixpoint/slots")).expect("slots");
        pools.next().expect("one").expect("readable").path()
    }

    /// Waits until the agent has noted so many steps in all.
    pub(super) fn await_steps(&self, steps: usize) {
        wait_for("steps of the agent", LONG, || (self.steps().len() >= steps).then_some(()));
    }

    /// Every step of every agent, as far as it is on the disk for sure.
    pub(super) fn steps(&self) -> Vec<String> {
        let ledgers = fs::read_dir(self.path("ledger")).expect("readable").flatten();
        let texts = ledgers.map(|ledger| fs::read_to_string(ledger.path()).expect("text"));
        texts.flat_map(|text| text.lines().map(ToString::to_string).collect::<Vec<_>>()).collect()
    }
}

impl Running {
    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a number"))
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it is there");
    }

    /// How it ended, if it does within this time. One that was killed has no code: then it is -1.
    pub(super) fn ends_within(&mut self, bound: Duration) -> Option<Ended> {
        let until = Instant::now() + bound;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return Some(self.ended(status.code().unwrap_or(-1)));
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
    }

    pub(super) fn end(mut self) -> Ended {
        self.ends_within(LONG).unwrap_or_else(|| {
            let said = self.ended(0);
            let _ = self.child.kill();
            let _ = self.child.wait();
            panic!("it hangs: {said:?}")
        })
    }

    pub(super) fn kill(mut self) -> Ended {
        let _ = self.child.kill();
        let status = self.child.wait().expect("it is ours");
        self.ended(status.code().unwrap_or(-1))
    }

    fn ended(&self, code: i32) -> Ended {
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("readable")).into_owned();
        Ended { code, stdout: text(&self.output), stderr: text(&self.output.with_extension("err")) }
    }
}

/// The name of the run in what was printed.
pub(super) fn name_in(ended: &Ended) -> String {
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("no JSON: {ended:?}"));
    printed["run"].as_str().expect("a name").to_string()
}

/// Looks again and again until there is an answer.
pub(super) fn wait_for<T>(what: &str, bound: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + bound;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(LOOK);
    }
}
