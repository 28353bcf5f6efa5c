//! Results written into the working files: all of them or none, whatever fails.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixpoint_ports::{CommitId, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::{ApplyOutcome, GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, git, listing, shell, users_files};

/// A result that edits the beginning of a file, adds two and deletes one.
fn base_and_result(fixture: &Fixture) -> (CommitId, CommitId) {
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(slot.directory(), "sed -i s/one/ONE/ src/deep/data; echo n > added; rm run; echo l > forced");
    let commit = slot.commit("result", "m").unwrap().commit;
    (base, commit)
}

#[test]
fn a_result_is_merged_into_the_working_files_but_not_into_the_index() {
    let fixture = Fixture::new();
    let (base, result) = base_and_result(&fixture);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\n");
    fixture.write("mine", "untracked\n");
    fixture.write("staged", "x\n");
    git(&fixture.user, &["add", "staged"]);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\nfive\n");
    let index = fs::read(fixture.user.join(".git/index")).unwrap();
    let workspaces = fixture.open();
    let ApplyOutcome::Written(paths) = workspaces.apply(&base, &result).unwrap() else { panic!() };
    assert_eq!(paths.len(), 4);
    let now = fs::read_to_string(fixture.user.join("src/deep/data")).unwrap();
    assert_eq!(now, "ONE\ntwo\nthree\nfour\nfive\n");
    assert!(fixture.user.join("added").exists() && !fixture.user.join("run").exists());
    assert!(fixture.user.join("mine").exists());
    assert_eq!(fs::read(fixture.user.join(".git/index")).unwrap(), index);
    assert_eq!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(vec![]));
}

#[test]
fn conflicting_changes_of_the_user_are_not_overwritten() {
    let rows = [
        ("both edited", "echo mine > src/deep/data", "src/deep/data"),
        ("both added", "echo mine > added", "added"),
        ("edited and deleted", "echo mine > run", "run"),
        ("ignored and added", "echo forced >> .gitignore; echo mine > forced", "forced"),
        ("file and directory", "mkdir added; echo mine > added/x", "added"),
        ("ignored directory", "echo forced >> .gitignore; mkdir forced; echo mine > forced/x", "forced/x"),
    ];
    for (row, script, path) in rows {
        let fixture = Fixture::new();
        let (base, result) = base_and_result(&fixture);
        shell(&fixture.user, script);
        let before = users_files(&fixture);
        let outcome = fixture.open().apply(&base, &result).unwrap();
        assert_eq!(outcome, ApplyOutcome::Conflict(vec![path.as_bytes().to_vec()]), "{row}");
        assert_eq!(users_files(&fixture), before, "{row}");
    }
}

/// What a script leaves in a slot, as a result.
fn result_of(fixture: &Fixture, script: &str) -> (CommitId, CommitId) {
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(slot.directory(), script);
    let commit = slot.commit("result", "m").unwrap().commit;
    (base, commit)
}

#[test]
fn files_and_directories_take_each_others_places() {
    let fixture = Fixture::new();
    fixture.write("d/x", "x\n");
    fixture.write("d/deep/y", "y\n");
    fixture.write("f", "f\n");
    fixture.write("only/child", "c\n");
    fixture.commit("more");
    shell(&fixture.user, "chmod 200 README; mkdir d/empty");
    let script = "rm -r d; echo file > d; rm f; mkdir -p f/g; echo z > f/g/z; rm -r only; echo more >> README; \
                  rm link; ln -s run link; chmod +x src/main.rs";
    let (base, result) = result_of(&fixture, script);
    let ApplyOutcome::Written(paths) = fixture.open().apply(&base, &result).unwrap() else { panic!() };
    assert_eq!(paths.len(), 9);
    shell(
        &fixture.user,
        "test \"$(cat d)\" = file; test \"$(cat f/g/z)\" = z; test ! -e only; test \"$(stat -c %a README)\" = 200; \
         test \"$(readlink link)\" = run; test -x src/main.rs; test ! -e .git/fixpoint-apply",
    );
    let now = fixture.open().snapshot("now").unwrap().commit;
    assert_eq!(git(&fixture.user, &["diff", &result.0, &now.0]), b"", "the files are those of the result");
}

/// Runs one test of this file again, in a process of its own with this variable, under a command.
const INNER: &str = "FIXPOINT_TEST_APPLY_IN";

fn again(command: &[&str], test: &str, directory: &Path) -> Command {
    let (program, arguments) = command.split_first().unwrap();
    let mut again = Command::new(program);
    again.args(arguments).arg(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("apply::{test}"), "--nocapture"]).env(INNER, directory);
    again.stdin(Stdio::null());
    again
}

/// Whether a command works here; prints that the test is skipped if not.
fn is_possible(command: &[&str]) -> bool {
    let (program, arguments) = command.split_first().unwrap();
    let possible =
        Command::new(program).args(arguments).arg("true").output().is_ok_and(|out| out.status.success());
    if !possible {
        println!("SKIPPED: {command:?} does not work here");
    }
    possible
}

