//! Supervisors killed while an agent or a check is at work.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::scene::{LONG, Scene, name_in, wait_for};

/// The supervisor of this name that was started by this process, or by one that it started.
fn supervisor(of: Pid, name: &str) -> Pid {
    wait_for(name, LONG, || {
        let entries = fs::read_dir("/proc").expect("a process table").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
        pids.map(Pid::from_raw).find(|pid| command_name(*pid) == name && descends(*pid, of))
    })
}

fn command_name(pid: Pid) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_string()
}

fn descends(pid: Pid, from: Pid) -> bool {
    let mut above = pid;
    while above.as_raw() > 1 {
        if above == from {
            return true;
        }
        let status = fs::read_to_string(format!("/proc/{above}/stat")).unwrap_or_default();
        let behind_name = status.rsplit_once(") ").map(|(_, rest)| rest.to_string()).unwrap_or_default();
        let parent = behind_name.split(' ').nth(1).and_then(|parent| parent.parse().ok());
        above = Pid::from_raw(parent.unwrap_or(0));
    }
    false
}

/// Kills supervisors while somebody waits at a gate; answers the exit code, the cause and what stood in the way.
fn killed_at(scene: &Scene, gate: &str, names: &[&str]) -> (i32, String, String) {
    scene.shut(gate);
    let running = scene.start(&scene.looping());
    scene.await_gate(gate);
    let pids: Vec<Pid> = names.iter().map(|name| supervisor(running.pid(), name)).collect();
    for pid in pids {
        kill(pid, Signal::SIGKILL).expect("it is there");
    }
    scene.open(gate);
    let ended = running.end();
    let shown = scene.shown("latest");
    let text = |name: &str| shown[name].as_str().unwrap_or_default().to_string();
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    (ended.code, text("cause"), text("obstacle"))
}

fn resumes(scene: &Scene) {
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let run = name_in(&ended);
    assert_eq!(scene.outcome(&run).cause, "done");
    scene.assert_nothing_lost(&run);
    scene.assert_unmixed(&run);
    scene.assert_no_strays();
}

#[test]
fn a_killed_keeper_pauses_the_run_and_says_so() {
    for gate in ["agent", "goal"] {
        let scene = Scene::new();
        let (code, cause, obstacle) = killed_at(&scene, gate, &["fxp-supervisor"]);
        assert_eq!((code, cause.as_str()), (7, "infrastructure"), "{gate}: {obstacle}");
        assert!(obstacle.contains("supervisor") && obstacle.contains("was stopped"), "{gate}: {obstacle}");
        scene.assert_no_strays();
        resumes(&scene);
    }
}

#[test]
fn a_killed_guard_is_not_missed() {
    let scene = Scene::new();
    let (code, cause, obstacle) = killed_at(&scene, "agent", &["fxp-watchdog"]);
    assert_eq!((code, cause.as_str()), (0, "done"), "{obstacle}");
    scene.assert_no_strays();
}

#[test]
fn when_both_are_killed_what_may_be_left_is_said() {
    let scene = Scene::new();
    let (code, cause, obstacle) = killed_at(&scene, "agent", &["fxp-watchdog", "fxp-supervisor"]);
    assert_eq!((code, cause.as_str()), (7, "infrastructure"), "{obstacle}");
    assert!(obstacle.contains("may still be running"), "{obstacle}");
    // Only what moved to a session of its own can be left, and that is what was said.
    assert!(scene.strays().iter().all(|stray| stray.contains("sleep 300")), "{:?}", scene.strays());
    for pid in scene.stray_pids() {
        let _ = kill(pid, Signal::SIGKILL);
    }
    resumes(&scene);
}
