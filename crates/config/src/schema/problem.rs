//! A problem with a value: where it is, what was found and what to write instead, on one line.
//!
//! Owns the wording; decides nothing.
//!
//! Invariant: a message names the key, and shows at most an excerpt of the value.

use core::fmt;

use thiserror::Error;

use crate::tree::Position;

/// The known keys are listed if there are at most this many.
const MAX_LISTED: usize = 24;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{kind}", if .path.is_empty() { String::new() } else { format!("{}: ", .path) })]
pub struct Problem {
    /// The key, such as `refinement.noise_threshold` or `tasks[3].id`; empty for the whole document.
    pub path: String,
    pub position: Option<Position>,
    pub kind: ProblemKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    UnknownKey {
        /// A key of this section with a similar name, or else keys of the same name in other sections.
        suggestions: Vec<String>,
        known: Vec<String>,
    },
    /// The key is planned and not implemented.
    UnavailableKey {
        instead: String,
    },
    /// The choice is planned and not implemented.
    UnavailableValue {
        value: String,
        instead: String,
    },
    /// One key in two spellings.
    GivenTwice {
        first: String,
        second: String,
    },
    Missing {
        field: String,
    },
    WrongType {
        expected: String,
        found: String,
    },
    /// A number or a length is too small or too large.
    OutOfRange {
        found: String,
        expected: String,
    },
    NotAChoice {
        found: String,
        nearest: Option<String>,
        choices: Vec<String>,
    },
    /// A text looks like a credential, which no setting may hold.
    Credential,
    /// The type itself refused a value that its schema accepts.
    Refused {
        message: String,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey { suggestions, .. } if !suggestions.is_empty() => {
                let suggestions: Vec<String> = suggestions.iter().map(|key| format!("`{key}`")).collect();
                write!(f, "unknown key; did you mean {}?", suggestions.join(" or "))
            }
            Self::UnknownKey { known, .. } if known.is_empty() || known.len() > MAX_LISTED => {
                f.write_str("unknown key")
            }
            Self::UnknownKey { known, .. } => write!(f, "unknown key; the keys here are {}", listed(known)),
            Self::UnavailableKey { instead } => write!(f, "not available yet; {instead}"),
            Self::UnavailableValue { value, instead } => {
                write!(f, "`{value}` is not available yet; {instead}")
            }
            Self::GivenTwice { first, second } => {
                write!(f, "given twice, as `{first}` and as `{second}`; keep one of them")
            }
            Self::Missing { field } => write!(f, "missing field `{field}`"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::OutOfRange { found, expected } => {
                write!(f, "{found} is out of range: expected {expected}")
            }
            Self::NotAChoice { found, nearest, choices } => {
                write!(f, "{found} is not one of {}", listed(choices))?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            Self::Credential => f.write_str(
                "this looks like a credential, which settings must not contain; put it into an environment \
                 variable and write the name of the variable, as in `api_key_env`",
            ),
            Self::Refused { message } => f.write_str(message),
        }
    }
}

pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_key_and_stay_on_one_line() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let many = (0..=MAX_LISTED).map(|number| format!("k{number}")).collect::<Vec<_>>();
        let unknown =
            |suggestions: &[&str], known| ProblemKind::UnknownKey { suggestions: names(suggestions), known };
        for (path, kind, expected) in [
            ("a.b", unknown(&["bb"], names(&["bb"])), "a.b: unknown key; did you mean `bb`?"),
            (
                "a.b",
                unknown(&["x.b", "y.b"], names(&["c"])),
                "a.b: unknown key; did you mean `x.b` or `y.b`?",
            ),
            ("a.b", unknown(&[], names(&["c", "d"])), "a.b: unknown key; the keys here are `c`, `d`"),
            ("a.b", unknown(&[], many), "a.b: unknown key"),
            ("a.b", unknown(&[], Vec::new()), "a.b: unknown key"),
            (
                "a.b",
                ProblemKind::UnavailableKey { instead: "remove it".into() },
                "a.b: not available yet; remove it",
            ),
            (
                "a",
                ProblemKind::UnavailableValue { value: "x".into(), instead: "use `y`".into() },
                "a: `x` is not available yet; use `y`",
            ),
            ("", ProblemKind::Missing { field: "id".into() }, "missing field `id`"),
            (
                "a",
                ProblemKind::GivenTwice { first: "x_y".into(), second: "xY".into() },
                "a: given twice, as `x_y` and as `xY`; keep one of them",
            ),
            (
                "a",
                ProblemKind::NotAChoice {
                    found: "\"of\"".into(),
                    nearest: Some("off".into()),
                    choices: names(&["on", "off"]),
                },
                "a: \"of\" is not one of `on`, `off`; did you mean `off`?",
            ),
        ] {
            assert_eq!(Problem { path: path.into(), position: None, kind }.to_string(), expected);
        }
    }
}
