//! The file system of a confined program: a new root with nothing in it but what is mounted.
//!
//! Invariant: nothing is created or mounted through a symbolic link, since some directories that are mounted were written by
//! earlier confined programs.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::LaunchError;
use crate::raw::{Attributes, set_attributes};
use crate::spec::{LaunchSpec, Lower, Mount};

/// Room for the skeleton of directories.
const ROOT_OPTIONS: &str = "size=16m,nr_inodes=65536,mode=755";
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Builds the file system and makes it the root of this process.
pub(super) fn build(spec: &LaunchSpec) -> Result<(), LaunchError> {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(LaunchError::errno("separate the mounts"))?;
    let root = Root { path: &spec.root };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), root.path, Some("tmpfs"), flags, Some(ROOT_OPTIONS))
        .map_err(LaunchError::errno("mount the new root"))?;
    root.processes()?;
    root.devices()?;
    for place in &spec.mounts {
        root.add(place)?;
    }
    chdir(root.path).map_err(LaunchError::errno("enter the new root"))?;
    pivot_root(".", ".").map_err(LaunchError::errno("change the root"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(LaunchError::errno("leave the old root"))?;
    chdir("/").map_err(LaunchError::errno("enter the new root"))?;
    set_attributes(Path::new("/"), Attributes::READ_ONLY).map_err(LaunchError::system("protect the new root"))
}

struct Root<'a> {
    path: &'a Path,
}

impl Root<'_> {
    /// A path as it is called outside, before it becomes the root.
    fn outside(&self, at: &Path) -> PathBuf {
        self.path.join(at.strip_prefix("/").unwrap_or(at))
    }

    fn add(&self, place: &Mount) -> Result<(), LaunchError> {
        match place {
            Mount::ReadOnly { at, from } => self.bind(at, from, Attributes::READ_ONLY),
            Mount::ReadWrite { at, from } => self.bind(at, from, Attributes::NONE),
            Mount::Layered { at, lower, upper, work } => self.layered(at, lower, upper, work),
            Mount::Hidden { at } => self.hide(at),
            Mount::Link { at, to } => {
                let target = self.outside(at);
                std::os::unix::fs::symlink(to, &target).map_err(LaunchError::system(doing("link", at)))
            }
        }
    }

    fn bind(&self, at: &Path, from: &Path, attributes: Attributes) -> Result<(), LaunchError> {
        let target = self.mount_point(at, from.is_dir())?;
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(from), &target, None::<&str>, flags, None::<&str>)
            .map_err(LaunchError::errno(doing("mount", at)))?;
        set_attributes(&target, attributes.recursive()).map_err(LaunchError::system(doing("protect", at)))
    }

    fn layered(&self, at: &Path, lower: &[Lower], upper: &Path, work: &Path) -> Result<(), LaunchError> {
        let target = self.mount_point(at, true)?;
        let lower: Vec<Vec<u8>> = lower.iter().map(|layer| escaped(&layer.0)).collect();
        let mut options = b"userxattr,lowerdir=".to_vec();
        options.extend(lower.join(&b':'));
        for (name, path) in [(",upperdir=", upper), (",workdir=", work)] {
            options.extend_from_slice(name.as_bytes());
            options.extend(escaped(path));
        }
        let options = OsString::from_vec(options);
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("overlay"), &target, Some("overlay"), flags, Some(options.as_os_str()))
            .map_err(LaunchError::errno(doing("mount layers on", at)))
    }

    fn hide(&self, at: &Path) -> Result<(), LaunchError> {
        let target = self.outside(at);
        let Ok(found) = fs::symlink_metadata(&target) else { return Ok(()) };
        if found.is_dir() {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_RDONLY;
            mount(Some("tmpfs"), &target, Some("tmpfs"), flags, Some("size=4k,mode=755"))
                .map_err(LaunchError::errno(doing("hide", at)))
        } else if found.is_symlink() {
            // What it leads to is hidden or not by itself.
            Ok(())
        } else {
            let empty = self.path.join("dev/null");
            mount(Some(&empty), &target, None::<&str>, MsFlags::MS_BIND, None::<&str>)
                .map_err(LaunchError::errno(doing("hide", at)))?;
            set_attributes(&target, Attributes::READ_ONLY).map_err(LaunchError::system(doing("hide", at)))
        }
    }

    fn processes(&self) -> Result<(), LaunchError> {
        let target = self.mount_point(Path::new("/proc"), true)?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(Some("proc"), &target, Some("proc"), flags, None::<&str>)
            .map_err(LaunchError::errno("mount /proc"))
    }

    fn devices(&self) -> Result<(), LaunchError> {
        let dev = self.mount_point(Path::new("/dev"), true)?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
        mount(Some("tmpfs"), &dev, Some("tmpfs"), flags, Some("size=64k,mode=755"))
            .map_err(LaunchError::errno("mount /dev"))?;
        for name in DEVICES {
            let from = Path::new("/dev").join(name);
            if from.exists() {
                let target = self.mount_point(&from, false)?;
                mount(Some(&from), &target, None::<&str>, MsFlags::MS_BIND, None::<&str>)
                    .map_err(LaunchError::errno(doing("mount", &from)))?;
            }
        }
        for (name, to) in LINKS {
            std::os::unix::fs::symlink(to, dev.join(name)).map_err(LaunchError::system("fill /dev"))?;
        }
        let nosuid = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
        let terminals = self.mount_point(Path::new("/dev/pts"), true)?;
        // A program that needs a terminal of its own says so itself.
        let _ = mount(
            Some("devpts"),
            &terminals,
            Some("devpts"),
            nosuid,
            Some("newinstance,ptmxmode=0666,mode=620"),
        );
        let shared = self.mount_point(Path::new("/dev/shm"), true)?;
        mount(Some("tmpfs"), &shared, Some("tmpfs"), nosuid | MsFlags::MS_NODEV, Some("mode=1777"))
            .map_err(LaunchError::errno("mount /dev/shm"))
    }

    /// An empty directory or file to mount on, made where nothing is.
    fn mount_point(&self, at: &Path, is_directory: bool) -> Result<PathBuf, LaunchError> {
        let mut path = self.path.to_path_buf();
        let parts: Vec<Component<'_>> =
            at.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        for (index, part) in parts.iter().enumerate() {
            path.push(part);
            let is_last = index + 1 == parts.len();
            make(&path, is_directory || !is_last).map_err(LaunchError::system(doing("make", at)))?;
        }
        Ok(path)
    }
}

/// Makes a directory or an empty file unless it is there. A link is replaced: only confined programs leave one here.
fn make(path: &Path, is_directory: bool) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() && is_directory => return Ok(()),
        Ok(found) if found.is_file() && !is_directory => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if is_directory { fs::create_dir(path) } else { fs::File::create_new(path).map(drop) }
}

fn doing(what: &str, at: &Path) -> String {
    format!("{what} {}", at.display())
}

/// A path in the options of an overlay, where colons and commas separate.
fn escaped(path: &Path) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b':' | b',' | b'\\') {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}
