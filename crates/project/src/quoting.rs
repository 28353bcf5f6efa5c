//! Words that stay one word for `sh`. Invariant: whatever the text is, the shell reads back exactly it.

/// A word for a command line of `sh`, quoted only where it must be.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | ',' | '@');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_shell_would_read_differently_is_quoted() {
        let table = [
            ("web", "web"),
            ("My App.sln", "'My App.sln'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf .)", "'$(rm -rf .)'"),
            ("", "''"),
        ];
        for (word, expected) in table {
            assert_eq!(shell_word(word), expected);
        }
    }
}
