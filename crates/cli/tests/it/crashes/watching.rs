//! What must hold after any crash: no stray process, nothing lost, the user's repository as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::Pid;

use super::scene::{Scene, wait_for};

/// How long supervisors may take to end what a dead process left: two seconds of grace, and a slow machine.
const FAREWELL: Duration = Duration::from_secs(20);

impl Scene {
    /// Processes of this place: all of them have its mark in their environment.
    pub(super) fn stray_pids(&self) -> Vec<Pid> {
        let mark = self.mark.as_bytes();
        let entries = fs::read_dir("/proc").expect("a process table").flatten();
        let is_marked = |entry: &fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.windows(mark.len()).any(|part| part == mark)
        };
        let pid = |entry: fs::DirEntry| entry.file_name().to_string_lossy().parse().ok().map(Pid::from_raw);
        entries.filter(is_marked).filter_map(pid).collect()
    }

    /// The same with their command lines.
    pub(super) fn strays(&self) -> Vec<String> {
        let line = |pid: &Pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = |pid: &Pid| String::from_utf8_lossy(&line(pid)).replace('\0', " ");
        self.stray_pids().iter().map(|pid| format!("{pid} {}", words(pid))).collect()
    }

    /// Nothing is left, or ends soon.
    pub(super) fn assert_no_strays(&self) {
        wait_for("the end of everything", FAREWELL, || self.strays().is_empty().then_some(()));
    }

    /// Every byte of the user's repository but what Fixpoint may write there.
    pub(super) fn user_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        read_all(&self.repository(), Path::new(""), &mut files);
        files
    }

    /// Nothing an agent wrote is lost: the steps of each are together in one commit that is kept.
    pub(super) fn assert_nothing_lost(&self, run: &str) {
        let listed = self.git(&["for-each-ref", "--format=%(refname)", &format!("refs/fixpoint/{run}*/**")]);
        let names = |reference: &str| self.git(&["ls-tree", "-r", "--name-only", reference]);
        let kept: Vec<(String, BTreeSet<String>)> = listed
            .lines()
            .map(|reference| (reference.to_string(), names(reference).lines().map(String::from).collect()))
            .collect();
        let mut agents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for step in self.steps() {
            let (agent, _) = step.rsplit_once('-').expect("a step has a number");
            agents.entry(agent.to_string()).or_default().insert(step);
        }
        for (agent, steps) in agents {
            let is_kept = kept.iter().any(|(_, files)| steps.is_subset(files));
            let of = |files: &BTreeSet<String>| files.intersection(&steps).count();
            let partly: Vec<_> = kept.iter().map(|(name, files)| (name, of(files))).collect();
            assert!(is_kept, "{agent} wrote {} files, kept are {partly:?}", steps.len());
        }
    }

    /// What stands in the attempts is by one agent each.
    pub(super) fn assert_unmixed(&self, run: &str) {
        let listed = self.git(&["for-each-ref", "--format=%(refname)", &format!("refs/fixpoint/{run}*/**")]);
        for reference in listed.lines() {
            let files = self.git(&["ls-tree", "-r", "--name-only", reference]);
            let mut agents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for note in files.lines().filter_map(|file| file.strip_prefix("notes/")) {
                let (attempt, rest) = note.split_once('-').expect("an attempt");
                let (agent, _) = rest.rsplit_once('-').expect("a number");
                agents.entry(attempt).or_default().insert(agent);
            }
            assert!(agents.values().all(|agents| agents.len() == 1), "{reference}: {agents:?}");
        }
    }
}

fn read_all(root: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(root.join(below)).expect("readable").flatten() {
        let path = below.join(entry.file_name());
        let is_ours = [
            ".git/objects",
            ".git/refs/fixpoint",
            ".git/refs/heads/fixpoint",
            ".git/logs/refs/heads/fixpoint",
        ];
        if is_ours.iter().any(|ours| path == Path::new(ours)) {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            read_all(root, &path, files);
        } else {
            let content = fs::read(root.join(&path)).expect("readable");
            files.insert(path, content);
        }
    }
}
