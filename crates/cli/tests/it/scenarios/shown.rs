//! What can be asked about runs, and what keeps house.

use std::fs;

use serde_json::Value;

use super::lab::{Lab, Outcome, both};
use crate::process::run;

fn a_done_run(lab: &Lab) -> Outcome {
    lab.sources(&[("a", "broken"), ("b", "broken")]);
    let agent = "echo working on $FIXPOINT_ATTEMPT; echo ok > src/$(echo ab | cut -c $FIXPOINT_ATTEMPT)";
    let arguments = ["--until", "sh ./check.sh", "--prompt", "Mend both."];
    let outcome = lab.looping(&arguments, agent);
    assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
    outcome
}

#[test]
fn diff_and_apply() {
    both(|lab| {
        let outcome = a_done_run(lab);
        let diff = lab.call(&["diff"]).stdout;
        assert!(diff.contains("+ok") && diff.contains(&lab.path("src/a")), "{diff}");
        let first = lab.json(0, &["diff", "--attempt", "1", "--json"]);
        assert_eq!(first["files"][0]["path"], lab.path("src/a"));
        assert!(lab.call(&["diff", "--stat"]).stdout.contains("2 files changed"));
        // In the way: nothing is changed, and it is said what is.
        lab.put("src/b", "mine\n");
        let conflict = lab.call(&["apply"]);
        assert_eq!(conflict.code, 5, "{}{}", conflict.stdout, conflict.stderr);
        assert!(conflict.stdout.contains(&lab.path("src/b")) && conflict.stdout.contains(outcome.run()));
        lab.git(&["checkout", "-q", "--", &lab.path("src/b")]);
        // Unrelated work of the user stays.
        lab.put("src/mine", "ok\n");
        let index = fs::read(lab.root().join(".git/index")).expect("an index");
        let applied = run(&mut lab.binary(&["apply", "--json"]), b"");
        assert_eq!(applied.code, 0, "{}", applied.stderr);
        assert_eq!(fs::read(lab.root().join(".git/index")).expect("an index"), index);
        for name in ["a", "b", "mine"] {
            assert_eq!(fs::read_to_string(lab.here().join("src").join(name)).expect("there"), "ok\n");
        }
    });
}

#[test]
fn everything_about_a_run() {
    both(|lab| {
        let outcome = a_done_run(lab);
        let id = outcome.run();
        let logs = lab.call(&["logs"]).stdout;
        assert!(logs.contains("working on 1") && logs.contains("not ok 1 - a"), "{logs}");
        let of_agent = lab.call(&["logs", "--agent", "--attempt", "2"]).stdout;
        assert!(of_agent.contains("working on 2") && !of_agent.contains("working on 1"), "{of_agent}");
        let history = lab.call(&["history"]);
        assert!(
            history.stdout.contains("agent ended") && history.stdout.contains("progress"),
            "{}",
            history.stdout
        );
        let lines = lab.call(&["history", "--json"]).stdout;
        assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
        assert_eq!(lab.json(0, &["show", "--json"]), outcome.json);
        assert!(lab.call(&["show", id]).stdout.contains("sh ./check.sh"));
        let status = lab.json(0, &["status", "--json"]);
        assert_eq!((&status["status"], &status["attempts"]), (&"done".into(), &2.into()));
        assert_eq!(status["phase"], "completion");
        let told = lab.call(&["status"]).stdout;
        assert!(told.starts_with(&format!("{id}: done\nphase: completed\n2 attempts, ")), "{told}");
        let told = lab.call(&["status", "--lang", "ja"]).stdout;
        assert!(told.starts_with(&format!("{id}: 完了\nフェーズ: 完了\n試行2回、")), "{told}");
        let list = lab.call(&["list"]).stdout;
        assert!(list.contains(id) && list.contains("Mend both.") && list.contains("done"), "{list}");
        let part = id.rsplit('-').next().expect("a part");
        assert_eq!(lab.json(0, &["explain", part, "--json"])["run"], id);
    });
}

#[test]
fn replay_decides_the_same_or_says_what_differs() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let outcome = lab.until_checked("echo $FIXPOINT_ATTEMPT > notes");
        assert_eq!(outcome.end(), (3, "failed", "not_converging"));
        assert_eq!(lab.json(0, &["replay", "--json"])["identical"], true);
        assert!(lab.call(&["replay"]).stdout.contains("all identical"));
        let other = ["replay", "--set", "convergence.stall_threshold=1"];
        let told = lab.call(&other);
        assert!(told.code == 0 && told.stdout.contains("now:"), "{}{}", told.stdout, told.stderr);
        let json = lab.json(0, &[&other[..], &["--json"]].concat());
        assert_eq!(
            (&json["identical"], &json["difference"]["attempts_after"]),
            (&false.into(), &3.into()),
            "{json}"
        );
    });
}

#[test]
fn keeping_house() {
    both(|lab| {
        let done = a_done_run(lab);
        lab.put("src/a", "broken again\n");
        let failed = lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "1"], "echo x > notes");
        let kept = lab.json(0, &["gc", "--json"]);
        assert_eq!(kept["removed"], serde_json::json!([]), "young runs stay");
        let dry = lab.json(0, &["gc", "--days", "0", "--dry-run", "--json"]);
        let gone = lab.json(0, &["gc", "--days", "0", "--json"]);
        assert_eq!(dry["removed"], gone["removed"]);
        assert_eq!(
            (&gone["removed"], &gone["kept"][0]["run"]),
            (&serde_json::json!([done.run()]), &failed.run().into())
        );
        assert!(!done.directory().exists() && failed.directory().exists());
        assert!(
            lab.git(&["branch", "--list", "fixpoint/*"]).contains(done.run()),
            "what was delivered stays"
        );
        assert!(lab.git(&["for-each-ref", "refs/fixpoint"]).contains(failed.run()));
        let gone = lab.json(0, &["gc", "--days", "0", "--force", "--json"]);
        assert_eq!(gone["removed"], serde_json::json!([failed.run()]));
        assert_eq!(lab.git(&["for-each-ref", "refs/fixpoint"]), "");
        assert_eq!(lab.call(&["show"]).code, 2);
    });
}
