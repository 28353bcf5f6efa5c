//! Runs that wait: for money, for somebody, after Ctrl-C; and what goes on later.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::lab::{Lab, Outcome, Place, both, processes_with, wait_for};
use super::unchanged::{Allowed, Picture};

const FIVE: [(&str, &str); 5] =
    [("a", "broken"), ("b", "broken"), ("c", "broken"), ("d", "broken"), ("e", "broken")];
/// Mends one after the other.
const ONE_BY_ONE: &str = "for f in a b c d e; do grep -qx ok src/$f || { echo ok > src/$f; exit 0; }; done";

#[test]
fn a_budget_pauses_and_more_of_it_goes_on() {
    both(|lab| {
        lab.sources(&FIVE);
        let arguments = ["--until", "sh ./check.sh", "--budget", "attempts=2"];
        let outcome = lab.looping(&arguments, ONE_BY_ONE);
        assert_eq!(outcome.end(), (6, "paused", "budget"));
        assert_eq!(
            (outcome.progress(), &outcome.json["branch"]),
            (vec!["progress"; 2], &serde_json::Value::Null)
        );
        assert!(lab.explained(&outcome).contains("fixpoint resume --budget attempts=+3"));
        let again = lab.resume(&[]);
        assert_eq!((again.end(), again.iterations().len()), ((6, "paused", "budget"), 2));
        let done = lab.resume(&["--budget", "attempts=+5"]);
        assert_eq!(done.end(), (0, "done", "done"), "{:?}", done.json);
        assert_eq!((done.iterations().len(), done.run()), (5, outcome.run()));
        assert_eq!(lab.resume(&[]).json, done.json, "what is over is only told again");
    });
}

/// Catches advice to raise a limit that was not reached.
#[test]
fn the_advice_raises_the_limit_that_was_reached() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    for (set, limit, more) in [
        ("budget.usd=0", "($0.00)", "--budget usd=+2`"),
        ("budget.wall_time=0", "(0 s)", "--budget time=+30m`"),
        ("budget.attempts=0", "(0 attempts)", "--budget attempts=+3`"),
    ] {
        let outcome = lab.looping(&["--until", "sh ./check.sh", "--set", set], "echo ok > src/a");
        assert_eq!(outcome.end(), (6, "paused", "budget"), "{set}");
        let told = lab.explained(&outcome);
        assert!(told.contains(limit) && told.contains(more), "{set}: {told}");
    }
}

#[test]
fn a_check_that_waits_pauses() {
    both(|lab| {
        let open = lab.beside("open");
        lab.put(
            "gate.sh",
            &format!(
                "decide() {{ printf '{{\"check_id\": \"%s\", \"decision\": \"%s\", \"reasons\": [\"the review is open\"]}}' \
                 \"$FIXPOINT_CHECK_ID\" \"$1\" > \"$FIXPOINT_DECISION_FILE\"; }}\n\
                 [ -f src/a ] || {{ decide incomplete; echo 'not ok 1 - a'; exit 1; }}\n\
                 if [ -f '{}' ]; then echo 'ok 1 - a'; exit 0; fi\n\
                 decide waiting",
                open.display()
            ),
        );
        lab.commit("a gate");
        let outcome = lab.looping(&["--until", "sh ./gate.sh"], "mkdir -p src; echo x > src/a");
        assert_eq!(outcome.end(), (5, "paused", "waiting"), "{:?}", outcome.json);
        assert_eq!(lab.resume(&[]).end(), (5, "paused", "waiting"));
        std::fs::write(&open, "").expect("written");
        let done = lab.resume(&[]);
        assert_eq!(done.end(), (0, "done", "done"), "{:?}", done.json);
        assert_eq!((done.iterations().len(), &done.json["cost"]["attempts"]), (1, &serde_json::json!(1)));
    });
}

