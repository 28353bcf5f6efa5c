//! What the ecosystems propose, until it is an answer.
//!
//! Owns the names of checks. Invariant: names differ, and there are no more checks than a configuration may hold.

use std::collections::BTreeSet;

use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::settings::{Check, CheckKind, CheckVerdict};

use crate::found::{Found, FoundCheck};
use crate::place::Place;

/// How many checks a configuration may hold.
pub(crate) const MAX_CHECKS: usize = 100;

/// The timeout a check has where none is given; a test holds it to the one of the vocabulary.
pub(crate) const DEFAULT_TIMEOUT: u32 = 1800;

/// What a check looks at; its name begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Test,
    Lint,
    Typecheck,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Typecheck => "typecheck",
        }
    }
}

/// A check that an ecosystem proposes.
pub(crate) struct Proposal {
    pub(crate) purpose: Purpose,
    /// The ecosystem's short name, which tells apart what would have the same name.
    pub(crate) ecosystem: &'static str,
    /// The command line, run in the place's directory.
    pub(crate) command: String,
    /// The test runner, where it is certain.
    pub(crate) runner: Option<&'static str>,
    /// The files it was concluded from, by names in the place.
    pub(crate) because: Vec<String>,
}

struct Proposed {
    purpose: Purpose,
    short: String,
    long: String,
    command: String,
    runner: Option<&'static str>,
    because: String,
}

/// Everything that was proposed so far.
#[derive(Default)]
pub(crate) struct Gathering {
    proposed: Vec<Proposed>,
    setup: Vec<String>,
    copy: Vec<String>,
    notes: Vec<Text>,
}

impl Gathering {
    pub(crate) fn check(&mut self, place: &Place<'_>, proposal: Proposal) {
        let Proposal { purpose, ecosystem, command, runner, because } = proposal;
        let short = match place.directory() {
            "" => purpose.name().to_string(),
            directory => format!("{}-{directory}", purpose.name()),
        };
        let because: Vec<String> = because.iter().map(|name| place.path(name)).collect();
        self.proposed.push(Proposed {
            purpose,
            long: format!("{short}-{ecosystem}"),
            short,
            command: place.command(&command),
            runner,
            because: because.join(", "),
        });
    }

    pub(crate) fn setup(&mut self, place: &Place<'_>, command: &str) {
        self.setup.push(place.command(command));
    }

    pub(crate) fn copy(&mut self, path: String) {
        self.copy.push(path);
    }

    pub(crate) fn note(&mut self, note: Text) {
        // Two ecosystems may read the same file, and one note about it is enough.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn has_checks(&self) -> bool {
        !self.proposed.is_empty()
    }

    pub(crate) fn has_tests(&self) -> bool {
        self.proposed.iter().any(|proposed| proposed.purpose == Purpose::Test)
    }

    /// The answer: every check under a name of its own.
    pub(crate) fn finish(mut self) -> Found {
        let left_out = self.proposed.len().saturating_sub(MAX_CHECKS);
        if left_out > 0 {
            self.note(too_many(left_out));
            self.proposed.truncate(MAX_CHECKS);
        }
        let shorts: Vec<String> = self.proposed.iter().map(|proposed| proposed.short.clone()).collect();
        let mut taken = BTreeSet::new();
        let mut checks = Vec::new();
        for proposed in self.proposed {
            let is_alone = shorts.iter().filter(|short| **short == proposed.short).count() == 1;
            let wanted = if is_alone { proposed.short } else { proposed.long };
            let name = free_name(wanted, &taken);
            taken.insert(name.clone());
            let check = Check {
                name,
                command: proposed.command,
                kind: CheckKind::Guard,
                timeout: DEFAULT_TIMEOUT,
                lock: None,
                verdict: CheckVerdict::Auto,
                runner: proposed.runner.unwrap_or("auto").to_string(),
            };
            checks.push(FoundCheck { check, because: proposed.because });
        }
        Found { checks, setup: self.setup, copy: self.copy, notes: self.notes }
    }
}

/// The name, or the name with the first number that nobody has.
fn free_name(wanted: String, taken: &BTreeSet<String>) -> String {
    if !taken.contains(&wanted) {
        return wanted;
    }
    let numbered = (2..=MAX_CHECKS).map(|number| format!("{wanted}-{number}"));
    numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or(wanted)
}

fn too_many(left_out: usize) -> Text {
    Text::new(
        format!("{left_out} further checks were left out: a configuration holds at most {MAX_CHECKS}."),
        format!("チェックは最大 {MAX_CHECKS} 件までのため、残りの {left_out} 件を省きました。"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_says_no_timeout_has_the_one_of_the_vocabulary() {
        let check: Check = serde_json::from_str(r#"{"name": "n", "command": "c"}"#).expect("a check");
        assert_eq!(check.timeout, DEFAULT_TIMEOUT);
        assert_eq!((check.kind, check.verdict), (CheckKind::Guard, CheckVerdict::Auto));
        assert_eq!(check.runner, "auto");
    }
}
