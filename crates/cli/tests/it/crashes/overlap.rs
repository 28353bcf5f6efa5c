//! An agent that does not end when it is asked to lives on for two seconds after its Fixpoint was killed. Whatever is
//! begun in that time, it must not write into anybody else's files, and what it wrote must not be lost.

use nix::sys::signal::Signal;

use super::scene::{Scene, name_in};

#[test]
fn a_resumed_run_does_not_share_files_with_the_agent_of_the_dead_one() {
    let scene = Scene::new().stubborn_at("1");
    let first = scene.start(&scene.looping());
    scene.await_steps(3);
    first.signal(Signal::SIGKILL);
    first.end();
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let run = name_in(&ended);
    scene.assert_unmixed(&run);
    scene.assert_nothing_lost(&run);
    scene.assert_no_strays();
}

#[test]
fn another_run_does_not_share_files_with_the_agent_of_the_dead_one() {
    let scene = Scene::new().stubborn_at("1");
    let first = scene.start(&scene.looping());
    scene.await_steps(3);
    first.signal(Signal::SIGKILL);
    first.end();
    let dead = scene.only_run();
    let second = scene.looped();
    scene.assert_unmixed(&second);
    let resumed = scene.run(&["resume", &dead, "--json"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    scene.assert_unmixed(&dead);
    // The steps of both are in one ledger, and whose slot was whose does not matter.
    scene.assert_nothing_lost("");
    scene.assert_no_strays();
}
