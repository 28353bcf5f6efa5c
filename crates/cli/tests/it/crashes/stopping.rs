//! Runs that a person stops: from another process, with Ctrl-C, and with no patience.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::scene::{LONG, Scene, name_in};

/// The rest of a run that was stopped: it is paused, nothing runs, and it goes on to the same end.
fn paused_and_resumes(scene: &Scene) {
    scene.assert_no_strays();
    let shown = scene.shown("latest");
    assert_eq!((&shown["status"], &shown["cause"]), (&"paused".into(), &"stopped".into()));
    goes_on(scene);
}

fn goes_on(scene: &Scene) {
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let run = name_in(&ended);
    assert_eq!(scene.outcome(&run).attempts.len(), 2);
    scene.assert_nothing_lost(&run);
    scene.assert_unmixed(&run);
    scene.assert_no_strays();
}

#[test]
fn stopped_from_another_process_at_every_kind_of_work() {
    for gate in ["agent", "goal"] {
        let scene = Scene::new();
        scene.shut(gate);
        let running = scene.start(&scene.looping());
        scene.await_gate(gate);
        let stopped = scene.run(&["stop", "latest", "--json"]);
        assert_eq!(stopped.code, 0, "{stopped:?}");
        assert!(stopped.stdout.contains("\"paused\""), "{stopped:?}");
        let ended = running.end();
        assert_eq!(ended.code, 130, "{ended:?}");
        let again = scene.run(&["stop"]);
        assert!(again.code == 0 && again.stdout.contains("is not running"), "{again:?}");
        scene.open(gate);
        paused_and_resumes(&scene);
    }
}

#[test]
fn stopped_now_it_ends_without_loss() {
    let scene = Scene::new().stubborn_at("1");
    let running = scene.start(&scene.looping());
    scene.await_steps(3);
    let stopped = scene.run(&["stop", "--now", "--json"]);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    assert_eq!(running.end().code, 130);
    goes_on(&scene);
}

#[test]
fn one_interrupt_ends_in_good_order() {
    let scene = Scene::new();
    scene.shut("agent");
    let running = scene.start(&scene.looping());
    scene.await_gate("agent");
    running.signal(Signal::SIGINT);
    let ended = running.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(scene.strays().is_empty(), "it waits for what it started: {:?}", scene.strays());
    scene.open("agent");
    paused_and_resumes(&scene);
}

#[test]
fn two_interrupts_end_at_once() {
    let scene = Scene::new().stubborn_at("1");
    let mut running = scene.start(&scene.looping());
    scene.await_steps(3);
    let began = Instant::now();
    running.signal(Signal::SIGINT);
    // The same signal twice in one moment is one signal.
    assert!(running.ends_within(Duration::from_millis(200)).is_none());
    running.signal(Signal::SIGINT);
    let ended = running.ends_within(LONG).expect("it ends");
    assert_eq!(ended.code, 130, "{ended:?}");
    let last = ended.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("stopped; `fixpoint resume 20"), "{}", ended.stderr);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    goes_on(&scene);
}
