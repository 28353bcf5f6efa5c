//! Collects what the ecosystems propose, and gives each check its name.
//!
//! Invariant: the names differ, and there are no more checks than a configuration may have.

use std::collections::BTreeSet;

use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::settings::{Check, CheckKind};

use crate::detected::{DetectedCheck, DetectedProject, Skipped};
use crate::project_directory::ProjectDirectory;

/// Checks that a configuration may have, at most.
pub(crate) const MAX_CHECKS: usize = 100;

/// What a check is for; its name begins with it.
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

struct Proposed {
    purpose: Purpose,
    ecosystem: String,
    short: String,
    long: String,
    command: String,
    runner: Option<&'static str>,
    because: String,
}

#[derive(Default)]
pub(crate) struct Findings {
    proposed: Vec<Proposed>,
    setup: Vec<String>,
    copy: Vec<String>,
    skipped: Vec<Skipped>,
    notes: Vec<Text>,
}

impl Findings {
    /// Adds a check of the tests.
    pub(crate) fn test(
        &mut self,
        dir: &ProjectDirectory<'_>,
        ecosystem: &str,
        command: &str,
        runner: Option<&'static str>,
        because: &[&str],
    ) {
        self.check(dir, Purpose::Test, ecosystem, command, runner, because);
    }

    /// Adds a check. The ecosystem is part of its name only where names would be equal; `runner` is given only if it is
    /// certain; `because` names the files that led to it. Command and files are relative to `dir`.
    pub(crate) fn check(
        &mut self,
        dir: &ProjectDirectory<'_>,
        purpose: Purpose,
        ecosystem: &str,
        command: &str,
        runner: Option<&'static str>,
        because: &[&str],
    ) {
        let short = match dir.directory() {
            "" => purpose.name().to_string(),
            directory => format!("{}-{directory}", purpose.name()),
        };
        let because: Vec<String> = because.iter().map(|name| dir.path(name)).collect();
        self.proposed.push(Proposed {
            purpose,
            ecosystem: ecosystem.to_string(),
            long: format!("{short}-{ecosystem}"),
            short,
            command: dir.command(command),
            runner,
            because: because.join(", "),
        });
    }

    pub(crate) fn setup(&mut self, dir: &ProjectDirectory<'_>, command: &str) {
        self.setup.push(dir.command(command));
    }

    pub(crate) fn copy(&mut self, path: String) {
        self.copy.push(path);
    }

    /// Says that something is not used, and why. `what` is relative to `dir`; empty for the directory itself.
    pub(crate) fn skip(&mut self, dir: &ProjectDirectory<'_>, what: &str, why: Text) {
        let what = if what.is_empty() { dir.directory().to_string() } else { dir.path(what) };
        let skipped = Skipped { what, why };
        if !self.skipped.contains(&skipped) {
            self.skipped.push(skipped);
        }
    }

    pub(crate) fn note(&mut self, note: Text) {
        // Two ecosystems may read the same file; one note about it is enough.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn has_checks(&self) -> bool {
        !self.proposed.is_empty()
    }

    pub(crate) fn count(&self) -> usize {
        self.proposed.len()
    }

    pub(crate) fn has_tests(&self) -> bool {
        self.proposed.iter().any(|proposed| proposed.purpose == Purpose::Test)
    }

    /// Whether there are tests of an ecosystem.
    pub(crate) fn has_tests_of(&self, ecosystem: &str) -> bool {
        let is_test = |proposed: &Proposed| proposed.purpose == Purpose::Test;
        self.proposed.iter().any(|proposed| is_test(proposed) && proposed.ecosystem == ecosystem)
    }

    pub(crate) fn finish(mut self) -> DetectedProject {
        let left_out = self.proposed.len().saturating_sub(MAX_CHECKS);
        if left_out > 0 {
            self.note(too_many(left_out));
            self.proposed.truncate(MAX_CHECKS);
        }
        let shorts: Vec<String> = self.proposed.iter().map(|proposed| proposed.short.clone()).collect();
        let mut taken = BTreeSet::new();
        let mut checks = Vec::new();
        for proposed in std::mem::take(&mut self.proposed) {
            let is_alone = shorts.iter().filter(|short| **short == proposed.short).count() == 1;
            let wanted = if is_alone { proposed.short } else { proposed.long };
            let name = free_name(wanted, &taken);
            taken.insert(name.clone());
            let mut check = Check::new(name, proposed.command, CheckKind::Guard);
            if let Some(runner) = proposed.runner {
                check.runner = runner.to_string();
            }
            checks.push(DetectedCheck { check, because: proposed.because });
        }
        let Self { setup, copy, skipped, notes, .. } = self;
        DetectedProject { checks, setup, copy, skipped, notes, unusable: Vec::new() }
    }
}

/// The name, with a number if it is taken.
fn free_name(wanted: String, taken: &BTreeSet<String>) -> String {
    if !taken.contains(&wanted) {
        return wanted;
    }
    let numbered = (2..=MAX_CHECKS).map(|number| format!("{wanted}-{number}"));
    numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or(wanted)
}

fn too_many(left_out: usize) -> Text {
    Text::new(
        format!("{left_out} more checks were not added: a configuration may have at most {MAX_CHECKS}."),
        format!("チェックは最大 {MAX_CHECKS} 件のため、残りの {left_out} 件は追加していません。"),
    )
}
