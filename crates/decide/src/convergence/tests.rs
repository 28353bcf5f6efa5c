//! The controller over single histories.

use super::*;
pub(super) fn fingerprint(name: char) -> Fingerprint {
    Fingerprint(name.to_string())
}

/// An incomplete attempt whose failures are the letters of `names`, with a tree of its own.
pub(super) fn failing(names: &str) -> Attempt {
    let masked = names.starts_with('!');
    let fingerprints = names.trim_start_matches('!').chars().map(fingerprint).collect();
    Attempt {
        outcome: AttemptOutcome::Incomplete,
        fingerprints: Some(fingerprints),
        masked,
        rerun: false,
        flaky: BTreeSet::new(),
        tree: None,
        base_tree: None,
        scope_violations: BTreeSet::new(),
    }
}

fn with_outcome(outcome: AttemptOutcome) -> Attempt {
    Attempt { outcome, fingerprints: None, ..failing("") }
}

pub(super) fn history(before: Option<&str>, iterations: Vec<Attempt>) -> Question {
    let goal_failures_before = before.map(|names| names.chars().map(fingerprint).collect());
    Question {
        config: Limits::default(),
        goal_failures_before,
        masked_before: false,
        tree_before: None,
        iterations,
    }
}

pub(super) fn verdicts(question: &Question) -> Vec<AttemptVerdict> {
    decide(question).unwrap().iterations
}

/// The end of a history: how many attempts, what was done, and why.
fn end(question: &Question) -> (usize, Action, Option<Cause>) {
    let verdicts = verdicts(question);
    let last = verdicts.last().unwrap();
    (verdicts.len(), last.action, last.cause)
}

const NOT_CONVERGING: (Action, Option<Cause>) = (Action::Stop, Some(Cause::NotConverging));

fn stops_after(question: &Question) -> usize {
    let (attempts, action, cause) = end(question);
    assert_eq!((action, cause), NOT_CONVERGING, "{:?}", verdicts(question));
    attempts
}

#[test]
fn the_same_failure_for_ever_is_stopped_after_the_fourth_attempt() {
    let question = history(Some("a"), vec![failing("a"); 10]);
    assert_eq!(stops_after(&question), 4);
    let counts: Vec<_> = verdicts(&question).iter().map(|v| (v.stage, v.stall_count)).collect();
    assert_eq!(counts, [(1, 1), (2, 0), (2, 1), (3, 0)]);
    assert_eq!(
        stops_after(&history(None, vec![failing("a"); 10])),
        5,
        "the first has nothing to compare with"
    );
}

#[test]
fn exactly_the_configured_number_of_stalls_stops_a_task() {
    for (stall_threshold, max_stage, stalls) in [(1, 2, 1), (2, 3, 4), (3, 4, 9), (5, 2, 5)] {
        let mut question = history(Some("a"), vec![failing("a"); 10]);
        let convergence = &mut question.config.convergence;
        (convergence.stall_threshold, convergence.max_stage) = (stall_threshold, max_stage);
        let found = (question.config.convergence.stalls_to_stop(), stops_after(&question));
        assert_eq!(found, (stalls, stalls as usize), "{stall_threshold} stalls, {max_stage} stages");
    }
}

#[test]
fn oscillation_of_any_period_up_to_5_is_stopped() {
    for period in 1..=5 {
        let letters = ["a", "b", "c", "d", "e"];
        let mut question = history(Some("a"), (1..40).map(|n| failing(letters[n % period])).collect());
        question.config.convergence.max_iterations = 100;
        let attempts = stops_after(&question);
        assert!(attempts <= 2 * period + 4, "period {period} took {attempts} attempts");
    }
}

#[test]
fn an_attempt_that_changes_nothing_is_a_stall() {
    let unchanged = Attempt { tree: Some("t".to_string()), ..failing("a") };
    let mut question = history(Some("ab"), vec![unchanged; 9]);
    question.tree_before = Some("t".to_string());
    assert!(verdicts(&question).iter().all(|verdict| verdict.progress == ProgressKind::NoChange));
    assert_eq!(stops_after(&question), 4);
}

#[test]
fn the_tree_is_compared_with_the_one_the_attempt_began_with() {
    let left = |tree: &str| Attempt { tree: Some(tree.to_string()), ..failing("a") };
    let progress = |question: &Question| verdicts(question).last().unwrap().progress;
    let infra = Attempt { tree: Some("2".to_string()), ..with_outcome(AttemptOutcome::Infra) };
    let through_infra = |tree| history(Some("a"), vec![left("1"), infra.clone(), left(tree)]);
    assert_eq!(
        progress(&through_infra("2")),
        ProgressKind::NoChange,
        "the attempt before left that tree unchecked"
    );
    assert_eq!(progress(&through_infra("1")), ProgressKind::Repeated);
    let absent = Attempt { tree: None, ..left("") };
    assert_eq!(
        progress(&history(Some("a"), vec![left("1"), absent.clone(), left("1")])),
        ProgressKind::Repeated
    );
    assert_eq!(
        progress(&history(Some("a"), vec![absent])),
        ProgressKind::Repeated,
        "an absent tree is no tree"
    );
    let mut first = history(None, vec![left("1")]);
    first.tree_before = Some("1".to_string());
    assert_eq!(progress(&first), ProgressKind::First, "with nothing to compare, no change is no stall yet");
    let on_best = Attempt { base_tree: Some("1".to_string()), ..left("1") };
    assert_eq!(progress(&history(Some("a"), vec![left("1"), left("2"), on_best])), ProgressKind::NoChange);
}

