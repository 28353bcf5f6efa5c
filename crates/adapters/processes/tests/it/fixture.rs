//! A temporary directory, and a mark in the environment or arguments of every process of the test, to find them all.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fixpoint_ports::{
    Cancel, Invocation, ProcessError, ProcessExit, ProcessLimits, Processes, Program, Stdin,
};
use fixpoint_processes::SupervisedProcesses;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// Longer than anything takes on a slow machine; a test that hangs fails after this.
pub(crate) const LONG: Duration = Duration::from_secs(60);

static FIXTURES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Fixture {
    pub(crate) mark: String,
    pub(crate) directory: TempDir,
    pub(crate) processes: SupervisedProcesses,
}

pub(crate) fn test_program() -> &'static str {
    env!("CARGO_BIN_EXE_fixpoint-processes-test-program")
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let mark = format!("fixture-{}-{}-", std::process::id(), FIXTURES.fetch_add(1, Ordering::Relaxed));
        let command: [OsString; 3] = [test_program().into(), "supervise".into(), mark.clone().into()];
        let processes = SupervisedProcesses::new(command.to_vec());
        Self { mark, directory: tempfile::tempdir().unwrap(), processes }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn invocation(&self, program: Program) -> Invocation {
        Invocation {
            access: fixpoint_ports::FileAccess::default(),
            program,
            directory: self.directory.path().to_path_buf(),
            environment: vec![
                ("MARK".into(), self.mark.clone().into()),
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ],
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: LONG,
                silence: None,
                grace: Duration::from_millis(300),
                kept_output: 1 << 20,
            },
            output: self.file("output"),
        }
    }

    pub(crate) fn shell(&self, line: &str) -> Invocation {
        self.invocation(Program::Shell(line.to_string()))
    }

    pub(crate) fn direct(&self, program: &str, arguments: &[&str]) -> Invocation {
        let arguments = arguments.iter().map(OsString::from).collect();
        self.invocation(Program::Direct { program: program.into(), arguments })
    }

    pub(crate) fn run(&self, invocation: &Invocation) -> ProcessExit {
        self.processes.run(invocation, &Cancel::default(), &mut |_| {}).unwrap()
    }

    /// Runs a program, and calls `then` once when it has written something.
    pub(crate) fn run_and(
        &self,
        invocation: &Invocation,
        then: impl FnOnce(&Cancel),
    ) -> Result<ProcessExit, ProcessError> {
        let cancel = Cancel::default();
        let mut then = Some(then);
        self.processes.run(invocation, &cancel, &mut |_| {
            if let Some(then) = then.take() {
                then(&cancel);
            }
        })
    }

    pub(crate) fn output(&self) -> String {
        String::from_utf8(fs::read(self.file("output")).unwrap()).unwrap()
    }

    /// Every process with the mark in its environment or its arguments, with its name.
    pub(crate) fn running(&self) -> Vec<(i32, String)> {
        let has_mark = |path: String| {
            let content = fs::read(path).unwrap_or_default();
            content.windows(self.mark.len()).any(|window| window == self.mark.as_bytes())
        };
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| {
            has_mark(format!("/proc/{pid}/environ")) || has_mark(format!("/proc/{pid}/cmdline"))
        })
        .map(|pid| (pid, fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default()))
        .map(|(pid, name)| (pid, name.trim_end().to_string()))
        .collect()
    }

    /// The process of this test with this name.
    pub(crate) fn find(&self, name: &str) -> Pid {
        let running = self.running();
        let found = running.iter().find(|(_, other)| other == name);
        Pid::from_raw(found.unwrap_or_else(|| panic!("no {name} among {running:?}")).0)
    }

    pub(crate) fn kill(&self, name: &str) {
        kill(self.find(name), Signal::SIGKILL).unwrap();
    }

    /// Waits until no process of this test is left, and returns how long that took.
    pub(crate) fn wait_until_empty(&self) -> Duration {
        let started = Instant::now();
        wait_until(|| self.running().is_empty(), || format!("still running: {:?}", self.running()));
        started.elapsed()
    }
}

#[track_caller]
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool, message: impl Fn() -> String) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "{}", message());
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let running = self.running();
        for (pid, _) in &running {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        if !std::thread::panicking() {
            assert_eq!(running, [], "no process is left");
        }
    }
}
