//! A disk that is full or read-only, for runs and for workspaces, at different moments: a clear message, and after
//! that is mended the run goes on to its end.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::scene::{Scene, name_in};
use crate::process::Ended;

/// A file system of its own, which only an administrator may make.
struct Disk {
    path: PathBuf,
}

impl Disk {
    fn mount(path: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).expect("made");
        let options = format!("size={size}");
        let mounted = run(&["mount", "-t", "tmpfs", "-o", &options, "tmpfs", &path.to_string_lossy()]);
        if !mounted {
            crate::process::skipped("a file system cannot be mounted here, so that full disks are not tried");
        }
        mounted.then(|| Self { path: path.to_path_buf() })
    }

    fn fill(&self) {
        let mut file = fs::File::create(self.path.join("filling")).expect("made");
        let piece = vec![0_u8; 1 << 16];
        while file.write_all(&piece).is_ok() {}
        // What is smaller than a piece, to the last page.
        while file.write_all(&[0; 512]).is_ok() {}
    }

    fn make_space(&self) {
        fs::remove_file(self.path.join("filling")).expect("it was full");
    }

    fn remount(&self, mode: &str) {
        assert!(run(&["mount", "-o", &format!("remount,{mode}"), &self.path.to_string_lossy()]));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run(&["umount", "-l", &self.path.to_string_lossy()]);
    }
}

fn run(words: &[&str]) -> bool {
    let ended = Command::new(words[0]).args(&words[1..]).output();
    ended.is_ok_and(|ended| ended.status.success())
}

/// Which of the two directories is on the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Holds {
    Runs,
    Workspaces,
    Repository,
}

/// What is wrong with the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    Full,
    ReadOnly,
}

impl Trouble {
    fn begin(self, disk: &Disk) {
        match self {
            Self::Full => disk.fill(),
            Self::ReadOnly => disk.remount("ro"),
        }
    }

    fn end(self, disk: &Disk) {
        match self {
            Self::Full => disk.make_space(),
            Self::ReadOnly => disk.remount("rw"),
        }
    }
}

fn disk(scene: &Scene, holds: Holds) -> Option<Disk> {
    match holds {
        Holds::Runs => Disk::mount(&scene.state, "4m"),
        // A workspace is only made where a quarter of a gigabyte stays free.
        Holds::Workspaces => Disk::mount(&scene.cache, "300m"),
        Holds::Repository => {
            let (repository, aside) = (scene.repository(), scene.path("aside"));
            fs::rename(&repository, &aside).expect("moved");
            let disk = Disk::mount(&repository, "8m");
            let copied = run(&["cp", "-a", &format!("{}/.", aside.display()), &repository.to_string_lossy()]);
            assert!(copied, "the repository is on the disk, or back in its place");
            // What fills the disk is no work of the user's.
            fs::write(repository.join(".git/info/exclude"), "filling\n").expect("written");
            disk
        }
    }
}

/// It ended for want of the disk, and says so to a person.
fn assert_told(ended: &Ended, case: &str) {
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, 7, "{case}: {said}");
    assert!(!said.contains("panicked") && !said.contains("internal error"), "{case}: {said}");
    let words = ["space", "Read-only file system"];
    assert!(words.iter().any(|word| said.contains(word)), "{case}: {said}");
}

/// Trouble begins while somebody waits at a gate, is met by a resume too, and ends.
fn trouble_at(gate: &str, holds: Holds, trouble: Trouble) {
    let case = format!("{trouble:?} {holds:?} at {gate}");
    let scene = Scene::new();
    let Some(disk) = disk(&scene, holds) else { return };
    scene.shut(gate);
    let running = scene.start(&scene.looping());
    scene.await_gate(gate);
    match trouble {
        Trouble::Full => {
            trouble.begin(&disk);
            scene.open(gate);
            assert_told(&running.end(), &case);
            scene.assert_no_strays();
        }
        // A disk on which a file is open for writing does not become read-only.
        Trouble::ReadOnly => {
            running.kill();
            scene.assert_no_strays();
            scene.open(gate);
            trouble.begin(&disk);
        }
    }
    assert_told(&scene.run(&["resume", "--json"]), &format!("{case}, resumed"));
    trouble.end(&disk);
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{case}: {ended:?}");
    let run = name_in(&ended);
    assert_eq!(scene.outcome(&run).attempts.len(), 2, "{case}");
    scene.assert_nothing_lost(&run);
    scene.assert_unmixed(&run);
    scene.assert_no_strays();
}