#[test]
fn repeated_scope_violations_are_stalls_and_never_complete() {
    let wandering = Attempt {
        scope_violations: BTreeSet::from(["ci.yml".to_string()]),
        ..with_outcome(AttemptOutcome::Complete)
    };
    assert_eq!(stops_after(&history(None, vec![wandering; 9])), 5);
}

/// What is decided after the last of these attempts at something that failed before.
fn last_of(iterations: Vec<Attempt>) -> AttemptVerdict {
    decide(&history(Some("a"), iterations)).unwrap().iterations.pop().unwrap()
}

#[test]
fn checks_that_only_ran_again_count_for_nothing() {
    let again = || Attempt { rerun: true, ..failing("a") };
    let last = last_of(vec![again(), again(), again(), again(), failing("a")]);
    assert_eq!((last.progress, last.stall_count, last.stage), (ProgressKind::Repeated, 1, 1));
    let only = last_of(vec![failing("a"), again()]);
    assert_eq!((only.progress, only.action, only.stall_count), (ProgressKind::Rerun, Action::Continue, 1));
}

#[test]
fn an_environment_that_lacks_something_twice_pauses_the_task() {
    let lacking = || with_outcome(AttemptOutcome::Environment);
    let once = last_of(vec![lacking()]);
    assert_eq!((once.progress, once.action, once.stall_count), (ProgressKind::Infra, Action::Continue, 0));
    let twice = last_of(vec![lacking(), lacking()]);
    assert_eq!((twice.action, twice.cause), (Action::Pause, Some(Cause::Infrastructure)));
    let apart = last_of(vec![lacking(), failing("b"), lacking()]);
    assert_eq!(apart.action, Action::Continue);
}

#[test]
fn infrastructure_and_waiting_are_never_stalls() {
    let infra = || with_outcome(AttemptOutcome::Infra);
    let question = history(Some("a"), vec![infra(), failing("a"), infra(), failing("a"), infra(), infra()]);
    let verdicts = verdicts(&question);
    let counts: Vec<_> = verdicts.iter().map(|v| (v.progress, v.stall_count, v.stage)).collect();
    use ProgressKind::{Infra, Repeated};
    assert_eq!(
        counts,
        [(Infra, 0, 1), (Repeated, 1, 1), (Infra, 1, 1), (Repeated, 0, 2), (Infra, 0, 2), (Infra, 0, 2)]
    );
    assert_eq!(verdicts.last().unwrap().cause, Some(Cause::Infrastructure));
    let waiting = history(Some("a"), vec![with_outcome(AttemptOutcome::Waiting), failing("a")]);
    assert_eq!(end(&waiting), (1, Action::Pause, Some(Cause::Waiting)));
}

#[test]
fn getting_past_a_compile_error_is_progress() {
    let question = history(Some("x"), vec![failing("!c"), failing("abcd")]);
    let kinds: Vec<_> = verdicts(&question).iter().map(|v| v.progress).collect();
    assert_eq!(kinds, [ProgressKind::Regressed, ProgressKind::Progress]);
}

#[test]
fn progress_lowers_the_stage_again() {
    let question = history(
        Some("abcdefgh"),
        ["abcdefgh", "abcdefgh", "abcdefg", "abcdef", "abcde", "abcd", "abc"].map(failing).to_vec(),
    );
    let stages: Vec<_> = verdicts(&question).iter().map(|v| v.stage).collect();
    assert_eq!(stages, [1, 2, 2, 1, 1, 1, 1], "never below the first");
    let interrupted = ["abcdef", "abcdef", "abcde", "abcdx", "abcd", "abc"].map(failing).to_vec();
    let stages: Vec<_> = verdicts(&history(Some("abcdef"), interrupted)).iter().map(|v| v.stage).collect();
    assert_eq!(stages, [1, 2, 2, 2, 2, 1], "progress must come in a row");
    let climbing = ["abcdef", "abcdef", "abcdef", "abcdef", "abcde", "abcd", "abc", "ab"];
    let mut twice = history(Some("abcdef"), climbing.map(failing).to_vec());
    twice.config.convergence.max_stage = 4;
    let stages: Vec<_> = verdicts(&twice).iter().map(|v| v.stage).collect();
    assert_eq!(stages, [1, 2, 2, 3, 3, 2, 2, 1], "each stage takes as much progress as the one above");
}

