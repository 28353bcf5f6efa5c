//! The controller over all random histories: against a plain reference, and what must hold whatever happens.

use proptest::prelude::*;

use super::tests::{failing, fingerprint, history, verdicts};
use super::*;

/// The controller written as plainly as possible: every rule looks at the whole history again, nothing is kept.
struct Reference<'a> {
    question: &'a Question,
}

/// What fails after an attempt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Failing {
    Check(Fingerprint),
    Scope(String),
}

fn names_of(fingerprints: &BTreeSet<Fingerprint>) -> impl Iterator<Item = Failing> {
    fingerprints.iter().cloned().map(Failing::Check)
}

/// What the reference says of one attempt: kind, stalls, stage, action, cause.
type Said = (ProgressKind, u32, u32, Action, Option<Cause>);

impl Reference<'_> {
    fn limits(&self) -> &ConvergenceSettings {
        &self.question.config.convergence
    }

    /// The set of attempt `n` as it is seen at attempt `at`, or of the base for `None`.
    fn set(&self, n: Option<usize>, at: usize) -> Option<(BTreeSet<Failing>, bool)> {
        let (names, masked) = match n {
            None => (
                names_of(self.question.goal_failures_before.as_ref()?).collect(),
                self.question.masked_before,
            ),
            Some(n) => {
                let attempt = &self.question.iterations[n];
                let outside = attempt.scope_violations.iter().cloned().map(Failing::Scope);
                match attempt.outcome {
                    AttemptOutcome::Infra | AttemptOutcome::Environment | AttemptOutcome::Waiting => {
                        return None;
                    }
                    AttemptOutcome::Complete if attempt.scope_violations.is_empty() => return None,
                    AttemptOutcome::Complete | AttemptOutcome::Incomplete => {}
                }
                let names = attempt.fingerprints.iter().flat_map(names_of);
                (names.chain(outside).collect::<BTreeSet<Failing>>(), attempt.masked)
            }
        };
        let flaky = self.question.iterations[..=at].iter().flat_map(|attempt| names_of(&attempt.flaky));
        let flaky: BTreeSet<Failing> = flaky.collect();
        Some((names.difference(&flaky).cloned().collect(), masked))
    }

    fn kind(&self, n: usize) -> ProgressKind {
        let attempt = &self.question.iterations[n];
        let Some(current) = self.set(Some(n), n) else {
            return match attempt.outcome {
                AttemptOutcome::Infra | AttemptOutcome::Environment => ProgressKind::Infra,
                AttemptOutcome::Waiting => ProgressKind::Waiting,
                AttemptOutcome::Complete | AttemptOutcome::Incomplete => ProgressKind::Complete,
            };
        };
        let earlier: Vec<_> =
            core::iter::once(None).chain((0..n).map(Some)).filter_map(|n_| self.set(n_, n)).collect();
        let Some(previous) = earlier.last() else { return ProgressKind::First };
        let before = match n {
            0 => &self.question.tree_before,
            _ => &self.question.iterations[n - 1].tree,
        };
        let comparable: Vec<_> = earlier.iter().filter(|set| set.1 == current.1).collect();
        let fewer_than_all = comparable.iter().all(|set| current.0.len() < set.0.len());
        if attempt.tree.is_some() && &attempt.tree == before {
            ProgressKind::NoChange
        } else if previous.1 && !current.1 || fewer_than_all && !comparable.is_empty() {
            ProgressKind::Progress
        } else if &current == previous {
            ProgressKind::Repeated
        } else if earlier.contains(&current) {
            ProgressKind::Oscillating
        } else if current.1 && !previous.1
            || current.1 == previous.1 && previous.0.iter().all(|name| current.0.contains(name))
        {
            ProgressKind::Regressed
        } else {
            ProgressKind::Changed
        }
    }

    /// Whether attempt `n` is a stall: for changed ones, whether it is the third (and so on) in a row.
    fn is_stall(&self, n: usize) -> bool {
        match self.kind(n) {
            ProgressKind::NoChange
            | ProgressKind::Repeated
            | ProgressKind::Oscillating
            | ProgressKind::Regressed => true,
            ProgressKind::Changed => {
                let checked = (0..=n).rev().map(|n| self.kind(n)).filter(|kind| *kind != ProgressKind::Infra);
                let row = checked.take_while(|kind| *kind == ProgressKind::Changed).count();
                row.is_multiple_of(self.limits().changed_limit as usize)
            }
            ProgressKind::Infra
            | ProgressKind::Rerun
            | ProgressKind::Waiting
            | ProgressKind::Complete
            | ProgressKind::First
            | ProgressKind::Progress => false,
        }
    }

    fn run(&self) -> Vec<Said> {
        let limits = self.limits();
        let (mut stage, mut stalls, mut recovery, mut infra) = (1, 0, 0, 0);
        let mut said = Vec::new();
        for n in 0..self.question.iterations.len() {
            let kind = self.kind(n);
            infra = if kind == ProgressKind::Infra { infra + 1 } else { 0 };
            let mut end = None;
            match kind {
                ProgressKind::Complete => end = Some((Action::Complete, None)),
                ProgressKind::Waiting => end = Some((Action::Pause, Some(Cause::Waiting))),
                ProgressKind::Infra if infra >= self.question.config.max_infra_failures => {
                    let is_environment = self.question.iterations[n].outcome == AttemptOutcome::Environment;
                    let action = if is_environment { Action::Pause } else { Action::Stop };
                    end = Some((action, Some(Cause::Infrastructure)));
                }
                ProgressKind::Progress => {
                    stalls = 0;
                    recovery += u32::from(stage > 1);
                    if stage > 1 && recovery >= limits.recover_after {
                        (stage, recovery) = (stage - 1, 0);
                    }
                }
                _ if self.is_stall(n) => {
                    recovery = 0;
                    stalls += 1;
                    if stalls >= limits.stall_threshold {
                        (stage, stalls) = ((stage + 1).min(limits.max_stage), 0);
                        if stage == limits.max_stage && limits.fail_on_max_stage {
                            end = Some((Action::Stop, Some(Cause::NotConverging)));
                        }
                    }
                }
                ProgressKind::Changed => recovery = 0,
                ProgressKind::First
                | ProgressKind::Rerun
                | ProgressKind::Infra
                | ProgressKind::NoChange
                | ProgressKind::Repeated
                | ProgressKind::Oscillating
                | ProgressKind::Regressed => {}
            }
            if end.is_none() && n + 1 >= limits.max_iterations as usize {
                end = Some((Action::Stop, Some(Cause::MaxIterations)));
            }
            let (action, cause) = end.unwrap_or((Action::Continue, None));
            said.push((kind, stalls, stage, action, cause));
            if action != Action::Continue {
                break;
            }
        }
        said
    }
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let outcome = prop_oneof![
        1 => Just(AttemptOutcome::Infra), 1 => Just(AttemptOutcome::Environment), 1 => Just(AttemptOutcome::Complete), 12 => Just(AttemptOutcome::Incomplete),
    ];
    let flaky = prop_oneof![3 => Just(String::new()), 1 => "[a-c]"];
    (
        outcome,
        "!?[a-d]{0,4}",
        flaky,
        proptest::option::of("[12]"),
        prop_oneof![6 => Just(String::new()), 1 => "[xy]"],
    )
        .prop_map(|(outcome, names, flaky, tree, outside)| Attempt {
            outcome,
            tree,
            flaky: flaky.chars().map(fingerprint).collect(),
            scope_violations: outside.chars().map(|name| name.to_string()).collect(),
            ..failing(&names)
        })
}

