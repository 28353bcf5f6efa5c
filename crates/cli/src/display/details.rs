//! What `--verbose` adds: each command that starts, as it would be typed, how long it took, and why the next one follows.

use fixpoint_engine::Record;
use fixpoint_runs::RunView;
use fixpoint_vocabulary::Lang;
use fixpoint_vocabulary::work::{Command, Event};

use crate::record_words::{decision_words, event_words};
use crate::terminal_text::harmless;

/// The lines of a record; `view` is the run after it.
pub(super) fn lines(record: &Record, view: RunView<'_>, lang: Lang) -> Vec<String> {
    let event = match &record.event {
        Event::Ended { .. } => Some(format!("  · {}", event_words(&record.event, lang))),
        Event::Started | Event::StopRequested | Event::Resumed { .. } => None,
    };
    let next = (!record.decision.changes.is_empty())
        .then(|| format!("  → {}", decision_words(&record.decision, lang)));
    let commands = record.decision.commands(0).flat_map(|(_, _, command)| command_lines(command, view));
    event.into_iter().chain(next).chain(commands).map(|line| harmless(&line).into_owned()).collect()
}

/// What is typed for a command. Most commands are no programs.
fn command_lines(command: &Command, view: RunView<'_>) -> Vec<String> {
    match command {
        Command::RunChecks(checks) => {
            let check = |number: u32| view.run.checks().get(number as usize);
            let called = checks.calls.iter().filter_map(|call| check(call.check));
            called.map(|placed| format!("  $ {}", placed.check.command)).collect()
        }
        Command::RunAttempt(_) => {
            let agent = view.run.spec().map(|spec| spec.agent.as_slice()).unwrap_or_default();
            let line = shlex::try_join(agent.iter().map(String::as_str)).unwrap_or_else(|_| agent.join(" "));
            (!agent.is_empty()).then(|| format!("  $ {line}")).into_iter().collect()
        }
        Command::TakeBase
        | Command::RestorePaths(_)
        | Command::FindProtected(_)
        | Command::Merge(_)
        | Command::Ask(_)
        | Command::AskPerson(_)
        | Command::FindCachedPlan
        | Command::StorePlan
        | Command::Deliver(_) => Vec::new(),
    }
}
