//! The guard: the keeper's parent, which ends the tree should the keeper be killed.
//!
//! It decides nothing else and talks to nobody. That it holds the socket open until it ends is how the process that
//! started it knows that the tree is gone.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

use super::KEEPER;
use super::ending::{Ending, Over};
use super::events::{Event, notice_deaths};
use crate::tree;

/// Starts the keeper and waits for its end.
pub(super) fn guard() -> io::Result<Over> {
    tree::rename(c"fxp-guard");
    // A session of its own: the terminal's signals are for the process that started us, which passes on what it
    // means by them.
    setsid()?;
    tree::adopt_orphans()?;
    let keeper = start_keeper()?;
    if ended_well(keeper) {
        return Ok(Over { stragglers: 0, left: 0 });
    }
    let (sender, events) = sync_channel(16);
    notice_deaths(keeper, sender)?;
    let mut ending = Ending::new(keeper, Duration::ZERO);
    ending.kill(Instant::now());
    loop {
        if let Some(over) = ending.over() {
            return Ok(over);
        }
        match events.recv_timeout(ending.wait(Instant::now())) {
            Ok(Event::Childless) => ending.childless(),
            Ok(Event::ProgramEnded(_) | Event::Ordered(_) | Event::ParentGone) => {}
            Err(_) => ending.tick(Instant::now()),
        }
    }
}

fn start_keeper() -> io::Result<Pid> {
    let mut own: Vec<OsString> = std::env::args_os().collect();
    own.push(KEEPER.into());
    let mut own = own.into_iter();
    let mut command = Command::new(tree::this_program()?);
    command.arg0(own.next().unwrap_or_default()).args(own).env_clear();
    let child = command.spawn()?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

/// Whether the keeper ended, and said that nothing is left.
fn ended_well(keeper: Pid) -> bool {
    loop {
        match waitpid(keeper, None) {
            Err(Errno::EINTR) => {}
            status => return status == Ok(WaitStatus::Exited(keeper, 0)),
        }
    }
}
