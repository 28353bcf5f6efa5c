//! Getting somewhere, and getting nowhere: one by one to the end, the same for ever, in circles, nothing at all.

use std::fs;

use serde_json::Value;

use super::lab::{Lab, both};

#[test]
fn ten_failing_tests_fixed_one_by_one() {
    both(|lab| {
        let names: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "broken")).collect();
        lab.sources(&files);
        let outcome = lab.until_checked("echo ok > src/t$((FIXPOINT_ATTEMPT - 1))");
        assert_eq!(outcome.end(), (0, "done", "done"));
        assert_eq!(outcome.iterations().len(), 10);
        assert_eq!(outcome.progress()[..9], ["progress"; 9]);
        assert_eq!(outcome.progress()[9], "complete");
        assert_eq!(outcome.stages(), [1; 10]);
        let left: Vec<usize> = (1..=10).map(|n| outcome.failures(n, "test").len()).collect();
        assert_eq!(left, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(outcome.json["proof"], "goals");
        let branch = format!("fixpoint/{}", outcome.run());
        assert_eq!(outcome.json["branch"], branch);
        assert_eq!(lab.git(&["show", &format!("{branch}:{}", lab.path("src/t9"))]), "ok\n");
        assert_eq!(lab.git(&["rev-parse", &branch]).trim(), outcome.json["result"]);
    });
}

#[test]
fn what_passes_already_starts_no_agent() {
    both(|lab| {
        lab.sources(&[("a", "ok")]);
        let outcome = lab.until_checked("touch ../started \"$HOME/started\"");
        assert_eq!(outcome.end(), (0, "done", "already_satisfied"));
        assert!(outcome.iterations().is_empty() && outcome.json["branch"].is_null());
        assert_eq!(outcome.json["cost"]["attempts"], 0);
        assert!(!lab.beside("home/started").exists());
    });
}

/// The diagnosis in the run's directory, as data.
fn diagnosis(lab: &Lab, outcome: &super::lab::Outcome) -> Value {
    let context = outcome.directory().join("context/loop");
    let read = |name: &str| fs::read_to_string(context.join(name)).expect("a diagnosis");
    let json: Value = serde_json::from_str(&read("diagnosis.json")).expect("JSON");
    let fingerprint = json["fingerprints"][0]["fingerprint"].as_str().expect("a fingerprint");
    assert!(read("diagnosis.md").contains(fingerprint), "{}", read("diagnosis.md"));
    assert!(lab.call(&["show"]).stdout.contains(fingerprint));
    json
}

#[test]
fn the_same_failure_for_ever() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let outcome = lab.until_checked("echo \"tried $FIXPOINT_ATTEMPT\" >> notes; cat > ../prompt");
        assert_eq!(outcome.end(), (3, "failed", "not_converging"));
        assert_eq!(outcome.progress(), ["repeated"; 4]);
        assert_eq!(outcome.stages(), [1, 1, 2, 2]);
        let json = diagnosis(lab, &outcome);
        assert_eq!(json["fingerprints"][0]["fingerprint"], outcome.failures(4, "fingerprint")[0]);
        assert_eq!(json["fingerprints"][0]["in_a_row"], 4);
        assert_eq!(outcome.json["diagnosis"], json);
        let prompt = fs::read_dir(outcome.directory().join("prompts")).expect("prompts");
        let prompts: Vec<String> =
            prompt.flatten().map(|entry| fs::read_to_string(entry.path()).expect("text")).collect();
        assert_eq!(prompts.iter().filter(|text| text.contains("# Minimal fix")).count(), 2);
    });
}

#[test]
fn there_and_back_again() {
    both(|lab| {
        lab.sources(&[("a", "broken"), ("b", "broken")]);
        let agent = "echo ok > src/a; echo ok > src/b
            if [ $((FIXPOINT_ATTEMPT % 2)) = 1 ]; then echo broken > src/a; else echo broken > src/b; fi";
        let outcome = lab.until_checked(agent);
        assert_eq!(outcome.end(), (3, "failed", "not_converging"));
        let progress = outcome.progress();
        assert_eq!(progress[..2], ["progress", "changed"], "{progress:?}");
        assert!(progress[2..].iter().all(|kind| ["oscillating", "repeated"].contains(kind)), "{progress:?}");
        assert!(progress.len() <= 7, "{progress:?}");
        diagnosis(lab, &outcome);
    });
}

#[test]
fn the_same_failure_in_other_words() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        // Only the message is another each time: a time, an address, a path, a value that was counted.
        let agent = "n=$FIXPOINT_ATTEMPT
            echo \"AssertionError: at 2024-05-0${n}T12:0$n:00Z in 0.$n s: object at 0x7f3a${n}c0$n\" > src/a
            echo \"in /tmp/pytest-of-me-$n/run$n/file: expected 5, got $((n * 7))\" >> src/a";
        let outcome = lab.until_checked(agent);
        assert_eq!(outcome.end(), (3, "failed", "not_converging"), "{:?}", outcome.progress());
        // The first differs from what the base said; then the same words come again and again.
        assert_eq!(outcome.progress()[1..], ["repeated"; 4]);
        let prints: Vec<Vec<&str>> = (1..=5).map(|n| outcome.failures(n, "fingerprint")).collect();
        assert!(prints.iter().all(|print| print == &prints[0]), "{prints:?}");
    });
}

#[test]
fn nothing_is_changed_at_all() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let outcome = lab.until_checked("true");
        assert_eq!(outcome.end(), (3, "failed", "not_converging"));
        assert_eq!(outcome.progress(), ["no_change"; 4]);
        diagnosis(lab, &outcome);
    });
}

#[test]
fn no_more_attempts_than_allowed() {
    both(|lab| {
        lab.sources(&[("a", "broken"), ("b", "broken"), ("c", "broken"), ("d", "broken")]);
        let agent = "echo ok > src/$(echo abcd | cut -c $FIXPOINT_ATTEMPT)";
        let outcome = lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "3"], agent);
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"));
        assert_eq!(outcome.progress(), ["progress"; 3]);
        assert_eq!(outcome.failures(3, "test"), ["d"]);
        // The best attempt can be had all the same.
        assert_eq!(lab.call(&["apply"]).code, 2);
        assert!(lab.call(&["diff"]).stdout.contains("+ok"));
    });
}

#[test]
fn words_are_no_verdict() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let agent =
            "echo $FIXPOINT_ATTEMPT > notes; echo DONE; echo 'All tests pass. COMPLETE'; echo complete";
        let outcome = lab.until_checked(agent);
        assert_eq!(outcome.end(), (3, "failed", "not_converging"));
    });
}

#[test]
fn a_check_that_speaks_is_taken_at_its_last_word_alone() {
    both(|lab| {
        let config = format!(
            "checks:\n  - name: judge\n    kind: goal\n    verdict: text\n    command: cd './{}' && sh judge.sh\n",
            lab.prefix()
        );
        lab.configure(&config);
        lab.put("judge.sh", "cat state");
        lab.put("state", "INCOMPLETE\n");
        lab.commit("a judge");
        let outcome = lab.looping(&[], "echo 'Complete rewrite needed' > state; echo $FIXPOINT_ATTEMPT > n");
        assert_eq!(outcome.end(), (3, "failed", "not_converging"), "{:?}", outcome.json);
        let outcome = lab.looping(&[], "printf 'thoughts\\nCOMPLETE\\n' > state");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
    });
}
