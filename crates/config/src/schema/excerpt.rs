//! How values appear in messages: in a few words on one line, and never a credential.
//!
//! Invariant: the result has no line break and a bounded number of characters of the value.

use crate::tree::{Content, Node};
use fixpoint_vocabulary::secret;

const SHOWN: usize = 60;

/// A text in double quotes, escaped and shortened.
pub(crate) fn excerpt(text: &str) -> String {
    if secret::is_in(text) {
        return "(hidden: it looks like a credential)".to_owned();
    }
    let mut shown = String::from('"');
    let mut letters = text.chars();
    let mut count = 0;
    for letter in letters.by_ref() {
        // Single quotes need no escape between double ones.
        let escaped = if letter == '\'' { letter.to_string() } else { letter.escape_debug().to_string() };
        count += escaped.chars().count();
        if count > SHOWN {
            shown.push('…');
            break;
        }
        shown.push_str(&escaped);
    }
    shown.push('"');
    shown
}

/// A value with its type: `text "x"`, `number 2.5`, `a list`.
pub(super) fn with_type(node: &Node) -> String {
    match &node.content {
        Content::Null => "null".to_owned(),
        Content::Bool(value) => value.to_string(),
        Content::Number(value) => format!("number {value}"),
        Content::Text(value) => format!("text {}", excerpt(value)),
        Content::List(_) => "a list".to_owned(),
        Content::Map(_) => "a map".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_with_their_type() {
        for (value, expected) in [
            (json!(null), "null"),
            (json!(true), "true"),
            (json!(2.5), "number 2.5"),
            (json!("it's"), "text \"it's\""),
            (json!("a\n\"b\""), "text \"a\\n\\\"b\\\"\""),
            (json!([1]), "a list"),
            (json!({"a": 1}), "a map"),
            (json!("sk-abcdef0123456789abcd"), "text (hidden: it looks like a credential)"),
        ] {
            assert_eq!(with_type(&Node::from(value)), expected, "{expected}");
        }
        assert_eq!(excerpt(&"x".repeat(61)), format!("\"{}…\"", "x".repeat(60)));
        assert_eq!(excerpt(&"x".repeat(60)), format!("\"{}\"", "x".repeat(60)));
    }

    proptest! {
        /// Catches: escaping after cutting, or not escaping control characters at all.
        #[test]
        fn an_excerpt_is_one_short_line(text in "\\PC*|[\\s\\S]*") {
            let shown = excerpt(&text);
            prop_assert!(shown.chars().count() <= SHOWN + 3);
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
