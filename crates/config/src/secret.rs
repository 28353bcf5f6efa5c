//! Whether a text looks like a credential.
//!
//! Owns the marks well-known credentials carry. Refuses to guess from entropy: a configuration may hold
//! hashes and long names, and an error for one of those could not be worked around.
//!
//! Invariant: nothing in here shows the text it looked at.

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

/// Whether any word of a text looks like a credential.
pub(crate) fn is_in(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).any(is_credential)
}

fn is_credential(word: &str) -> bool {
    PATTERNS.iter().any(|pattern| {
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
