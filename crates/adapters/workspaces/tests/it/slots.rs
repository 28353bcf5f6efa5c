//! Slots are used again, keep their caches, and are built anew as far as they are broken.

use std::fs;

use fixpoint_ports::{CommitId, Purpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::{LocalWorkspaces, Options};

use crate::fixture::{Ask, Fixture, ask, shell};

/// Acquires, checks that the files are exactly those of the commit, and runs a script.
fn visit(fixture: &Fixture, workspaces: &LocalWorkspaces, at: &CommitId, script: &str) -> std::path::PathBuf {
    let mut slot = workspaces.slot(Purpose::Agent, at).unwrap();
    let tree = ask(&fixture.user, &["rev-parse", &format!("{at}^{{tree}}")]);
    assert_eq!(slot.take("visit", "m").unwrap().tree.0, tree, "before {script}");
    shell(
        slot.directory(),
        "test -z \"$(git status --porcelain)\"; git rev-parse --verify -q HEAD > /dev/null",
    );
    assert_eq!(ask(slot.directory(), &["rev-parse", "HEAD"]), at.0);
    shell(slot.directory(), script);
    slot.directory().to_path_buf()
}

#[test]
fn a_slot_is_used_again_with_its_caches_and_nothing_else() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let first = fixture.base(&workspaces);
    fixture.write("README", "second\n");
    fixture.write("new/file", "x\n");
    let second = fixture.commit("second");
    let dirt = "mkdir -p target; echo cache > target/cache; echo x > stray; mkdir -p dir; echo x > dir/stray; \
        git config filter.a.clean false; git branch mine; echo x > README; rm run; git init -q repo; \
        echo x > repo/f; mkdir -p readonly/dir; echo x > readonly/dir/f; chmod 500 readonly/dir readonly";
    let place = visit(&fixture, &workspaces, &first, dirt);
    let look = "test -f target/cache; test ! -e stray; test ! -e dir; test ! -e repo; test ! -e readonly; \
        test -z \"$(git branch --list mine)\"; test -z \"$(git config filter.a.clean)\"; test \"$(cat README)\" = second";
    assert_eq!(visit(&fixture, &workspaces, &second, look), place);
    assert_eq!(visit(&fixture, &workspaces, &first, "test ! -e new; test -f target/cache"), place);
}

#[test]
fn what_is_ignored_here_and_tracked_there_does_not_mix() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let ignoring = fixture.base(&workspaces);
    fixture.write(".gitignore", "other/\n");
    fixture.write("a.log", "tracked\n");
    fixture.write("target/file", "tracked\n");
    shell(&fixture.user, "rm run; mkdir run; echo x > run/file");
    let tracking = fixture.commit("tracking");
    let dirt = "echo junk > a.log; mkdir -p target/file; echo junk > target/file/deep; echo junk > target/junk; echo junk > b.log";
    visit(&fixture, &workspaces, &ignoring, dirt);
    visit(
        &fixture,
        &workspaces,
        &tracking,
        "test \"$(cat a.log)\" = tracked; test ! -e b.log; test ! -e target/junk",
    );
    visit(&fixture, &workspaces, &ignoring, "test ! -e a.log; test ! -e target/file");
}

#[test]
fn a_broken_slot_is_built_anew() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    visit(&fixture, &workspaces, &base, "mkdir target; echo x > target/cache");
    let breakages = [
        ("rm -rf agent-0/tree/.git", "cache"),
        ("touch agent-0/git/index.lock agent-0/git/HEAD.lock", "cache"),
        ("echo garbage > agent-0/git/index", "cache"),
        ("head -c 40 agent-0/git/index > i; mv i agent-0/git/index", "cache"),
        ("echo garbage > agent-0/git/config; echo garbage > agent-0/git/HEAD", "cache"),
        ("rm -rf agent-0/git", "cache"),
        ("rm -rf agent-0/git; echo file > agent-0/git", "cache"),
        ("rm -rf agent-0/git/objects agent-0/git/refs store/refs store/HEAD", "cache"),
        ("rm -rf agent-0/tree", "none"),
        ("rm -rf agent-0; echo file > agent-0", "none"),
        ("rm -rf agent-0", "none"),
    ];
    for (breakage, caches) in breakages {
        shell(workspaces.pool(), breakage);
        let again = fixture.open();
        let look = match caches {
            "cache" => "test -f target/cache",
            _ => "mkdir target; echo x > target/cache",
        };
        visit(&fixture, &again, &base, look);
    }
}

#[test]
fn an_index_that_breaks_under_an_agent_does_not_lose_its_work() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    shell(
        slot.directory(),
        "echo x > README; echo x > new; echo garbage > ../git/index; touch ../git/index.lock",
    );
    let taken = slot.take("taken", "m").unwrap();
    assert_eq!(fixture.content(&taken.commit, "README"), "x\n");
    assert_eq!(workspaces.changes(&base, &taken.commit).unwrap().len(), 2);
}

#[test]
fn agents_and_checks_have_slots_of_their_own_and_the_number_is_a_limit() {
    let fixture = Fixture::new();
    let options =
        Options { agent_slots: 1, check_slots: 1, wait: std::time::Duration::ZERO, ..Options::default() };
    let workspaces = fixture.open_with(options);
    let base = fixture.base(&workspaces);
    let agent = workspaces.slot(Purpose::Agent, &base).unwrap();
    let check = workspaces.slot(Purpose::Check, &base).unwrap();
    assert_ne!(agent.directory(), check.directory());
    let busy = workspaces.slot(Purpose::Agent, &base).map(drop);
    assert!(matches!(busy, Err(WorkspaceError::AllInUse(1))), "{busy:?}");
    drop(agent);
    workspaces.slot(Purpose::Agent, &base).unwrap();
}

#[test]
fn a_full_disk_and_an_unknown_commit_are_said() {
    let fixture = Fixture::new();
    let workspaces = fixture.open_with(Options { spare_bytes: u64::MAX, ..Options::default() });
    let base = fixture.base(&workspaces);
    let full = workspaces.slot(Purpose::Agent, &base).map(drop);
    assert!(matches!(full, Err(WorkspaceError::NoSpace(_))), "{full:?}");
    assert!(fs::read_dir(workspaces.pool()).unwrap().flatten().all(|entry| entry.file_name() != "agent-0"));
    let workspaces = fixture.open();
    for _ in 0..2 {
        let unknown = workspaces.slot(Purpose::Agent, &CommitId("12".repeat(20))).map(drop);
        assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
        workspaces.slot(Purpose::Agent, &base).unwrap();
    }
}

#[test]
fn the_agent_commits_under_the_users_name_and_has_no_remote() {
    let fixture = Fixture::new();
    shell(&fixture.user, "git config user.name 'A \"B\" #C'; git config user.email a@example.org");
    shell(&fixture.user, "git remote add origin https://secret@example.org/x");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let script = "echo x > y; git add y; git commit -qm m; test \"$(git log -1 --format=%an)\" = 'A \"B\" #C'; \
        test -z \"$(git remote)\"; test \"$(git rev-list --count HEAD)\" = 2; git gc -q; git fsck --full";
    visit(&fixture, &workspaces, &base, script);
}
