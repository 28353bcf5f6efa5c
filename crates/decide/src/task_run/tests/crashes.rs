//! Any task with any crashes: it ends, and as it would have ended without them.

use proptest::prelude::*;

use super::super::fake_project::{TaskSimulator, TreeState, failing, names};
use super::*;

fn state() -> impl Strategy<Value = TreeState> {
    ("[a-c]{0,2}", "[d-f]{0,2}", prop_oneof![4 => Just(""), 1 => Just("p")], "[ag]{0,1}", any::<bool>())
        .prop_map(|(goal, guard, outside, gone, edits)| TreeState {
            violations: outside.chars().map(|c| alloc::format!("{c}.yml")).collect(),
            gone: names(&gone),
            goal_with_base_tests: names(&goal),
            edited_tests: if edits { vec!["t.rs".into()] } else { vec![] },
            ..failing(&goal, &guard)
        })
}

/// Runs a task in which some commands are cut short by a crash; the state is stored and read back each time.
fn run_with_crashes(base: &TreeState, script: &[TreeState], crashes: &[bool]) -> (TaskStatus, usize) {
    let mut patient = options();
    patient.max_interruptions = 1000;
    let mut task = TaskSimulator::new(patient, base.clone(), script.to_vec());
    let mut crashes = crashes.iter().copied();
    task.send(&Event::Started);
    while task.waiting.is_some() {
        if crashes.next().unwrap_or(false) {
            let stored = serde_json::to_string(&task.run).unwrap();
            task.run = serde_json::from_str(&stored).unwrap();
            task.end_command(CommandEnd::Lost);
        } else if let Some((_, command)) = task.waiting.clone() {
            let result = task.project.perform(&command);
            task.end_command(CommandEnd::Completed(result));
        }
    }
    (task.run.status(), task.project.attempts)
}

proptest! {
    /// Catches a step that leads back to itself, a count that a crash resets, and state kept outside of what is
    /// stored: every task ends within its attempts, and as it would have without the crashes.
    #[test]
    fn every_task_ends_and_crashes_change_nothing(
        base in state(), script in proptest::collection::vec(state(), 1..12),
        crashes in proptest::collection::vec(any::<bool>(), 0..60),
    ) {
        let base = TreeState { violations: vec![], edited_tests: vec![], gone: BTreeSet::new(), ..base };
        let undisturbed = run_with_crashes(&base, &script, &[]);
        let has_ended = matches!(undisturbed.0, TaskStatus::Ended { .. });
        prop_assert!(has_ended);
        prop_assert!(undisturbed.1 <= options().limits.convergence.max_iterations as usize);
        prop_assert_eq!(run_with_crashes(&base, &script, &crashes), undisturbed);
    }
}
