//! The outer process: makes the namespaces, and passes on how the program ended.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::ExitCode;

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, getegid, geteuid, getppid, pipe};

use super::{LaunchError, Words, first_process, signals};
use crate::raw::fork;
use crate::spec::{LaunchSpec, Network};

pub(super) fn launch(spec: &LaunchSpec, words: &Words, report: &mut File) -> Result<ExitCode, LaunchError> {
    die_with_parent()?;
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC;
    match spec.network {
        Network::Shared => {}
        Network::None | Network::Loopback | Network::Proxy { .. } => flags |= CloneFlags::CLONE_NEWNET,
    }
    let (user, group) = (geteuid(), getegid());
    unshare(flags).map_err(LaunchError::errno("make namespaces"))?;
    write_map("/proc/self/setgroups", "deny")?;
    write_map("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write_map("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    let (read, write) = pipe().map_err(LaunchError::errno("make a pipe"))?;
    match fork().map_err(LaunchError::system("start a process"))? {
        ForkResult::Child => {
            drop(read);
            let mut end = File::from(write);
            match first_process::run(spec, words, &mut end) {
                Ok(never) => match never {},
                Err(error) => {
                    let _ = write!(report, "{error}");
                    std::process::exit(i32::from(super::NOT_STARTED));
                }
            }
        }
        ForkResult::Parent { child } => {
            drop(write);
            signals::ignore_stops();
            let mut end = Vec::new();
            // Without a message the first process has failed or was killed; its own end tells how.
            let _ = File::from(read).read_to_end(&mut end);
            let status = waitpid(child, None).map_err(LaunchError::errno("wait for the program"))?;
            Ok(signals::end_like(first_process::ProgramEnd::read(&end), status))
        }
    }
}

/// The kernel kills this process when its parent is gone.
pub(super) fn die_with_parent() -> Result<(), LaunchError> {
    let parent = getppid();
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(LaunchError::errno("follow the supervisor"))?;
    if getppid() != parent {
        return Err(LaunchError::Program("the supervisor is gone".to_string()));
    }
    Ok(())
}

fn write_map(file: &str, text: &str) -> Result<(), LaunchError> {
    fs::write(file, text).map_err(LaunchError::system(format!("write {file}")))
}