fn limits() -> impl Strategy<Value = Limits> {
    (1u32..4, 2u32..5, any::<bool>(), 1u32..4, 1u32..4, 1u32..15, 1u32..4).prop_map(
        |(
            stall_threshold,
            max_stage,
            fail_on_max_stage,
            recover_after,
            changed_limit,
            max_iterations,
            infra,
        )| {
            let convergence = ConvergenceSettings {
                stall_threshold,
                max_stage,
                fail_on_max_stage,
                recover_after,
                changed_limit,
                max_iterations,
                ..ConvergenceSettings::default()
            };
            Limits { convergence, max_infra_failures: infra }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Catches any difference between the rules and what is counted from attempt to attempt: a count that is not
    /// reset, a set that is compared with the wrong ones, a stage that moves too early.
    #[test]
    fn the_controller_says_what_the_plain_reference_says(
        before in proptest::option::of("[a-d]{0,4}"), tree_before in proptest::option::of("[12]"),
        config in limits(), attempts in proptest::collection::vec(attempt(), 1..15),
    ) {
        let question = Question { config, tree_before, ..history(before.as_deref(), attempts) };
        let said: Vec<Said> = verdicts(&question)
            .into_iter()
            .map(|verdict| (verdict.progress, verdict.stall_count, verdict.stage, verdict.action, verdict.cause))
            .collect();
        prop_assert_eq!(said, Reference { question: &question }.run());
    }

    /// Catches a cap that some path forgets, and a stop that comes after fewer stalls than configured.
    #[test]
    fn every_sequence_ends_in_time_and_not_too_soon(
        before in proptest::option::of("[a-d]{0,4}"), config in limits(),
        attempts in proptest::collection::vec(attempt(), 15),
    ) {
        let question = Question { config, ..history(before.as_deref(), attempts) };
        let verdicts = verdicts(&question);
        let last = verdicts.last().unwrap();
        prop_assert!(verdicts.len() as u32 <= question.config.convergence.max_iterations);
        prop_assert!(last.action != Action::Continue);
        if last.cause == Some(Cause::NotConverging) {
            let is_stall = |verdict: &&AttemptVerdict| matches!(
                verdict.reason.code, Code::Stalled | Code::StageRaised | Code::LastStage | Code::NotConverging
            );
            // Progress at stage 1 undoes every stall before it.
            let undone = verdicts.iter().rposition(|v| v.progress == ProgressKind::Progress && v.stage == 1);
            let since = &verdicts[undone.map_or(0, |n| n + 1)..];
            let stalls = since.iter().filter(is_stall).count() as u32;
            prop_assert!(stalls >= question.config.convergence.stalls_to_stop());
        }
    }

    /// Catches a set that keeps its flaky failures: adding flaky ones to any attempt must change nothing.
    #[test]
    fn differences_that_are_only_flaky_change_nothing(
        before in proptest::option::of("[a-d]{0,4}"), config in limits(),
        attempts in proptest::collection::vec((attempt(), any::<bool>()), 1..12),
    ) {
        let plain = attempts.iter().map(|(attempt, _)| attempt.clone());
        let plain = plain.map(|attempt| Attempt {
            flaky: attempt.flaky.into_iter().chain([fingerprint('f')]).collect(), ..attempt
        });
        let plain: Vec<Attempt> = plain.collect();
        let flickering = plain.iter().zip(&attempts).map(|(attempt, (_, flickers))| {
            let mut attempt = attempt.clone();
            if *flickers {
                attempt.fingerprints.get_or_insert_default().insert(fingerprint('f'));
            }
            attempt
        });
        let flickering = Question { config: config.clone(), ..history(before.as_deref(), flickering.collect()) };
        let plain = Question { config, ..history(before.as_deref(), plain) };
        prop_assert_eq!(verdicts(&plain), verdicts(&flickering));
    }

    /// Catches state kept outside the controller: stored and read back at any point, it decides the same.
    #[test]
    fn a_controller_survives_being_stored(
        attempts in proptest::collection::vec(attempt(), 1..10), config in limits(),
    ) {
        let mut kept = Controller::new(config.clone(), None, None);
        let mut stored = kept.clone();
        for attempt in &attempts {
            stored = serde_json::from_str(&serde_json::to_string(&stored).unwrap()).unwrap();
            prop_assert_eq!(kept.after(attempt), stored.after(attempt));
        }
    }
}
