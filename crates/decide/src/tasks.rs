//! The only ways from one state of a task to another.

use fixpoint_vocabulary::{Cause, TaskState};

/// What can happen to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEvent {
    Started,
    Finished,
    /// Its goals pass already; nothing was run.
    FoundSatisfied,
    /// It was judged unfinished and worth another attempt.
    Unfinished,
    /// Other tasks take its place.
    Replaced,
    /// It cannot go on without a person.
    Blocked(Cause),
    /// Its attempt was cut short by a crash or a stop of ours.
    Interrupted,
    /// A person lets it try again; its counters start over.
    Unblocked,
    Cancelled,
}

/// An event that cannot happen to a task in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot happen to a task that is {state:?}")]
pub struct InvalidTransition {
    pub state: TaskState,
    /// What was claimed to happen.
    pub event: TaskEvent,
}

pub const fn after(state: TaskState, event: TaskEvent) -> Result<TaskState, InvalidTransition> {
    use TaskEvent as E;
    use TaskState as S;
    match (state, event) {
        (S::Ready | S::NeedsContinuation, E::Started) => Ok(S::Running),
        (S::Running, E::Finished) | (S::Ready, E::FoundSatisfied) => Ok(S::Done),
        (S::Running, E::Unfinished) => Ok(S::NeedsContinuation),
        (S::Running, E::Replaced) => Ok(S::ReplacedByReplan),
        (S::Running, E::Blocked(_)) => Ok(S::Blocked),
        (S::Running, E::Interrupted) | (S::Blocked, E::Unblocked) => Ok(S::Ready),
        (S::Ready | S::Running | S::NeedsContinuation | S::Blocked, E::Cancelled) => Ok(S::Cancelled),
        (state, event) => Err(InvalidTransition { state, event }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    const EVENTS: [TaskEvent; 9] = [
        TaskEvent::Started,
        TaskEvent::Finished,
        TaskEvent::FoundSatisfied,
        TaskEvent::Unfinished,
        TaskEvent::Replaced,
        TaskEvent::Blocked(Cause::NotConverging),
        TaskEvent::Interrupted,
        TaskEvent::Unblocked,
        TaskEvent::Cancelled,
    ];

    #[test]
    fn the_table_is_closed() {
        let possible: BTreeSet<String> = TaskState::ALL
            .into_iter()
            .flat_map(|state| EVENTS.map(|event| (state, after(state, event))))
            .filter_map(|(state, next)| next.ok().map(|next| format!("{state:?} → {next:?}")))
            .collect();
        let expected = vec![
            "Ready → Running",
            "NeedsContinuation → Running",
            "Running → Done",
            "Running → NeedsContinuation",
            "Running → ReplacedByReplan",
            "Running → Blocked",
            "Ready → Done",
            "Running → Ready",
            "Blocked → Ready",
            "Ready → Cancelled",
            "Running → Cancelled",
            "NeedsContinuation → Cancelled",
            "Blocked → Cancelled",
        ];
        assert_eq!(possible, expected.into_iter().map(|edge| edge.to_string()).collect());
    }

    #[test]
    fn nothing_leaves_a_terminal_state() {
        for state in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
            for event in EVENTS {
                assert_eq!(after(state, event), Err(InvalidTransition { state, event }));
            }
        }
    }
}