/// Trouble is there from the beginning.
fn trouble_at_the_beginning(holds: Holds, trouble: Trouble) {
    let case = format!("{trouble:?} {holds:?} at the beginning");
    let scene = Scene::new();
    let Some(disk) = disk(&scene, holds) else { return };
    trouble.begin(&disk);
    assert_told(&scene.run(&scene.looping()), &case);
    trouble.end(&disk);
    scene.looped();
    scene.assert_no_strays();
}

#[test]
fn no_space_for_runs() {
    trouble_at_the_beginning(Holds::Runs, Trouble::Full);
    trouble_at("agent", Holds::Runs, Trouble::Full);
    trouble_at("goal", Holds::Runs, Trouble::Full);
}

#[test]
fn no_space_for_workspaces() {
    trouble_at_the_beginning(Holds::Workspaces, Trouble::Full);
    trouble_at("agent", Holds::Workspaces, Trouble::Full);
    trouble_at("goal", Holds::Workspaces, Trouble::Full);
}

/// A repository in which no result can be stored is refused before anything is paid for; if that happens on the way, the
/// run pauses, and goes on when it is mended.
#[test]
fn results_cannot_be_stored() {
    for trouble in [Trouble::Full, Trouble::ReadOnly] {
        trouble_at_the_beginning(Holds::Repository, trouble);
    }
    trouble_at("agent", Holds::Repository, Trouble::Full);
    trouble_at("goal", Holds::Repository, Trouble::Full);
    trouble_at("agent", Holds::Repository, Trouble::ReadOnly);
}

/// The user deletes everything that is not referred to, while the run waits and after its base is in no branch any more.
#[test]
fn objects_of_a_run_survive_the_users_clean_up() {
    let scene = Scene::new();
    let clean_up = || {
        scene.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "amended"]);
        scene.git(&["reflog", "expire", "--expire=now", "--all"]);
        scene.git(&["gc", "-q", "--prune=now"]);
    };
    scene.shut("agent");
    let running = scene.start(&scene.looping());
    scene.await_gate("agent");
    clean_up();
    scene.shut("goal");
    scene.open("agent");
    scene.await_gate("goal");
    clean_up();
    running.kill();
    scene.open("goal");
    clean_up();
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    clean_up();
    let run = name_in(&ended);
    scene.git(&["rev-list", "--objects", "--quiet", &format!("fixpoint/{run}")]);
    assert_eq!(scene.run(&["diff", "--attempt", "1"]).code, 0);
    scene.assert_unmixed(&run);
}

/// Nothing is started if the branch of the result cannot be made.
#[test]
fn a_branch_that_is_in_the_way_is_named_at_the_beginning() {
    let scene = Scene::new();
    scene.git(&["branch", "fixpoint"]);
    let refused = scene.run(&scene.looping());
    assert!(refused.code == 2 && refused.stderr.contains("git branch -m fixpoint"), "{refused:?}");
    scene.git(&["branch", "-D", "fixpoint"]);
    // On the way, it pauses the run.
    scene.shut("agent");
    let running = scene.start(&scene.looping());
    scene.await_gate("agent");
    scene.git(&["branch", "fixpoint"]);
    scene.open("agent");
    let paused = running.end();
    assert_eq!(paused.code, 7, "{paused:?}");
    let run = name_in(&paused);
    assert_ne!(scene.shown(&run)["status"], "done");
    assert!(scene.run(&["resume"]).code == 7, "it is still in the way");
    scene.git(&["branch", "-D", "fixpoint"]);
    assert_eq!(scene.run(&["resume", "--json"]).code, 0);
}

#[test]
fn runs_cannot_be_written() {
    trouble_at_the_beginning(Holds::Runs, Trouble::ReadOnly);
    trouble_at("agent", Holds::Runs, Trouble::ReadOnly);
}

#[test]
fn workspaces_cannot_be_written() {
    trouble_at_the_beginning(Holds::Workspaces, Trouble::ReadOnly);
    trouble_at("agent", Holds::Workspaces, Trouble::ReadOnly);
}
