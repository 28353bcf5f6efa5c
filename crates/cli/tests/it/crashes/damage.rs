//! Files that are gone, stale or changed while no process works on the run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::Signal;

use super::scene::{Scene, name_in};

/// A run whose process was killed while somebody waited at a gate, and that nothing runs of any more.
fn killed_at(gate: &str) -> (Scene, String) {
    let scene = Scene::new();
    scene.shut(gate);
    let running = scene.start(&scene.looping());
    scene.await_gate(gate);
    running.signal(Signal::SIGKILL);
    running.end();
    scene.assert_no_strays();
    scene.open(gate);
    let run = scene.only_run();
    (scene, run)
}

/// It goes on to the end it would have had.
fn goes_on(scene: &Scene, words: &[&str]) {
    let ended = scene.run(words);
    assert_eq!(ended.code, 0, "{ended:?}");
    let run = name_in(&ended);
    assert_eq!(scene.outcome(&run).attempts.len(), 2);
    scene.assert_unmixed(&run);
    scene.assert_no_strays();
}

fn slot(scene: &Scene, name: &str) -> PathBuf {
    let slot = scene.pool().join(name);
    assert!(slot.is_dir(), "{} is a slot", slot.display());
    slot
}

#[test]
fn a_slot_that_is_gone_is_made_again() {
    for (gate, name) in [("agent", "agent-0"), ("goal", "check-0")] {
        let (scene, _) = killed_at(gate);
        fs::remove_dir_all(slot(&scene, name)).expect("removed");
        goes_on(&scene, &["resume", "--json"]);
    }
    let (scene, _) = killed_at("agent");
    fs::remove_dir_all(&scene.cache).expect("removed");
    goes_on(&scene, &["resume", "--json"]);
}

#[test]
fn stale_lock_files_in_a_slot_are_no_obstacle() {
    let (scene, run) = killed_at("agent");
    for name in ["agent-0", "check-0"] {
        let slot = slot(&scene, name);
        for stale in ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"] {
            fs::write(slot.join("git").join(stale), "").expect("written");
            fs::write(slot.join("tree/.git").join(stale), "").expect("written");
        }
    }
    goes_on(&scene, &["resume", "--json"]);
    scene.assert_nothing_lost(&run);
}

#[test]
fn a_stale_lock_of_a_reference_is_named() {
    let (scene, run) = killed_at("agent");
    let directory = scene.repository().join(format!(".git/refs/fixpoint/{run}/loop"));
    let stale = directory.join("attempt-1.lock");
    fs::write(&stale, "").expect("written");
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 7, "{ended:?}");
    let obstacle = scene.shown(&run)["obstacle"].as_str().expect("what stood in the way").to_string();
    assert!(obstacle.contains("attempt-1.lock"), "{obstacle}");
    fs::remove_file(stale).expect("removed");
    goes_on(&scene, &["resume", "--json"]);
    scene.assert_nothing_lost(&run);
}

