//! A user with secrets, work and running programs, and a program that is confined there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_ports::{
    Cancel, CapturedOutput, ExitCause, FileAccess, Invocation, ProcessError, ProcessExit, ProcessLimits,
    Processes, Program, Purpose, Stdin,
};
use fixpoint_sandbox::{ConfinedProcesses, Layers, Mechanism, NetworkAccess, SandboxPolicy};

/// Is in every file that nobody may read, and in the environment of a running program.
pub(crate) const SECRET: &str = "top-secret-4711";

/// Files of the user, all with the secret in them.
const FILES: [&str; 24] = [
    "home/.ssh/id_rsa",
    "home/.netrc",
    "home/.bashrc",
    "home/.profile",
    "home/.bash_history",
    "home/.aws/credentials",
    "home/.config/gh/hosts.yml",
    "home/.config/google-chrome/Default/Cookies",
    "home/.mozilla/firefox/x/logins.json",
    "home/.local/share/keyrings/login.keyring",
    "home/.gnupg/secring.gpg",
    "home/.kube/config",
    "home/.docker/config.json",
    "home/.npmrc",
    "home/.pypirc",
    "home/.git-credentials",
    "home/.cargo/credentials.toml",
    "home/.claude/projects/other/session.jsonl",
    "home/.codex/sessions/2026/rollout.jsonl",
    "home/notes.txt",
    "repo/main.py",
    "repo/.git/hooks/pre-commit",
    "state/runs/other/journal",
    "cache/slots/other/tree/file",
];

pub(crate) struct World {
    pub(crate) root: PathBuf,
    _directory: tempfile::TempDir,
    victim: Child,
    server: TcpListener,
    socket: UnixListener,
    pub(crate) mechanism: Mechanism,
    pub(crate) network: NetworkAccess,
    user: Option<u32>,
}

impl World {
    /// `None` where this mechanism does not work, or Python is not there.
    pub(crate) fn new(mechanism: Mechanism, user: Option<u32>) -> Option<Self> {
        let world = Self::made(mechanism, user);
        let line = if user.is_some() { "cat file" } else { "python3 -c ''" };
        let (exit, output) = world.run(Purpose::Check, line);
        if exit.cause == ExitCause::Exited(0) {
            return Some(world);
        }
        let why = format!("{mechanism:?} or python3 does not work here: {:?} {output}", exit.cause);
        assert!(std::env::var_os("NO_SKIPPED_TESTS").is_none(), "{why}");
        println!("SKIPPED: {why}");
        None
    }

