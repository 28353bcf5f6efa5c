//! Two processes that want one run, two runs in one repository, and people who look on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fixpoint_runs::{RunDirectory, RunId};
use nix::sys::signal::Signal;

use super::scene::{LONG, Scene, name_in};

#[test]
fn a_second_process_is_refused_at_once_and_the_first_goes_on() {
    let scene = Scene::new();
    scene.shut("agent");
    let mut first = scene.start(&scene.looping());
    scene.await_gate("agent");
    let began = Instant::now();
    let second = scene.run(&["resume"]);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(second.code, 7, "{second:?}");
    assert!(second.stderr.contains(&format!("process {}", first.pid())), "{second:?}");
    assert_eq!(scene.shown("latest")["pid"], first.child.id());
    scene.open("agent");
    let ended = first.ends_within(LONG).expect("it ends");
    assert_eq!(ended.code, 0, "{ended:?}");
    let run = name_in(&ended);
    assert_eq!(scene.shown(&run)["cost"]["interruptions"], 0);
    scene.assert_unmixed(&run);
}

#[test]
fn the_lock_of_a_dead_process_is_taken_over() {
    let scene = Scene::new();
    scene.shut("agent");
    let first = scene.start(&scene.looping());
    scene.await_gate("agent");
    first.signal(Signal::SIGKILL);
    first.end();
    assert_eq!(scene.shown("latest")["status"], "interrupted");
    scene.open("agent");
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(scene.shown("latest")["cost"]["interruptions"], 1);
    scene.assert_no_strays();
}

#[test]
fn two_runs_in_one_repository_both_end_well() {
    let scene = Scene::new();
    let before = scene.user_files();
    let both = [scene.start(&scene.looping()), scene.start(&scene.looping())];
    let runs = both.map(|running| {
        let ended = running.end();
        assert_eq!(ended.code, 0, "{ended:?}");
        name_in(&ended)
    });
    assert_ne!(runs[0], runs[1]);
    assert_eq!(scene.outcome(&runs[0]), scene.outcome(&runs[1]));
    for run in &runs {
        scene.assert_unmixed(run);
    }
    scene.assert_no_strays();
    assert_eq!(scene.user_files(), before);
}

#[test]
fn looking_at_runs_does_not_stand_in_the_way_of_resuming_one() {
    let scene = Scene::new();
    let run = scene.looped();
    let directory = RunDirectory { id: RunId(run.clone()), path: scene.directory(&run) };
    let is_over = AtomicBool::new(false);
    let refused: Vec<String> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                // What `list`, `status` and `show` do for each run.
                let _ = directory.holder();
            }
        });
        let taken: Vec<_> = (0..300)
            .map(|_| {
                // A moment in which somebody can begin to look.
                std::thread::sleep(Duration::from_millis(1));
                directory.lock().map(drop)
            })
            .collect();
        is_over.store(true, Ordering::Release);
        taken.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect()
    });
    assert_eq!(refused, Vec::<String>::new());
}
