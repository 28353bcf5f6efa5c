//! Whatever was done to the working files of a slot, its next user finds the files of the commit and nothing else, also
//! where all other files are known to be unchanged.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fixpoint_ports::{Cancel, CommitId, Slot, SlotLeftovers, SlotPurpose, SlotRequest, Workspaces};
use fixpoint_workspaces::GitWorkspaces;

use crate::fixture::{Fixture, shell};

fn pristine(workspaces: &GitWorkspaces, at: &CommitId) -> Box<dyn Slot> {
    let leftovers = SlotLeftovers::Pristine;
    let request = SlotRequest { purpose: SlotPurpose::Check, at, recover_as: None, leftovers };
    workspaces.acquire(&request, &Cancel::default()).unwrap()
}

/// Makes the files of a slot older than its index, as they are after some seconds.
fn settle(slot: &dyn Slot) {
    let index = slot.directory().parent().unwrap().join("git/index");
    File::open(index).unwrap().set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
}

/// Everything but `.git`: kind, whether it can be executed, and content.
fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(root.join(&directory)).unwrap() {
            let path = directory.join(entry.unwrap().file_name());
            let metadata = fs::symlink_metadata(root.join(&path)).unwrap();
            let description = if path == Path::new(".git") {
                continue;
            } else if metadata.is_dir() {
                open.push(path.clone());
                "directory".to_string()
            } else if metadata.is_symlink() {
                format!("link {}", fs::read_link(root.join(&path)).unwrap().display())
            } else {
                let content = fs::read_to_string(root.join(&path)).unwrap();
                format!("{:o} {content}", metadata.mode() & 0o100)
            };
            found.insert(path, description);
        }
    }
    found
}

/// What was done, and which files of the commit differ then.
const DONE: [(&str, &str, &[&str]); 16] = [
    ("nothing", "true", &[]),
    ("an edit", "echo more >> README", &["README"]),
    ("an edit of the same size", "printf 'HELLO\\n' > README; touch -d 2001-01-01 README", &["README"]),
    ("only another time", "touch -d 2001-01-01 README", &[]),
    ("a file replaced by an equal one", "cp -p run n; mv n run", &[]),
    ("another mode", "chmod -x run", &["run"]),
    ("a deletion", "rm -r src/deep", &["src/deep/data"]),
    (
        "everything deleted",
        "rm -rf * .gitignore",
        &[".gitignore", "README", "link", "run", "src/deep/data", "src/main.rs"],
    ),
    ("a file in place of a directory", "rm -r src; echo x > src", &["src/deep/data", "src/main.rs"]),
    (
        "a link in place of a directory",
        "mv src elsewhere; ln -s elsewhere src",
        &["src/deep/data", "src/main.rs"],
    ),
    (
        "a directory in place of a file",
        "rm README; mkdir README; echo x > README/x; touch README/y.log",
        &["README"],
    ),
    (
        "new files, ignored or not",
        "echo x > new; mkdir -p target empty src/o; echo x > target/a; echo x > b.log",
        &[],
    ),
    ("other ignore rules", "echo '*' > .gitignore; echo x > src/hidden", &[".gitignore"]),
    ("repositories", "git init -q src; git init -q other; echo x > other/x", &[]),
    (
        "no permissions",
        "chmod 000 README src/deep; mkdir target; chmod 000 target",
        &["README", "src/deep/data"],
    ),
    ("commits", "rm -rf .git; git init -q; git add -A; git -c user.name=n -c user.email=e commit -qm m", &[]),
];

#[test]
fn a_pristine_slot_has_the_files_of_its_commit_whatever_was_done_before() {
    let fixture = Fixture::new();
    let first = fixture.commit("first");
    let expected_first = contents(&fixture.user);
    shell(
        &fixture.user,
        "echo more > src/main.rs; rm -r src/deep; echo n > new; rm run; mkdir run; echo x > run/x",
    );
    let second = fixture.commit("second");
    let expected_second = contents(&fixture.user);
    let workspaces = fixture.open();
    for (row, script, changed) in DONE {
        for (next, expected) in [(&first, &expected_first), (&second, &expected_second)] {
            let slot = pristine(&workspaces, &first);
            settle(&*slot);
            shell(slot.directory(), script);
            let may_read = !row.contains("permissions");
            let found: Vec<String> = slot
                .changed_files()
                .unwrap()
                .into_iter()
                .map(|path| String::from_utf8(path).unwrap())
                .collect();
            assert!(!may_read || found == changed, "{row}: {found:?}");
            drop(slot);
            let slot = pristine(&workspaces, next);
            assert_eq!(&contents(slot.directory()), expected, "{row}");
            assert_eq!(slot.changed_files().unwrap(), Vec::<Vec<u8>>::new(), "{row}");
        }
    }
}

#[test]
fn an_agents_result_is_the_same_whether_its_other_files_are_old_or_new() {
    let fixture = Fixture::new();
    let base = fixture.commit("base");
    let workspaces = fixture.open();
    for (row, script, _) in DONE {
        let result = |ages: &dyn Fn(&dyn Slot)| {
            let request = SlotRequest {
                purpose: SlotPurpose::Agent,
                at: &base,
                recover_as: None,
                leftovers: SlotLeftovers::Kept,
            };
            let mut slot = workspaces.acquire(&request, &Cancel::default()).unwrap();
            ages(&*slot);
            // What earlier rows left and the commit ignores.
            shell(slot.directory(), "rm -rf target *.log src/.git");
            shell(slot.directory(), script);
            slot.commit("result", "m").unwrap().tree
        };
        let with_old_files = result(&|slot| settle(slot));
        let with_new_files = result(&|slot| {
            let index = slot.directory().parent().unwrap().join("git/index");
            File::open(index).unwrap().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
        });
        assert_eq!(with_old_files, with_new_files, "{row}");
    }
}