    fn made(mechanism: Mechanism, user: Option<u32>) -> Self {
        // An ordinary user cannot reach a world that lies in root's home; one below a directory of the system must be
        // hidden too.
        let place = if user.is_some() { "/opt" } else { "/var/tmp" };
        let directory = tempfile::Builder::new().prefix("world-").tempdir_in(place).expect("a directory");
        // Other tests have worlds beside this one, in a directory that can be read.
        let root = directory.path().canonicalize().expect("a path").join("world");
        fs::create_dir(&root).expect("a directory");
        for file in FILES {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, format!("{SECRET}\n")).expect("a file");
        }
        for directory in ["repo/.git/objects", "home/.cargo/registry", "slot", "cache/sandbox", "bin"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        fs::write(root.join("home/.cargo/registry/crate"), "public\n").expect("a file");
        fs::write(root.join("repo/.git/config"), "[core]\n").expect("a file");
        fs::write(root.join("slot/file"), "work\n").expect("a file");
        let launcher = root.join("bin/launcher");
        fs::copy(env!("CARGO_BIN_EXE_fixpoint-sandbox-test-program"), &launcher).expect("the launcher");
        if let Some(user) = user {
            let owned =
                Command::new("chown").arg("-R").arg(format!("{user}:{user}")).arg(directory.path()).status();
            assert!(owned.expect("chown").success());
        }
        let mut victim = as_user(user, "sleep");
        let victim = victim.arg("600").env("VICTIM_KEY", SECRET).spawn().expect("a victim");
        let server = TcpListener::bind("127.0.0.1:0").expect("a server");
        server.set_nonblocking(true).expect("a server");
        let socket = UnixListener::bind(root.join("home/agent.sock")).expect("a socket");
        socket.set_nonblocking(true).expect("a socket");
        Self {
            root,
            _directory: directory,
            victim,
            server,
            socket,
            mechanism,
            network: NetworkAccess::On,
            user,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.local_addr().expect("an address").port()
    }

    pub(crate) fn victim(&self) -> u32 {
        self.victim.id()
    }

    /// Whether anything connected to one of the user's services.
    pub(crate) fn was_reached(&self) -> bool {
        self.server.accept().is_ok() || self.socket.accept().is_ok()
    }

    pub(crate) fn is_victim_alive(&mut self) -> bool {
        matches!(self.victim.try_wait(), Ok(None))
    }

    /// All files but the workspace, with their content.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).expect("a directory").flatten() {
                let path = entry.path();
                let kind = entry.file_type().expect("a type");
                if path == self.root.join("slot") || path == self.root.join("cache/sandbox") {
                } else if kind.is_dir() {
                    found.insert(path.clone(), Vec::new());
                    directories.push(path);
                } else if kind.is_symlink() {
                    found.insert(path.clone(), b"link".to_vec());
                } else if kind.is_file() {
                    found.insert(path.clone(), fs::read(&path).unwrap_or_default());
                }
            }
        }
        found
    }

    pub(crate) fn processes(&self) -> ConfinedProcesses {
        ConfinedProcesses {
            inner: Arc::new(PlainProcesses { user: self.user }),
            launcher: vec![self.root.join("bin/launcher").into_os_string()],
            policy: SandboxPolicy {
                home: Some(self.root.join("home")),
                working_tree: Some(self.root.join("repo")),
                objects: vec![self.root.join("repo/.git/objects")],
                protected: vec![self.root.join("state"), self.root.join("cache")],
                agent: "claude".to_string(),
                ..SandboxPolicy::default()
            },
            mechanism: self.mechanism,
            layers: if self.mechanism == Mechanism::Namespaces { Layers::Available } else { Layers::Missing },
            network: self.network,
            scratch: self.root.join("cache/sandbox"),
        }
    }

    pub(crate) fn run(&self, purpose: Purpose, line: &str) -> (ProcessExit, String) {
        self.run_with(&self.processes(), purpose, line)
    }

    pub(crate) fn run_with(
        &self,
        processes: &dyn Processes,
        purpose: Purpose,
        line: &str,
    ) -> (ProcessExit, String) {
        let mut printed = Vec::new();
        let exit = processes.run(&self.invocation(purpose, line), &Cancel::default(), &mut |bytes| {
            printed.extend_from_slice(bytes);
        });
        (exit.expect("it ran"), String::from_utf8_lossy(&printed).into_owned())
    }

    pub(crate) fn invocation(&self, purpose: Purpose, line: &str) -> Invocation {
        // An ordinary user does not have root's tools.
        let usual = || OsString::from("/usr/local/bin:/usr/bin:/bin");
        let path = self.user.map_or_else(|| std::env::var_os("PATH").expect("a PATH"), |_| usual());
        let variables: [(&str, OsString); 6] = [
            ("PATH", path),
            ("HOME", self.root.join("home").into_os_string()),
            ("ROOT", self.root.clone().into_os_string()),
            ("PORT", self.port().to_string().into()),
            ("VICTIM", self.victim().to_string().into()),
            ("LC_ALL", "C".into()),
        ];
        Invocation {
            program: Program::Shell(line.to_string()),
            access: FileAccess { purpose, writable: vec![self.root.join("slot")], ..FileAccess::default() },
            directory: self.root.join("slot"),
            environment: variables.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: Duration::from_secs(60),
                silence: None,
                grace: Duration::from_secs(1),
                kept_output: 1 << 20,
            },
            output: self.root.join("output"),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn as_user(user: Option<u32>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    match user {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("setpriv");
            let group = format!("--regid={user}");
            command.arg(format!("--reuid={user}")).arg(group).arg("--clear-groups").arg("--").arg(program);
            command
        }
    }
}

/// Programs without a supervisor.
#[derive(Debug)]
struct PlainProcesses {
    user: Option<u32>,
}

impl Processes for PlainProcesses {
    fn run(
        &self,
        invocation: &Invocation,
        _: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let began = Instant::now();
        let Program::Direct { program, arguments } = &invocation.program else { panic!("no launcher") };
        if let Some(user) = self.user {
            // Whoever starts the launcher made these directories, which is root in a test.
            let private = Path::new(&arguments[0]).parent().expect("a directory");
            let owned = Command::new("chown").arg("-R").arg(format!("{user}:{user}")).arg(private).status();
            assert!(owned.expect("chown").success());
        }
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = as_user(self.user, program);
        command.args(arguments).env_clear().envs(invocation.environment.iter().cloned());
        command.current_dir(&invocation.directory).stdin(Stdio::null());
        command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
        let mut child = command.spawn().expect("the launcher");
        drop(command);
        let mut output = Vec::new();
        reader.read_to_end(&mut output).expect("the output");
        progress(&output);
        let status = child.wait().expect("its end");
        let cause = match (status.code(), std::os::unix::process::ExitStatusExt::signal(&status)) {
            (Some(code), _) => ExitCause::Exited(code),
            (None, signal) => ExitCause::Signalled(signal.unwrap_or_default()),
        };
        let output = CapturedOutput { path: invocation.output.clone(), written: 0, omitted: 0 };
        Ok(ProcessExit { cause, duration: began.elapsed(), output, stragglers: 0, refused: Vec::new() })
    }
}

/// Whether this process may become another user.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0)
        && Path::new("/usr/bin/setpriv").exists()
}
