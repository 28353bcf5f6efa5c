//! What is wrong with a value: where, what was found and what would have been right, on one line.
//!
//! Owns the wording. Refuses to decide whether something is wrong.
//!
//! Invariant: a message names the key, and never shows more of a value than an excerpt.

use core::fmt;

use thiserror::Error;

use crate::tree::Mark;

/// Known keys are listed when nothing near was found, unless they are more than this.
const LISTED: usize = 12;

/// One thing that is wrong with a tree of values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{kind}", if .path.is_empty() { String::new() } else { format!("{}: ", .path) })]
pub struct Problem {
    /// The key, such as `refinement.noise_threshold` or `tasks[3].id`; empty for the whole.
    pub path: String,
    /// Where it was written, if that is known.
    pub mark: Option<Mark>,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// No such key.
    UnknownKey {
        /// The key that was probably meant.
        nearest: Option<String>,
        /// All keys there are at this place.
        known: Vec<String>,
    },
    /// Two spellings of one key.
    GivenTwice {
        /// The spelling that came first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A key that must be there is not.
    Missing {
        /// The key.
        field: String,
    },
    /// A value of another type.
    WrongType {
        /// What would have been right.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A number or a length that is too small or too large.
    OutOfRange {
        /// What was found.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// A text that is none of the choices.
    NotAChoice {
        /// What was found.
        found: String,
        /// The choice that was probably meant.
        nearest: Option<String>,
        /// All choices.
        choices: Vec<String>,
    },
    /// A text that looks like a credential, which no configuration may hold.
    Credential,
    /// The type itself refused a value its schema accepts.
    Refused {
        /// Why.
        message: String,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                write!(f, "unknown key; did you mean `{nearest}`?")
            }
            Self::UnknownKey { nearest: None, known } if known.is_empty() || known.len() > LISTED => {
                f.write_str("unknown key")
            }
            Self::UnknownKey { nearest: None, known } => {
                write!(f, "unknown key; known here: {}", listed(known))
            }
            Self::GivenTwice { first, second } => {
                write!(f, "given twice, as `{first}` and as `{second}`")
            }
            Self::Missing { field } => write!(f, "missing field `{field}`"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::OutOfRange { found, expected } => {
                write!(f, "{found} is out of range: expected {expected}")
            }
            Self::NotAChoice { found, nearest, choices } => {
                write!(f, "{found} is none of {}", listed(choices))?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            Self::Credential => f.write_str(
                "the value looks like a credential; put it into an environment variable and give that \
                 variable's name where one is asked for",
            ),
            Self::Refused { message } => f.write_str(message),
        }
    }
}

/// Names in code quotes with commas between.
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_key_and_stay_on_one_line() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let many = (0..=LISTED).map(|number| format!("k{number}")).collect::<Vec<_>>();
        let unknown = |nearest: Option<&str>, known| ProblemKind::UnknownKey {
            nearest: nearest.map(Into::into),
            known,
        };
        for (path, kind, expected) in [
            ("a.b", unknown(Some("bb"), names(&["bb"])), "a.b: unknown key; did you mean `bb`?"),
            ("a.b", unknown(None, names(&["c", "d"])), "a.b: unknown key; known here: `c`, `d`"),
            ("a.b", unknown(None, many), "a.b: unknown key"),
            ("a.b", unknown(None, Vec::new()), "a.b: unknown key"),
            ("", ProblemKind::Missing { field: "id".into() }, "missing field `id`"),
            (
                "a",
                ProblemKind::GivenTwice { first: "x_y".into(), second: "xY".into() },
                "a: given twice, as `x_y` and as `xY`",
            ),
            (
                "a",
                ProblemKind::NotAChoice {
                    found: "\"of\"".into(),
                    nearest: Some("off".into()),
                    choices: names(&["on", "off"]),
                },
                "a: \"of\" is none of `on`, `off`; did you mean `off`?",
            ),
        ] {
            assert_eq!(Problem { path: path.into(), mark: None, kind }.to_string(), expected);
        }
    }
}