#[test]
fn every_third_change_in_a_row_is_a_stall() {
    let question = history(Some("z"), ["a", "b", "c", "d", "e", "f", "g"].map(failing).to_vec());
    let stalls: Vec<_> = verdicts(&question).iter().map(|v| (v.stall_count, v.stage)).collect();
    assert_eq!(stalls, [(0, 1), (0, 1), (1, 1), (1, 1), (1, 1), (0, 2), (0, 2)]);
    let first_stall = |limit| {
        let mut question = question.clone();
        question.config.convergence.changed_limit = limit;
        verdicts(&question).iter().position(|verdict| verdict.reason.code == Code::Stalled)
    };
    assert_eq!([1, 2, 4].map(first_stall), [Some(0), Some(1), Some(3)], "or so many as are configured");
}

#[test]
fn a_row_of_changes_outlasts_checks_that_could_not_run_and_nothing_else() {
    let stalls = |attempts: &[&str]| -> Vec<_> {
        let attempt = |names: &&str| match *names {
            "infra" => with_outcome(AttemptOutcome::Infra),
            names => failing(names),
        };
        let question = history(Some("z"), attempts.iter().map(attempt).collect());
        verdicts(&question).iter().map(|v| (v.stall_count, v.stage)).collect()
    };
    assert_eq!(stalls(&["a", "b", "infra", "c"]), [(0, 1), (0, 1), (0, 1), (1, 1)]);
    assert_eq!(
        stalls(&["a", "b", "b", "c", "d", "e"]),
        [(0, 1), (0, 1), (1, 1), (1, 1), (1, 1), (0, 2)],
        "the repetition is a stall, and the row begins anew after it"
    );
}

/// The last verdict's words, in both languages.
fn words(question: &Question) -> (String, String) {
    let text = verdicts(question).pop().unwrap().reason.text;
    (text.in_lang(Lang::En).to_string(), text.in_lang(Lang::Ja).to_string())
}

#[test]
fn a_stall_says_what_kind_it_is_and_how_far_it_has_come() {
    let stalls = |before, attempts: &[&str]| {
        let attempts = attempts.iter().map(|names| failing(names)).collect();
        words(&history(Some(before), attempts))
    };
    let at_stage_1 = |en: &str, ja: &str| {
        (format!("{en} (stall 1 of 2 at stage 1)"), format!("{ja}（ステージ 1 の停滞 1/2）"))
    };
    let repeated = ("the same failures again", "同じ失敗の反復");
    for (row, found, expected) in [
        ("repeated", stalls("a", &["a"]), at_stage_1(repeated.0, repeated.1)),
        (
            "oscillating",
            stalls("a", &["b", "a"]),
            at_stage_1("back to failures seen before", "以前と同じ失敗に逆戻り"),
        ),
        ("regressed", stalls("a", &["ab"]), at_stage_1("more failures than before", "失敗が増加")),
        (
            "changed",
            stalls("z", &["a", "b", "c"]),
            at_stage_1("other failures each time, never fewer", "失敗が入れ替わるだけで減らない"),
        ),
        (
            "next stage",
            stalls("a", &["a", "a"]),
            (format!("{}; on to stage 2", repeated.0), format!("{}。ステージ 2 へ", repeated.1)),
        ),
        (
            "last stage",
            stalls("a", &["a"; 4]),
            (
                format!("{}; the last stage, 3, is reached: not converging", repeated.0),
                format!("{}。最終ステージ 3 に到達、収束しない", repeated.1),
            ),
        ),
    ] {
        assert_eq!(found, expected, "{row}");
    }
    let mut unchanged = history(Some("a"), vec![Attempt { tree: Some("t".to_string()), ..failing("a") }]);
    unchanged.tree_before = Some("t".to_string());
    assert_eq!(words(&unchanged), at_stage_1("the attempt left the files unchanged", "変更なし"));
}

#[test]
fn caps_and_switches() {
    let letters = |count| ('a'..='z').take(count).collect::<String>();
    let fixing: Vec<_> = (0..12).map(|n| failing(&letters(13 - n))).collect();
    assert_eq!(end(&history(Some(&letters(14)), fixing)), (10, Action::Stop, Some(Cause::MaxIterations)));
    let mut plain = history(Some("a"), vec![failing("a"); 20]);
    plain.config.convergence.enabled = false;
    assert_eq!(end(&plain), (10, Action::Stop, Some(Cause::MaxIterations)));
    let mut going_on = history(Some("a"), vec![failing("a"); 20]);
    going_on.config.convergence.fail_on_max_stage = false;
    assert_eq!(end(&going_on), (10, Action::Stop, Some(Cause::MaxIterations)));
    let done = history(Some("a"), vec![failing("a"), with_outcome(AttemptOutcome::Complete), failing("a")]);
    assert_eq!(end(&done), (2, Action::Complete, None));
}

#[test]
fn an_incomplete_attempt_must_say_what_fails() {
    let silent = history(None, vec![failing("a"), with_outcome(AttemptOutcome::Incomplete)]);
    assert_eq!(decide(&silent), Err(MissingFingerprints(1)));
}
