//! Whether a check that ran on unchanged code can show anything about a change later.
//!
//! The same rule as for the baseline of a run, for a check by itself: one that cannot be used is left out, and the others
//! stay.

use fixpoint_vocabulary::work::{CheckEnd, CheckReport};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usability {
    Usable,
    Unusable(Unusable),
}

/// Why a check cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// Its command does not exist.
    NotFound,
    CouldNotRun,
    /// It waits for a person or an outside service.
    Waits,
    /// It does not end in time.
    NeverEnds,
    /// It fails, shows nothing that passes, and lists no single findings: a later failure would look the same.
    ShowsNothingPassing,
}

/// Judges the report of a whole check at the base.
pub const fn decide(report: &CheckReport) -> Usability {
    match report.end {
        CheckEnd::NotFound => Usability::Unusable(Unusable::NotFound),
        CheckEnd::CouldNotRun | CheckEnd::Environment => Usability::Unusable(Unusable::CouldNotRun),
        CheckEnd::Waiting => Usability::Unusable(Unusable::Waits),
        CheckEnd::TimedOut => Usability::Unusable(Unusable::NeverEnds),
        CheckEnd::Crashed if report.counted == 0 => Usability::Unusable(Unusable::ShowsNothingPassing),
        CheckEnd::Failed if report.counted == 0 && !report.itemised => {
            Usability::Unusable(Unusable::ShowsNothingPassing)
        }
        CheckEnd::Passed | CheckEnd::Failed | CheckEnd::Crashed => Usability::Usable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_something_passing_can_be_used() {
        let table = [
            ("passes", CheckEnd::Passed, 0, Usability::Usable),
            ("some tests fail", CheckEnd::Failed, 3, Usability::Usable),
            ("crashes after some tests", CheckEnd::Crashed, 3, Usability::Usable),
            ("fails alone", CheckEnd::Failed, 0, Usability::Unusable(Unusable::ShowsNothingPassing)),
            ("crashes at once", CheckEnd::Crashed, 0, Usability::Unusable(Unusable::ShowsNothingPassing)),
            ("does not end", CheckEnd::TimedOut, 3, Usability::Unusable(Unusable::NeverEnds)),
            ("no such command", CheckEnd::NotFound, 0, Usability::Unusable(Unusable::NotFound)),
            ("no disk", CheckEnd::CouldNotRun, 0, Usability::Unusable(Unusable::CouldNotRun)),
            ("lacks a program", CheckEnd::Environment, 0, Usability::Unusable(Unusable::CouldNotRun)),
            ("waits", CheckEnd::Waiting, 0, Usability::Unusable(Unusable::Waits)),
        ];
        for (row, end, counted, expected) in table {
            assert_eq!(decide(&CheckReport { counted, ..CheckReport::new(0, end) }), expected, "{row}");
        }
        let listed = CheckReport { itemised: true, ..CheckReport::new(0, CheckEnd::Failed) };
        assert_eq!(decide(&listed), Usability::Usable, "fails with single findings");
    }
}
