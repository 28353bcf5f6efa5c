//! `fixpoint config` over real files, environment and flags.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::process::{Ended, fixpoint, run};

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, text).expect("written");
    }
    directory
}

fn config(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Ended {
    let mut command = fixpoint(directory);
    command.arg("config").args(arguments).envs(environment.iter().copied());
    run(&mut command, b"")
}

#[test]
fn every_layer_and_its_origin() {
    let directory = project(&[
        ("xdg/fixpoint/config.yaml", "max_workers: 2\njudge:\n  max_samples: 3\n"),
        (".fixpoint/config.yaml", "max_workers: 4\nrefinement: { noiseThreshold: 2 }\n"),
        (".fixpoint/config.local.yaml", "convergence:\n  max_iterations: 7\n"),
        ("sub/dir/x", ""),
    ]);
    let arguments = ["show", "--origin", "--json", "--set", "planning.reflection.trigger_interval=5"];
    let shown = config(
        &directory.path().join("sub/dir"),
        &arguments,
        &[
            ("XDG_CONFIG_HOME", directory.path().join("xdg").to_str().expect("text")),
            ("MAX_PLAN_REVISIONS", "1"),
            ("FIXPOINT_REPLANNING__MAX_CHILDREN", "4"),
        ],
    );
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let table = [
        ("judge.max_samples", 3, "xdg/fixpoint/config.yaml:3"),
        ("max_workers", 4, ".fixpoint/config.yaml:1"),
        ("refinement.noise_threshold", 2, ".fixpoint/config.yaml:2"),
        ("convergence.max_iterations", 7, "config.local.yaml:2"),
        ("planning.revision.max_revisions", 1, "MAX_PLAN_REVISIONS"),
        ("replanning.max_children", 4, "FIXPOINT_REPLANNING__MAX_CHILDREN"),
        ("planning.reflection.trigger_interval", 5, "--set"),
        ("replanning.max_iterations", 3, "default"),
    ];
    for (key, value, origin) in table {
        assert_eq!(shown[key]["value"].as_f64(), Some(f64::from(value)), "{key}");
        let found = shown[key]["origin"].as_str().expect("text");
        assert!(found.contains(origin), "{key}: {found}");
    }
}

#[test]
fn one_key_or_section_as_lines() {
    let directory = project(&[]);
    let shown = config(directory.path(), &["show", "planning.revision"], &[]);
    assert_eq!(
        shown.stdout,
        "planning.revision.approval_timeout: 3600\nplanning.revision.max_revisions: 3\n\
         planning.revision.require_human_approval: false\n"
    );
    let unknown = config(directory.path(), &["show", "planning.revison"], &[]);
    assert!(unknown.code == 2 && unknown.stderr.contains("planning.revison"));
}

#[test]
fn errors_name_file_line_key_value_and_range() {
    let directory = project(&[(
        ".fixpoint/config.yaml",
        "max_workers: 3\nrefinement:\n  noise_treshold: 3\n  delta_threshold: 51\n",
    )]);
    let ended = config(directory.path(), &["validate"], &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for word in ["config.yaml:3", "noise_treshold", "did you mean `noise_threshold`"] {
        assert!(lines[0].contains(word), "{word}: {}", lines[0]);
    }
    for word in ["config.yaml:4", "refinement.delta_threshold", "51", "0", "50"] {
        assert!(lines[1].contains(word), "{word}: {}", lines[1]);
    }
    let as_json = config(directory.path(), &["validate", "--json"], &[]);
    let report: Value = serde_json::from_str(&as_json.stdout).expect("JSON");
    assert_eq!((as_json.code, report["valid"].as_bool()), (2, Some(false)));
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_single_error_is_a_single_line_from_every_layer() {
    let directory = project(&[]);
    let flag = |text| config(directory.path(), &["validate", "--set", text], &[]);
    let variable = |name, value| config(directory.path(), &["validate"], &[(name, value)]);
    let table = [
        (flag("max_workers=0"), "max_workers"),
        (flag("max_worker=1"), "did you mean `max_workers`"),
        (flag("max_workers"), "KEY=VALUE"),
        (variable("FIXPOINT_MAX_WORKER", "1"), "FIXPOINT_MAX_WORKERS"),
        (variable("PLANNING_STRATEGY", "brute_force"), "PLANNING_STRATEGY"),
    ];
    for (ended, word) in table {
        assert_eq!((ended.code, ended.stderr.lines().count()), (2, 1), "{ended:?}");
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}

#[test]
fn nothing_that_was_said_is_dropped_silently() {
    use std::os::unix::ffi::OsStringExt;
    let directory = project(&[]);
    let mut damaged = fixpoint(directory.path());
    damaged.args(["config", "validate"]);
    damaged.env("FIXPOINT_MODELS__PLANNER", std::ffi::OsString::from_vec(b"\xff".to_vec()));
    let ended = run(&mut damaged, b"");
    assert!(ended.code == 2 && ended.stderr.contains("FIXPOINT_MODELS__PLANNER"), "{ended:?}");
    fs::create_dir(directory.path().join(".fixpoint")).expect("created");
    std::os::unix::fs::symlink("nowhere", directory.path().join(".fixpoint/config.yaml")).expect("linked");
    let dangling = config(directory.path(), &["validate"], &[]);
    assert!(dangling.code == 2 && dangling.stderr.contains("config.yaml"), "{dangling:?}");
}

#[test]
fn settings_are_taken_only_where_they_are_read() {
    let ended = crate::process::run_anywhere(&["demo", "--set", "max_workers=1"], b"");
    assert_eq!(ended.code, 2, "{ended:?}");
    let empty = crate::process::run_anywhere(&["config", "validate", "--set", "max_workers="], b"");
    assert!(empty.code == 2 && empty.stderr.contains("KEY=VALUE"), "{empty:?}");
}

#[test]
fn noise_as_large_as_delta_is_a_warning() {
    let directory = project(&[(".fixpoint/config.yaml", "refinement: { noise_threshold: 5 }\n")]);
    let ended = config(directory.path(), &["validate"], &[]);
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("warning") && ended.stdout.contains("valid"), "{ended:?}");
}
