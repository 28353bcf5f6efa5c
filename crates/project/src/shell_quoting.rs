//! Words that stay one word for `sh`. Invariant: whatever the text is, the shell reads back exactly it.

use std::borrow::Cow;

/// A word for a command line of `sh`, quoted only where it must be. Names of files and directories hold no NUL, which is
/// all that cannot be quoted.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_shell_would_read_differently_is_quoted() {
        let table = [
            ("web", "web"),
            ("My App.sln", "'My App.sln'"),
            ("it's", "\"it's\""),
            ("$(rm -rf .)", "'$(rm -rf .)'"),
            ("", "''"),
        ];
        for (word, expected) in table {
            assert_eq!(shell_word(word), expected);
        }
    }
}
