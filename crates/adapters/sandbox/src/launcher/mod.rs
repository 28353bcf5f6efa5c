//! The launcher: this program, started again between the supervisor and the program that is confined.
//!
//! With namespaces there are three processes:
//!
//! ```text
//! supervisor ──► outer ──► first process of the namespace ──► the program ──► whatever it starts
//! ```
//!
//! The outer one passes on how the program ended. The first process adopts orphans; when it ends, the kernel kills all
//! that is left in the namespace. Each is killed by the kernel when its parent is gone, so that nothing survives the
//! supervisor. With landlock alone there is only one process, which becomes the program.
//!
//! Invariant: the program is never started with less confinement than was asked for. Whatever cannot be set up ends the
//! launcher, with the reason in its report.

mod capabilities;
mod first_process;
mod landlock;
mod loopback;
mod mounts;
mod namespaces;
mod signals;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::spec::{LaunchSpec, Mechanism};

/// The exit code of a launcher that could not start its program.
pub(crate) const NOT_STARTED: u8 = 125;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("cannot {doing}: {source}")]
    System { doing: String, source: std::io::Error },
    #[error("landlock: {0}")]
    Landlock(String),
    #[error("{0}")]
    Program(String),
}

impl LaunchError {
    fn system(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source }
    }

    fn errno(doing: impl Into<String>) -> impl FnOnce(nix::errno::Errno) -> Self {
        let doing = doing.into();
        move |error| Self::System { doing, source: error.into() }
    }
}

/// The program and its arguments.
pub(crate) struct Words(Vec<OsString>);

impl Words {
    /// Becomes the program. Returns only if that is not possible.
    fn become_program(&self, directory: &Path) -> LaunchError {
        let Some((program, arguments)) = self.0.split_first() else {
            return LaunchError::Program("no program is named".to_string());
        };
        let name = program.to_string_lossy();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory);
        let error = command.exec();
        let is = |kind: std::io::ErrorKind| error.kind() == kind;
        let is_there = name.contains('/') && directory.join(program).exists();
        let problem = if is(std::io::ErrorKind::NotFound) && is_there {
            "needs an interpreter that does not exist in the sandbox"
        } else if is(std::io::ErrorKind::NotFound) {
            "was not found in the sandbox"
        } else if is(std::io::ErrorKind::PermissionDenied) {
            "cannot be executed"
        } else {
            "cannot be started"
        };
        LaunchError::Program(format!("`{name}` {problem}: {error}"))
    }
}

/// Confines this process as the file says that its first argument names, and starts the program that the others name. Must
/// be called before anything else, while there is only one thread.
pub fn launcher_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let text = arguments.next().and_then(|file| std::fs::read(file).ok());
    let Some(spec) = text.and_then(|text| serde_json::from_slice::<LaunchSpec>(&text).ok()) else {
        return ExitCode::from(NOT_STARTED);
    };
    // Opened now: it is out of reach afterwards.
    let Ok(mut report) = File::options().write(true).create(true).truncate(true).open(&spec.report) else {
        return ExitCode::from(NOT_STARTED);
    };
    let words = Words(arguments.collect());
    let result = match spec.mechanism {
        Mechanism::Namespaces => namespaces::launch(&spec, &words, &mut report),
        // With capabilities, root could look into other processes.
        Mechanism::Landlock => match capabilities::drop_all().and_then(|()| landlock::confine_files(&spec)) {
            Ok(()) => Err(words.become_program(&spec.directory)),
            Err(error) => Err(error),
        },
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            // If this fails, the reader finds an exit code without a reason.
            let _ = write!(report, "{error}");
            ExitCode::from(NOT_STARTED)
        }
    }
}
