//! The system calls that no safe crate offers. All unsafe code of Fixpoint is in this file.
#![allow(unsafe_code, reason = "system calls without a safe wrapper; this file has nothing else")]

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::signal::{SigHandler, Signal};
use nix::unistd::ForkResult;

/// Makes a second process of this one. Must be called while there is only one thread.
pub(crate) fn fork() -> io::Result<ForkResult> {
    // SAFETY: the launcher has one thread, so the child may do everything that its parent may.
    Ok(unsafe { nix::unistd::fork() }?)
}

/// Sets what a signal does, to its default or to nothing.
pub(crate) fn set_signal(number: Signal, handler: SigHandler) -> io::Result<()> {
    // SAFETY: the launcher passes no handlers of its own.
    Ok(unsafe { nix::sys::signal::signal(number, handler) }.map(drop)?)
}

/// What is changed about a mount.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attributes {
    set: u64,
    flags: libc::c_int,
}

impl Attributes {
    /// No programs that change the user, and no devices.
    pub(crate) const NONE: Self = Self { set: libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV, flags: 0 };
    pub(crate) const READ_ONLY: Self = Self { set: Self::NONE.set | libc::MOUNT_ATTR_RDONLY, flags: 0 };

    /// For all mounts below, too.
    pub(crate) const fn recursive(self) -> Self {
        Self { flags: self.flags | libc::AT_RECURSIVE, ..self }
    }
}

pub(crate) fn set_attributes(at: &Path, attributes: Attributes) -> io::Result<()> {
    let path = CString::new(at.as_os_str().as_bytes())?;
    let argument = libc::mount_attr { attr_set: attributes.set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: `path` ends with a zero, `argument` lives until the call returns, and its size is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            attributes.flags,
            std::ptr::from_ref(&argument),
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Brings up the loopback interface of this network namespace.
pub(crate) fn bring_up_loopback() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: a structure of numbers and bytes, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (into, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *into = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the descriptor is open, and `request` lives until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