#[test]
fn ctrl_c_ends_everything_and_keeps_the_state() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let mark =
            format!("mark-{}", lab.beside("x").parent().expect("a parent").display()).replace('/', "-");
        let started = lab.beside("started");
        let agent = lab.agent(&format!(
            "[ -f '{0}' ] && {{ echo ok > src/a; exit 0; }}
             echo half > src/half; sh -c 'sleep 600; : {mark}' & echo x > '{0}'; sleep 600; : {mark}",
            started.display()
        ));
        let before = Picture::of(&lab.root());
        let mut command = lab.binary(&["loop", "--until", "sh ./check.sh", "--", &agent]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        wait_for("the agent", || started.exists());
        wait_for("its child", || !processes_with(&mark).is_empty());
        let began = std::time::Instant::now();
        kill(Pid::from_raw(child.id().try_into().expect("an id")), Signal::SIGINT).expect("sent");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130));
        assert!(began.elapsed().as_secs() < 15, "it took {:?}", began.elapsed());
        assert_eq!(processes_with(&mark), [0; 0]);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains("Resume: fixpoint resume 2") && told.contains("[stopped]"), "{told}");
        assert_eq!(before.differences(&Picture::of(&lab.root()), Allowed::Nothing), [""; 0]);
        let status = lab.json(0, &["status", "--json"]);
        assert_eq!((&status["status"], &status["cause"]), (&"paused".into(), &"stopped".into()));
        let done: Outcome = lab.resume(&[]);
        assert_eq!(done.end(), (0, "done", "done"), "{:?}", done.json);
        // What the agent had half written is kept, and does not get into the result.
        assert!(lab.git(&["for-each-ref", "refs/fixpoint"]).contains("interrupted-1"));
        assert!(!lab.call(&["diff"]).stdout.contains("half"));
    });
}

#[test]
fn a_process_that_is_killed_leaves_nothing_running_and_can_be_resumed() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let started = lab.beside("started");
        let mark = format!("mark-{}", started.display()).replace('/', "-");
        let agent = lab.agent(&format!(
            "[ -f '{0}' ] && {{ echo ok > src/a; exit 0; }}
             setsid sh -c 'sleep 600; : {mark}' & echo x > '{0}'; sleep 600; : {mark}",
            started.display()
        ));
        let mut command = lab.binary(&["loop", "--until", "sh ./check.sh", "--", &agent]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        wait_for("the agent", || started.exists());
        child.kill().expect("killed");
        child.wait().expect("gone");
        wait_for("nothing is left", || processes_with(&mark).is_empty());
        assert_eq!(lab.json(0, &["status", "--json"])["status"], "interrupted");
        for command in ["explain", "status", "show"] {
            let said = lab.call(&[command]).stdout;
            assert!(said.contains("Interrupted") && said.contains("`fixpoint resume 20"), "{said}");
            assert!(!said.contains("is working"), "{said}");
        }
        let done = lab.resume(&[]);
        assert_eq!(done.end(), (0, "done", "done"), "{:?}", done.json);
        assert_eq!(done.json["cost"]["interruptions"], 1);
    });
}

#[test]
fn two_loops_at_the_same_time() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let agent = lab.agent("echo ok > src/a");
        let start = || {
            let mut command = lab.binary(&["loop", "--json", "--until", "sh ./check.sh", "--", &agent]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts")
        };
        let children = [start(), start(), start()];
        for child in children {
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(lab.call(&["list"]).stdout.lines().count(), 3);
        assert_eq!(lab.git(&["branch", "--list", "fixpoint/*"]).lines().count(), 3);
    });
}

#[test]
fn stop_from_elsewhere() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let started = lab.beside("started");
        let agent = lab.agent(&format!("echo x > '{}'; exec sleep 600", started.display()));
        let mut command = lab.binary(&["loop", "--json", "--until", "sh ./check.sh", "--", &agent]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let child = child.expect("it starts");
        wait_for("the agent", || started.exists());
        let status = lab.json(0, &["status", "--json"]);
        assert_eq!((&status["status"], &status["pid"]), (&"running".into(), &child.id().into()));
        let twice = lab.call(&["resume"]);
        assert_eq!((twice.code, twice.stderr.lines().count()), (7, 1), "{}", twice.stderr);
        lab.json(0, &["stop", "--json"]);
        assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    });
}
