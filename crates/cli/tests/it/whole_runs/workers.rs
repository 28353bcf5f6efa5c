//! Who works at the same time: never more than allowed, never two in the same place, and whoever can.

use std::collections::BTreeSet;

use super::stage::Stage;
use super::words::{Task, agreeing, task};

const MAX_WORKERS: usize = 3;

/// Writes a file of its own in a place, and notes when it begins and ends. The first few wait for each other, so that
/// they are at work together if they may be.
fn works(name: &str, place: &str, log: &str) -> Task {
    let meets = format!(
        "n=0; while [ $(grep -c begin {log}) -lt {MAX_WORKERS} ] && [ $n -lt 1000 ]; do n=$((n + 1)); sleep 0.02; done"
    );
    let file = format!("src/{place}/{name}");
    let does = format!(
        "echo begin {name} >> {log}; {meets}; mkdir -p src/{place}; echo two > {file}; echo end {name} >> {log}"
    );
    let does = does.replace("src/solo", &format!("src/{name}"));
    let (file, scope) = match place {
        "solo" => (format!("src/{name}/{name}"), format!("src/{name}/**")),
        place => (file, format!("src/{place}/**")),
    };
    task(name, &does).within(&[&scope]).until(&format!("grep -qx two {file}"))
}

#[test]
fn ten_tasks_share_three_workers_and_nobody_works_where_another_does() {
    // The log must be known before the server is, so its place is no part of the stage.
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    std::fs::write(&log, "").expect("written");
    let path = log.to_string_lossy().into_owned();
    let names = ["x1", "x2", "x3", "y1", "y2", "y3", "d1", "d2", "d3", "d4"];
    let place = |name: &str| match name.chars().next() {
        Some('x') => "xs",
        Some('y') => "ys",
        Some(_) | None => "solo",
    };
    let tasks: Vec<Task> = names.iter().map(|name| works(name, place(name), &path)).collect();
    let stage = Stage::new(&agreeing(&tasks));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);

    let mut at_work: BTreeSet<String> = BTreeSet::new();
    let (mut most, mut ended) = (0, 0);
    let text = std::fs::read_to_string(&log).expect("a log");
    for line in text.lines() {
        let (what, name) = line.split_once(' ').expect("two words");
        if what == "end" {
            assert!(at_work.remove(name), "{text}");
            ended += 1;
            continue;
        }
        let shared = at_work.iter().find(|other| place(other) == place(name) && place(name) != "solo");
        assert_eq!(shared, None, "with {name} in the same place: {text}");
        assert!(at_work.insert(name.to_string()), "{text}");
        most = most.max(at_work.len());
    }
    assert_eq!((most, ended), (MAX_WORKERS, names.len()), "{text}");
    for name in names {
        let file = if place(name) == "solo" {
            format!("src/{name}/{name}")
        } else {
            format!("src/{}/{name}", place(name))
        };
        assert_eq!(stage.delivered(&outcome, &file), "two\n");
    }
}