#[test]
fn a_branch_that_moved_changes_nothing() {
    let (scene, run) = killed_at("agent");
    let base = scene.shown(&run)["base"].clone();
    scene.write("repository/src/b.txt", "later\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "later"]);
    let (head, before) = (scene.git(&["rev-parse", "main"]), scene.user_files());
    goes_on(&scene, &["resume", "--json"]);
    assert_eq!(scene.shown(&run)["base"], base);
    assert!(!scene.git(&["ls-tree", "-r", "--name-only", &format!("fixpoint/{run}")]).contains("src/b.txt"));
    assert_eq!((scene.git(&["rev-parse", "main"]), scene.user_files()), (head, before));
}

#[test]
fn references_that_are_gone_change_nothing() {
    let (scene, run) = killed_at("goal");
    let listed = scene.git(&["for-each-ref", "--format=%(refname)", &format!("refs/fixpoint/{run}")]);
    assert!(listed.lines().count() > 0, "the base is kept at least");
    for reference in listed.lines() {
        scene.git(&["update-ref", "-d", reference]);
    }
    goes_on(&scene, &["resume", "--json"]);
}

#[test]
fn objects_that_are_gone_are_named() {
    let (scene, run) = killed_at("agent");
    let listed = scene.git(&["for-each-ref", "--format=%(refname)", &format!("refs/fixpoint/{run}")]);
    for reference in listed.lines() {
        scene.git(&["update-ref", "-d", reference]);
    }
    scene.git(&["gc", "-q", "--prune=now"]);
    let base = scene.shown(&run)["base"].as_str().expect("a base").to_string();
    let ended = scene.run(&["resume", "--json"]);
    assert_eq!(ended.code, 7, "{ended:?}");
    let obstacle = scene.shown(&run)["obstacle"].as_str().expect("what stood in the way").to_string();
    assert!(obstacle.contains(&base), "{obstacle}");
    scene.assert_no_strays();
}

#[test]
fn a_damaged_journal_is_refused_and_repaired_only_when_asked() {
    let (scene, run) = killed_at("agent");
    let directory = scene.directory(&run);
    let journal = directory.join(fixpoint_journal::JOURNAL_FILE);
    let mut bytes = fs::read(&journal).expect("readable");
    // The last record is the attempt that was begun.
    let near_the_end = bytes.len() - 100;
    bytes[near_the_end] ^= 0x40;
    fs::write(&journal, &bytes).expect("written");
    let refused = scene.run(&["resume", "--json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for word in ["damaged at byte", "a repair would cut off", "resume --repair"] {
        assert!(refused.stderr.contains(word), "{word}: {refused:?}");
    }
    assert_eq!(fs::read(&journal).expect("readable"), bytes, "nothing was changed");
    goes_on(&scene, &["resume", "--repair", "--json"]);
    scene.assert_nothing_lost(&run);
    let kept = fs::read_dir(&directory).expect("readable").flatten();
    let names: Vec<String> = kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().any(|name| name.contains("cut")), "what was cut off is kept: {names:?}");
}

#[test]
fn a_journal_without_its_opening_cannot_be_repaired_to_anything() {
    let (scene, run) = killed_at("agent");
    let journal = scene.directory(&run).join(fixpoint_journal::JOURNAL_FILE);
    let mut bytes = fs::read(&journal).expect("readable");
    bytes[64] ^= 0x40;
    fs::write(&journal, &bytes).expect("written");
    assert_eq!(scene.run(&["resume"]).code, 1);
    let repaired = scene.run(&["resume", "--repair"]);
    assert_eq!(repaired.code, 1, "{repaired:?}");
    for word in ["the cut bytes are in", "the journal is empty"] {
        assert!(repaired.stderr.contains(word), "{word}: {repaired:?}");
    }
    // It does not stand in the way of another.
    scene.looped();
}

#[test]
fn a_record_that_was_cut_short_is_written_again() {
    let (scene, run) = killed_at("agent");
    let journal = scene.directory(&run).join(fixpoint_journal::JOURNAL_FILE);
    let length = fs::metadata(&journal).expect("readable").len();
    let file = fs::OpenOptions::new().write(true).open(&journal).expect("writable");
    file.set_len(length - 7).expect("cut");
    goes_on(&scene, &["resume", "--json"]);
    scene.assert_nothing_lost(&run);
}

#[test]
fn blobs_that_are_gone_are_named() {
    let (scene, run) = killed_at("agent");
    fs::remove_dir_all(scene.directory(&run).join("blobs")).expect("removed");
    let ended = scene.run(&["resume", "--json"]);
    assert!([1, 7].contains(&ended.code), "{ended:?}");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(said.contains("blob") && !said.contains("panicked"), "{said}");
    scene.assert_no_strays();
}

#[test]
fn a_run_that_never_began_stands_in_nobodys_way() {
    let scene = Scene::new();
    let run = scene.looped();
    let beside = scene.directory(&run).with_file_name("29991231-000000-zzzz");
    drop(fixpoint_journal::FileJournal::create(&beside).expect("made"));
    let unlogged = scene.directory(&run).with_file_name("29991231-000001-zzzy");
    drop(fixpoint_journal::RunLock::acquire(&unlogged).expect("locked"));
    // It is not the latest.
    assert_eq!(scene.run(&["resume"]).code, 0);
    assert_eq!(name_in(&scene.run(&["show", "--json"])), run);
    for name in ["zzzz", "zzzy"] {
        let resumed = scene.run(&["resume", name]);
        assert!(resumed.code == 2 && resumed.stderr.contains("never began"), "{resumed:?}");
    }
    let listed = scene.run(&["list"]);
    assert!(listed.code == 0 && listed.stdout.contains(&run), "{listed:?}");
    assert_eq!(listed.stdout.matches("never began").count(), 2, "{listed:?}");
    assert_eq!(scene.shown(&run)["cause"], "done");
    // It may be starting.
    scene.run(&["gc"]);
    assert!(beside.exists() && unlogged.exists());
    for directory in [&beside, &unlogged] {
        assert!(Command::new("touch").args(["-d", "1 hour ago"]).arg(directory).status().unwrap().success());
    }
    let collected = scene.run(&["gc"]);
    assert_eq!(collected.code, 0, "{collected:?}");
    assert!(!beside.exists() && !unlogged.exists(), "{collected:?}");
}

/// Every command that reads a run says that it is damaged, shows what is intact, and deletes nothing.
#[test]
fn damage_is_reported_by_every_command() {
    let scene = Scene::new();
    let run = scene.looped();
    let directory = scene.directory(&run);
    let journal = directory.join(fixpoint_journal::JOURNAL_FILE);
    let mut bytes = fs::read(&journal).expect("readable");
    let near_the_end = bytes.len() - 30;
    bytes[near_the_end] ^= 1;
    fs::write(&journal, &bytes).expect("written");
    for words in ["status", "show", "explain", "history", "replay", "logs", "diff", "apply", "resume", "stop"]
    {
        for form in [&[words][..], &[words, "--json"]] {
            let ended = scene.run(form);
            assert_eq!(ended.code, 1, "{form:?}: {ended:?}");
            assert!(ended.stderr.contains("is damaged"), "{form:?}: {ended:?}");
        }
    }
    for words in ["status", "show", "explain"] {
        let shown: serde_json::Value =
            serde_json::from_str(&scene.run(&[words, "--json"]).stdout).expect("JSON");
        assert_eq!(
            (&shown["status"], &shown["cause"]),
            (&"damaged".into(), &serde_json::Value::Null),
            "{words}"
        );
        assert!(shown["damage"]["record"].as_u64().is_some_and(|record| record > 5), "{shown}");
    }
    let listed = scene.run(&["list", "--json"]);
    assert!(listed.code == 0 && listed.stdout.contains(r#""status":"damaged""#), "{listed:?}");
    let shown = scene.run(&["show"]);
    assert!(shown.stdout.contains("Intact:") && shown.stdout.contains("resume --repair"), "{shown:?}");
    for words in [&["gc", "--days", "0", "--force"][..], &["rm", &run, "--yes"]] {
        scene.run(words);
        assert!(journal.exists() && !scene.git(&["for-each-ref", "refs/fixpoint"]).is_empty(), "{words:?}");
    }
    assert_eq!(scene.run(&["resume", "--repair", "--json"]).code, 0);
    assert_eq!(scene.shown(&run)["status"], "done");
}

#[test]
fn a_record_whose_blob_is_damaged_is_cut_off_by_a_repair() {
    let scene = Scene::new();
    let run = scene.looped();
    let directory = scene.directory(&run);
    let blobs = fs::read_dir(directory.join("blobs")).expect("readable").flatten();
    let files = blobs.flat_map(|entry| fs::read_dir(entry.path()).into_iter().flatten().flatten());
    // Those that records refer to are records; the others are names of tests.
    let is_record = |path: &PathBuf| fs::read(path).is_ok_and(|content| content.starts_with(b"{\"at\":"));
    let Some(blob) = files.map(|entry| entry.path()).find(is_record) else {
        return crate::process::skipped("no record of this run is large enough for a blob");
    };
    let mut content = fs::read(&blob).expect("readable");
    content[100] ^= 4;
    fs::write(&blob, content).expect("written");
    let shown = scene.run(&["show", "--json"]);
    assert!(shown.code == 1 && shown.stdout.contains("\"damaged\""), "{shown:?}");
    assert!(scene.run(&["resume", "--json"]).stderr.contains("resume --repair"));
    goes_on(&scene, &["resume", "--repair", "--json"]);
}

#[test]
fn a_lock_that_is_no_file_is_an_error_and_no_hang() {
    let scene = Scene::new();
    let run = scene.looped();
    let lock = scene.directory(&run).join(fixpoint_journal::LOCK_FILE);
    fs::remove_file(&lock).expect("removed");
    assert!(Command::new("mkfifo").arg(&lock).status().expect("it runs").success());
    for words in ["status", "show", "resume", "stop", "logs"] {
        let ended = scene.run(&[words]);
        assert!(ended.code == 7 && ended.stderr.contains("is a FIFO"), "{words}: {ended:?}");
    }
    for words in [&["list"][..], &["gc", "--days", "0", "--force"]] {
        let ended = scene.run(words);
        assert!(ended.code == 0 && ended.stdout.contains("is a FIFO"), "{words:?}: {ended:?}");
    }
}

#[test]
fn artifacts_are_made_again_from_the_journal() {
    let scene = Scene::new();
    let run = scene.looped();
    let context = scene.directory(&run).join("context/loop");
    let names =
        ["completion_reasons.json", "failure_fingerprint_history.json", "iterations/2/current_failures.json"];
    let read = || names.map(|name| fs::read_to_string(context.join(name)).expect("written"));
    let before = read();
    fs::remove_dir_all(&context).expect("removed");
    let resumed = scene.run(&["resume", &run, "--json"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(read(), before);
}
