//! Baselines are taken again when the environment is another, and never kept when it was broken.

use std::fs;

use fixpoint_vocabulary::settings::BaselineReuse;
use fixpoint_vocabulary::work::CheckEnd;

use crate::checked::Checked;

const CACHED: [&str; 1] = ["cached: check"];

#[test]
fn installing_a_package_or_a_program_takes_the_baseline_again() {
    let mut checked = Checked::new(&[]);
    checked.prepend_path(&checked.at("prefix/bin"));
    let is_cached = |checked: &Checked| checked.baseline("tool; true").notices == CACHED;
    assert!(!is_cached(&checked));
    assert!(is_cached(&checked));
    for file in [
        "prefix/bin/tool",
        "prefix/lib/python3.11/site-packages/x-1.dist-info/METADATA",
        "prefix/lib/node_modules/x/package.json",
        "prefix/lib/ruby/gems/3.1.0/specifications/x-1.gemspec",
        "home/.local/lib/python3.11/site-packages/x-1.dist-info/METADATA",
    ] {
        let path = checked.at(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
        assert!(!is_cached(&checked), "{file}");
        assert!(is_cached(&checked), "{file}");
    }
    checked.set("GOFLAGS", "-v");
    assert!(!is_cached(&checked), "a variable");
}

#[test]
fn what_looks_broken_is_not_kept() {
    let checked = Checked::new(&[]);
    let passing = "echo '1..2'; echo 'ok 1 - a'; echo 'not ok 2 - b'";
    let table = [
        ("nothing passes", "false".to_string(), CheckEnd::Failed, false),
        ("not found", "no-such-program".to_string(), CheckEnd::NotFound, false),
        ("some pass", format!("{passing}; false"), CheckEnd::Failed, true),
        (
            "a module is missing",
            format!("{passing}; echo \"# ModuleNotFoundError: No module named 'x'\"; false"),
            CheckEnd::Failed,
            false,
        ),
        ("passes", "true".to_string(), CheckEnd::Passed, true),
    ];
    for (name, command, end, is_kept) in table {
        let first = checked.baseline(&command);
        assert_eq!(first.report.end, end, "{name}: {:?}", first.report);
        assert!(first.notices.is_empty(), "{name}");
        let second = checked.baseline(&command);
        assert_eq!(second.notices == CACHED, is_kept, "{name}: {:?}", first.report);
    }
}

#[test]
fn a_damaged_entry_is_none() {
    let checked = Checked::new(&[]);
    checked.baseline("true");
    assert_eq!(checked.baseline("true").notices, CACHED);
    let entries = fs::read_dir(checked.at("baselines")).unwrap();
    let is_entry = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let entry = entries.map(|entry| entry.unwrap().path()).find(is_entry).unwrap();
    let content = fs::read_to_string(&entry).unwrap();
    fs::write(&entry, content.replace("\"passed\"", "\"failed\"")).unwrap();
    let run = checked.baseline("true");
    assert_eq!((run.report.end, run.notices.is_empty()), (CheckEnd::Passed, true));
    assert_eq!(checked.baseline("true").notices, CACHED, "it was written anew");
}

#[test]
fn a_fresh_baseline_replaces_the_cached_one() {
    let mut checked = Checked::new(&[]);
    let counter = checked.at("counter");
    let command = format!("echo x >> {} && wc -l < {}", counter.display(), counter.display());
    let runs = || fs::read_to_string(&counter).unwrap().lines().count();
    checked.baseline(&command);
    checked.settings.baseline.reuse = BaselineReuse::Refresh;
    assert!(checked.baseline(&command).notices.is_empty());
    assert_eq!(runs(), 2);
    checked.settings.baseline.reuse = BaselineReuse::Day;
    assert_eq!(checked.baseline(&command).notices, CACHED);
    checked.settings.baseline.reuse = BaselineReuse::Never;
    checked.baseline(&command);
    assert_eq!(runs(), 3);
}
