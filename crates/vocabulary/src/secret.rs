//! Credentials in texts: whether there are any, and texts without them.
//!
//! Owns the marks well-known credentials carry, and [`Redacted`], the only kind of foreign text that may be written
//! down. Refuses to guess from entropy: a configuration may hold hashes and long names, and an error for one of those
//! could not be worked around.
//!
//! Invariant: no error and no output of this file shows what it took for a credential.

use crate::prelude::*;
use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands where a credential stood.
const REMOVED: &str = "[removed]";

/// A value shorter than this is no secret anybody would guard, and taking it out would spoil ordinary words.
const SHORTEST_SECRET: usize = 8;

/// A kind of credential: how it begins, and how many characters must follow.
struct Pattern {
    prefix: &'static str,
    at_least: usize,
    letters: Letters,
}

/// Which characters follow the prefix.
enum Letters {
    /// Any that occur in credentials, with a digit among them, since words do not have one.
    WithDigit,
    /// Only capitals and digits.
    Capitals,
}

const PATTERNS: [Pattern; 11] = [
    Pattern { prefix: "sk-", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "ghp_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "gho_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "ghs_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "ghu_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "ghr_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "github_pat_", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "glpat-", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "xoxb-", at_least: 16, letters: Letters::WithDigit },
    Pattern { prefix: "AIza", at_least: 30, letters: Letters::WithDigit },
    Pattern { prefix: "AKIA", at_least: 16, letters: Letters::Capitals },
];

/// A text of somebody else's from which credentials were taken out. Whatever a program printed, and whatever a person
/// wrote, is recorded in this form only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// A sentence of our own, which holds nothing foreign.
    pub fn ours(text: &'static str) -> Self {
        Self(text.to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Takes credentials out of texts: those that look like one, and those whose very value is known.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that a secret that is part of another does not leave the rest of it behind.
    known: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Redactor({} known values)", self.known.len())
    }
}

impl Redactor {
    /// Knows these values as well, such as those of environment variables that hold keys.
    pub fn knowing(values: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> =
            values.into_iter().filter(|value| value.len() >= SHORTEST_SECRET).collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self { known }
    }

    /// Whether an environment variable of this name is likely to hold a credential.
    pub fn is_secret_name(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        let parts = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL"];
        let endings = ["_KEY", "_PAT", "_DSN", "_PASS", "_AUTH"];
        parts.iter().any(|part| name.contains(part)) || endings.iter().any(|ending| name.ends_with(ending))
    }

    /// The credential in an address, as in `postgres://user:password@host`.
    pub fn password_in(address: &str) -> Option<&str> {
        let (_, rest) = address.split_once("://")?;
        let (person, _) = rest.split_once('@').filter(|(person, _)| !person.contains('/'))?;
        person.split_once(':').map(|(_, password)| password)
    }

    pub fn redact(&self, text: &str) -> Redacted {
        let mut clean = Cow::Borrowed(text);
        for secret in self.known.iter().filter(|secret| text.contains(secret.as_str())) {
            clean = Cow::Owned(clean.replace(secret.as_str(), REMOVED));
        }
        Redacted(if is_in(&clean) { without_credentials(&clean) } else { clean.into_owned() })
    }
}

fn without_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_boundary) {
        let word = piece.trim_end_matches(is_boundary);
        if is_credential(word) {
            clean.push_str(REMOVED);
            clean.extend(piece.chars().skip(word.chars().count()));
        } else {
            clean.push_str(piece);
        }
    }
    clean
}

/// Whether any word of a text looks like a credential.
pub fn is_in(text: &str) -> bool {
    text.split(is_boundary).any(is_credential)
}

/// What stands between words that may be credentials.
fn is_boundary(letter: char) -> bool {
    !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
}

fn is_credential(word: &str) -> bool {
    let first = word.as_bytes().first();
    // Nearly every word begins like none of them.
    PATTERNS.iter().filter(|pattern| pattern.prefix.as_bytes().first() == first).any(|pattern| {
        let Some(rest) = word.strip_prefix(pattern.prefix) else { return false };
        rest.len() >= pattern.at_least
            && match pattern.letters {
                Letters::WithDigit => rest.bytes().any(|byte| byte.is_ascii_digit()),
                Letters::Capitals => {
                    rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                }
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redacted_text_keeps_everything_but_credentials() {
        let redactor =
            Redactor::knowing(["hunter2-hunter2".to_string(), "hunter2-hunter2-and-more".to_string()]);
        for (text, clean) in [
            ("nothing to hide: 12 of 13", "nothing to hide: 12 of 13"),
            ("password=hunter2-hunter2;", "password=[removed];"),
            ("hunter2-hunter2-and-more", "[removed]"),
            ("a ghp_0123456789abcdefABCD, b\n", "a [removed], b\n"),
            ("鍵はsk-abcdef0123456789abcdです", "鍵は[removed]です"),
        ] {
            assert_eq!(redactor.redact(text).as_str(), clean);
        }
        assert!(!format!("{redactor:?}").contains("hunter2"));
    }

    #[test]
    fn a_short_value_is_no_secret() {
        assert_eq!(Redactor::knowing(["true".to_string()]).redact("is true").as_str(), "is true");
    }

    #[test]
    fn names_of_secrets_are_told_from_others() {
        assert!(
            ["GITHUB_TOKEN", "db_password", "OPENAI_API_KEY"]
                .iter()
                .all(|name| Redactor::is_secret_name(name))
        );
        assert!(
            !["PATH", "HOME", "KEYBOARD", "CARGO_HOME", "COMPASS"]
                .iter()
                .any(|name| Redactor::is_secret_name(name))
        );
    }

    #[test]
    fn addresses_may_hold_a_password() {
        for (address, password) in [
            ("postgres://me:s3cret-word@db:5432/x", Some("s3cret-word")),
            ("https://example.org/a:b@c", None),
            ("https://me@example.org", None),
            ("a:b@c", None),
        ] {
            assert_eq!(Redactor::password_in(address), password);
        }
    }

    #[test]
    fn credentials_are_told_from_names() {
        for secret in [
            "sk-abcdef0123456789abcd",
            "sk-ant-api03-AbCdEfGhIjKlMnOp",
            "curl -H 'Authorization: Bearer ghp_0123456789abcdefABCDEF0123456789abcd' x",
            "glpat-0123456789abcdefghij",
            "github_pat_11ABCDEFG0123456789",
            "key=AKIAIOSFODNN7EXAMPLE;",
        ] {
            assert!(is_in(secret), "{secret}");
        }
        for name in [
            "",
            "OPENAI_API_KEY",
            "sk-learn",
            "sk-only-words-without-digits-here",
            "task-0123456789abcdef0123",
            "AKIAlowercase0123456789",
            "ghp_short1",
            "cargo test --workspace",
            "0123456789abcdef0123456789abcdef01234567",
        ] {
            assert!(!is_in(name), "{name}");
        }
    }
}
