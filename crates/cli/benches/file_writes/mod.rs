//! Counts the files that processes write below a directory while they run, without tracing them.
//!
//! inotify reports every file that is closed after it was open for writing. A directory made while we count is watched a
//! moment later, and what was written in it before is found by listing it at the end: such a file counts once. So the
//! count can be too small by the rewrites that happen within that moment, and is never too large.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};
use std::os::fd::AsFd;

/// How long the end of the counting may be noticed late, in milliseconds.
const POLL_MS: u16 = 20;

/// A count that goes on.
pub(crate) struct Counting {
    root: PathBuf,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Watcher, Errno>>,
}

impl Counting {
    /// Counts what is written below a directory, which must exist.
    pub(crate) fn start(root: &Path) -> Result<Self, Errno> {
        let mut watcher = Watcher::new()?;
        watcher.watch(root)?;
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                // What came in before the stop is read after it.
                while !stop.load(Ordering::Acquire) {
                    watcher.wait()?;
                    watcher.read()?;
                }
                watcher.read()?;
                Ok(watcher)
            }
        });
        Ok(Self { root: root.to_path_buf(), stop, thread })
    }

    /// How often a file was written, by file.
    pub(crate) fn finish(self) -> Result<HashMap<PathBuf, u64>, Box<dyn Error>> {
        self.stop.store(true, Ordering::Release);
        let mut counts = self.thread.join().map_err(|_| "the counting thread panicked")??.closed;
        for path in files_below(&self.root) {
            counts.entry(path).or_insert(1);
        }
        Ok(counts)
    }
}

struct Watcher {
    inotify: Inotify,
    directories: HashMap<WatchDescriptor, PathBuf>,
    /// How often each file was closed after it was open for writing.
    closed: HashMap<PathBuf, u64>,
    /// The counts of files that are being renamed, by the cookie that both events of a rename carry.
    renamed: HashMap<u32, u64>,
}

impl Watcher {
    fn new() -> Result<Self, Errno> {
        Ok(Self {
            inotify: Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?,
            directories: HashMap::new(),
            closed: HashMap::new(),
            renamed: HashMap::new(),
        })
    }

    /// Watches a directory and all below it. One that is gone again is left out.
    fn watch(&mut self, directory: &Path) -> Result<(), Errno> {
        let what = AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_MOVE
            | AddWatchFlags::IN_ONLYDIR;
        match self.inotify.add_watch(directory, what) {
            Ok(descriptor) => drop(self.directories.insert(descriptor, directory.to_path_buf())),
            Err(Errno::ENOENT | Errno::ENOTDIR) => return Ok(()),
            Err(error) => return Err(error),
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.watch(&entry.path())?;
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), Errno> {
        let mut ready = [PollFd::new(self.inotify.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, PollTimeout::from(POLL_MS)) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self) -> Result<(), Errno> {
        loop {
            match self.inotify.read_events() {
                Ok(events) => events.iter().try_for_each(|event| self.take(event))?,
                Err(Errno::EAGAIN | Errno::EINTR) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, event: &InotifyEvent) -> Result<(), Errno> {
        if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
            return Err(Errno::EOVERFLOW);
        }
        let (Some(directory), Some(name)) = (self.directories.get(&event.wd), &event.name) else {
            return Ok(());
        };
        let path = directory.join(name);
        let is = |flag| event.mask.contains(flag);
        if is(AddWatchFlags::IN_ISDIR) {
            return if is(AddWatchFlags::IN_CREATE) || is(AddWatchFlags::IN_MOVED_TO) {
                self.watch(&path)
            } else {
                Ok(())
            };
        }
        if is(AddWatchFlags::IN_CLOSE_WRITE) {
            *self.closed.entry(path.clone()).or_default() += 1;
        }
        if is(AddWatchFlags::IN_MOVED_FROM) {
            self.renamed.insert(event.cookie, self.closed.remove(&path).unwrap_or_default());
        }
        if is(AddWatchFlags::IN_MOVED_TO) {
            let before = self.renamed.remove(&event.cookie).unwrap_or_default();
            if before > 0 {
                *self.closed.entry(path).or_default() += before;
            }
        }
        Ok(())
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    found
}
