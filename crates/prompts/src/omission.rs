//! The note about text that was left out of a prompt.

use fixpoint_vocabulary::grouped;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Lines,
    Characters,
}

/// What was left out of one section of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omission {
    /// The heading of the section.
    pub heading: &'static str,
    pub count: u64,
    pub unit: Unit,
}

impl std::fmt::Display for Omission {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of \"{}\"", counted(self.count, self.unit), self.heading)
    }
}

/// `[… 1,234 lines left out …]`.
pub fn left_out(count: u64, unit: Unit) -> String {
    format!("[… {} left out …]", counted(count, unit))
}

fn counted(count: u64, unit: Unit) -> String {
    let noun = match unit {
        Unit::Lines => "line",
        Unit::Characters => "character",
    };
    fixpoint_vocabulary::counted(grouped(count), noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_and_grouped() {
        for (count, unit, expected) in [
            (1, Unit::Lines, "[… 1 line left out …]"),
            (999, Unit::Lines, "[… 999 lines left out …]"),
            (1234, Unit::Lines, "[… 1,234 lines left out …]"),
            (1, Unit::Characters, "[… 1 character left out …]"),
            (1_000_000, Unit::Characters, "[… 1,000,000 characters left out …]"),
        ] {
            assert_eq!(left_out(count, unit), expected);
        }
    }
}