/// A file of random bytes, in a repository whose file system is nearly full.
#[test]
fn a_full_disk_leaves_every_file_as_it_was() {
    let namespace = ["unshare", "-Urm"];
    let Some(directory) = std::env::var_os(INNER) else {
        if is_possible(&namespace) {
            let root = tempfile::tempdir().unwrap();
            let test = "a_full_disk_leaves_every_file_as_it_was";
            let output = again(&namespace, test, root.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    };
    let disk = Path::new(&directory);
    shell(disk, "mount -t tmpfs -o size=8m tmpfs .");
    let fixture = Fixture::new();
    shell(
        disk,
        &format!(
            "cp -a {} user; cd user; seq 100000 | head -c 500000 > big; git add .; \
                  git -c user.name=n -c user.email=e commit -qm big",
            fixture.user.display()
        ),
    );
    let user = disk.join("user");
    let open = || GitWorkspaces::open(&user, &fixture.slots(), WorkspaceOptions::default()).unwrap();
    let workspaces = open();
    let base = workspaces.snapshot("base").unwrap().commit;
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(slot.directory(), "seq 200000 | head -c 200000 >> big; echo n > added; echo m >> README");
    let result = slot.commit("result", "m").unwrap().commit;
    shell(&user, "sed -i '1s/^/mine /' big; echo mine > mine");
    // 700 kB stay: enough for the objects, not for the new content.
    shell(
        disk,
        "free=$(df -k --output=avail . | tail -1); head -c $(( (free - 700) * 1024 )) /dev/zero > fill",
    );
    let before = listing(&user, &[".git/objects", ".git/refs/fixpoint"]);
    let failed = workspaces.apply(&base, &result);
    let Err(WorkspaceError::NoSpace(message)) = failed else { panic!("{failed:?}") };
    assert!(WorkspaceError::NoSpace(message).to_string().starts_with("no space left on device: "));
    assert_eq!(listing(&user, &[".git/objects", ".git/refs/fixpoint"]), before);
    fs::remove_file(disk.join("fill")).unwrap();
    assert!(
        matches!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(paths) if paths.len() == 3)
    );
}

#[test]
fn a_directory_that_may_not_be_changed_leaves_every_file_as_it_was() {
    let test = "a_directory_that_may_not_be_changed_leaves_every_file_as_it_was";
    let as_user: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let Some(directory) = std::env::var_os(INNER) else {
        let root = tempfile::tempdir().unwrap();
        shell(root.path(), "chmod 777 .");
        // Permissions mean nothing to root.
        let command = if root.path().metadata().unwrap().uid() == 0 { as_user } else { &["env"] };
        if is_possible(command) {
            let output = again(command, test, root.path()).env("TMPDIR", root.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    };
    assert!(Path::new(&directory).is_dir());
    for (row, script) in
        [("edit", "echo more >> d/x"), ("deletion", "rm d/x"), ("addition", "echo n > d/new")]
    {
        let fixture = Fixture::new();
        fixture.write("d/x", "x\n");
        fixture.commit("d");
        let (base, result) = result_of(&fixture, &format!("echo a > a; echo z > z; rm run; {script}"));
        shell(&fixture.user, "chmod 555 d");
        let before = users_files(&fixture);
        let failed = fixture.open().apply(&base, &result);
        let expected = if row == "addition" { "d/new" } else { "d/x" };
        assert!(
            matches!(&failed, Err(WorkspaceError::PermissionDenied(path)) if path == expected),
            "{row}: {failed:?}"
        );
        assert_eq!(users_files(&fixture), before, "{row}");
        shell(&fixture.user, "chmod 755 d");
        assert!(matches!(fixture.open().apply(&base, &result).unwrap(), ApplyOutcome::Written(_)), "{row}");
    }
}

#[test]
fn an_apply_that_was_killed_can_be_repeated() {
    let test = "an_apply_that_was_killed_can_be_repeated";
    if let Some(directory) = std::env::var_os(INNER) {
        let root = Path::new(&directory);
        let ids = fs::read_to_string(root.join("ids")).unwrap();
        let (base, result) = ids.split_once(' ').unwrap();
        let options = WorkspaceOptions::default();
        let workspaces = GitWorkspaces::open(&root.join("user"), &root.join("slots"), options).unwrap();
        workspaces.apply(&CommitId(base.into()), &CommitId(result.into())).unwrap();
        return;
    }
    let fixture = Fixture::new();
    shell(&fixture.user, "mkdir many; for n in $(seq 200); do echo $n > many/$n; done");
    fixture.commit("many");
    let (base, result) = result_of(
        &fixture,
        "for n in $(seq 200); do echo new >> many/$n; done; rm many/7; echo n > many/new",
    );
    let root = fixture.user.parent().unwrap();
    fs::write(root.join("ids"), format!("{base} {result}")).unwrap();
    let changed = |user: &Path| {
        let is_new = |n: u32| {
            fs::read_to_string(user.join(format!("many/{n}"))).map_or(true, |text| text.contains("new"))
        };
        (1..=200).filter(|n| is_new(*n)).count()
    };
    let mut interrupted = false;
    for _ in 0..4 {
        let mut child =
            again(&["env"], test, root).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let journal = fixture.user.join(".git/fixpoint-apply/journal");
        while !journal.exists() && child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::hint::spin_loop();
        }
        while fixture.user.join("many/7").exists() && journal.exists() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if journal.exists() && (1..200).contains(&changed(&fixture.user)) {
            interrupted = true;
            break;
        }
        shell(&fixture.user, "git -c user.name=n -c user.email=e stash -uq || true");
    }
    if !interrupted {
        println!("SKIPPED: the process was never killed in the middle");
    }
    shell(&fixture.user, "echo mine >> README");
    fixture.open().apply(&base, &result).unwrap();
    assert_eq!(changed(&fixture.user), 200);
    assert!(!fixture.user.join(".git/fixpoint-apply").exists());
    let now = fixture.open().snapshot("now").unwrap().commit;
    let differing = git(&fixture.user, &["diff", "--name-only", &result.0, &now.0]);
    assert_eq!(String::from_utf8(differing).unwrap(), "README\n", "only the user's edit");
}
