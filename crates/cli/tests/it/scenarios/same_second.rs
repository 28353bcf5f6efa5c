//! An edit of the same size in the second of the last commit, which git finds only by reading the file.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::lab::{Lab, both};
use crate::process::run;

/// Gives a file a time in the past, so that nobody has to wait until the second of the commit is over.
fn set_past(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::open(path).and_then(|file| file.set_modified(past)).expect("dated");
}

/// Commits `x = 1` and edits it to `x = 9`. The change time cannot be set, so the second must really be the same.
fn edit_in_the_second_of_the_commit(lab: &Lab) {
    let path = lab.here().join("numbers");
    let change_second = || path.metadata().expect("a file").ctime();
    for number in 0.. {
        lab.put("numbers", "x = 1\na\nb\nc\ny = 1\n");
        lab.put("number-of-this-try", &number.to_string());
        set_past(&path);
        let before = change_second();
        lab.commit("numbers");
        lab.put("numbers", "x = 9\na\nb\nc\ny = 1\n");
        set_past(&path);
        set_past(&lab.root().join(".git/index"));
        if change_second() == before {
            return;
        }
    }
}

#[test]
fn the_edit_is_compared_and_survives_a_loop_and_its_result() {
    both(|lab| {
        edit_in_the_second_of_the_commit(lab);
        let compared = lab.json(3, &["check", "--json", "--check", "grep -qx 'x = 1' numbers"]);
        assert_eq!(compared["changed"], true, "{compared}");
        let agent = "sed -i.old 's/y = 1/y = 2/' numbers; rm numbers.old";
        let done = lab.looping(&["--until", "grep -qx 'y = 2' numbers"], agent);
        assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
        let applied = run(&mut lab.binary(&["apply"]), b"");
        assert_eq!(applied.code, 0, "{}", applied.stderr);
        let numbers = fs::read_to_string(lab.here().join("numbers")).expect("a file");
        assert_eq!(numbers, "x = 9\na\nb\nc\ny = 2\n");
    });
}
