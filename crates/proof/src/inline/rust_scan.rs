//! Rust sources as items: attributes, header, body.
//!
//! Owns the little of Rust's syntax that says where an item ends: strings, raw strings, characters and lifetimes,
//! comments, brackets. Refuses to know expressions and types. Invariant: the items, one behind the other, are the text.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Blanks, comments, documentation and attributes in front of the header.
    pub(crate) lead: Range<usize>,
    /// All of it, with the lead.
    pub(crate) range: Range<usize>,
    /// What stands in each `#[…]`, without blanks.
    pub(crate) attributes: Vec<String>,
    /// The words up to the body, with one blank between each two.
    pub(crate) header: String,
    /// What stands between the braces.
    pub(crate) body: Option<Range<usize>>,
}

/// Where the token at `at` ends.
fn token_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let rest = text.get(at..).unwrap_or_default();
    let Some(first) = bytes.get(at) else { return text.len() };
    match first {
        b'/' if rest.starts_with("//") => at + rest.find('\n').unwrap_or(rest.len()),
        b'/' if rest.starts_with("/*") => block_comment_end(bytes, at),
        b'"' => string_end(bytes, at + 1),
        b'\'' => character_end(text, at),
        byte if byte.is_ascii_alphabetic() || *byte == b'_' => word_end(text, at),
        _ => at + rest.chars().next().map_or(1, char::len_utf8),
    }
}

/// A word, or a string with letters in front: `r#"…"#`, `b"…"`, `br"…"`, `b'x'`.
fn word_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let (word, end) = (rest.get(..length).unwrap_or_default(), at + length);
    let hashes = bytes.iter().skip(end).take_while(|byte| **byte == b'#').count();
    match (word, bytes.get(end), bytes.get(end + hashes)) {
        ("r" | "br" | "cr", _, Some(b'"')) => {
            let close = format!("\"{}", "#".repeat(hashes));
            let behind = text.get(end + hashes + 1..).unwrap_or_default();
            behind.find(&close).map_or(text.len(), |found| end + hashes + 1 + found + close.len())
        }
        ("b" | "c", Some(b'"'), _) => string_end(bytes, end + 1),
        ("b", Some(b'\''), _) => character_end(text, end),
        _ => end,
    }
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A character, or the quote of a lifetime.
fn character_end(text: &str, at: usize) -> usize {
    let rest = text.get(at + 1..).unwrap_or_default();
    let mut letters = rest.chars();
    match letters.next() {
        Some('\\') => {
            let behind = rest.char_indices().skip(2).find(|(_, letter)| *letter == '\'');
            behind.map_or(text.len(), |(end, _)| at + 1 + end + 1)
        }
        Some(letter) if letters.next() == Some('\'') => at + 1 + letter.len_utf8() + 1,
        Some(_) | None => at + 1,
    }
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            Some(_) | None => at += 1,
        }
    }
    bytes.len()
}

fn is_trivia(token: &str) -> bool {
    token.starts_with("//") || token.starts_with("/*") || token.chars().all(char::is_whitespace)
}

/// The tokens of a range that are no blanks or comments, with their places.
pub(crate) fn tokens(text: &str, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        while at < range.end {
            let (start, end) = (at, token_end(text, at).max(at + 1).min(range.end));
            at = end;
            let token = text.get(start..end).unwrap_or_default();
            if !is_trivia(token) {
                return Some((start, token));
            }
        }
        None
    })
}

/// Whether every bracket is closed by its like.
pub(crate) fn is_balanced(text: &str) -> bool {
    let mut open = Vec::new();
    tokens(text, 0..text.len()).all(|(_, token)| match token {
        "(" | "[" | "{" => {
            open.push(token);
            true
        }
        ")" => open.pop() == Some("("),
        "]" => open.pop() == Some("["),
        "}" => open.pop() == Some("{"),
        _ => true,
    }) && open.is_empty()
}

/// A text without blanks and comments.
pub(crate) fn squeezed(text: &str) -> String {
    tokens(text, 0..text.len()).map(|(_, token)| token).collect::<Vec<_>>().join(" ")
}

/// The items of a range, and where the last of them ends.
pub(crate) fn items(text: &str, range: Range<usize>) -> (Vec<Item>, usize) {
    let mut items = Vec::new();
    let mut at = range.start;
    while let Some(item) = item(text, at..range.end) {
        at = item.range.end;
        items.push(item);
    }
    (items, at)
}

fn item(text: &str, range: Range<usize>) -> Option<Item> {
    let mut attributes = Vec::new();
    let mut walker = tokens(text, range.clone()).peekable();
    while walker.next_if(|(_, token)| *token == "#").is_some() {
        let is_inner = walker.next_if(|(_, token)| *token == "!").is_some();
        let end = group_end(&mut walker, &mut attributes);
        if is_inner {
            // An inner attribute belongs to the file or the module: an item of its own.
            let end = end.unwrap_or(range.end);
            return Some(Item {
                lead: range.start..range.start,
                range: range.start..end,
                attributes,
                header: "#!".to_string(),
                body: None,
            });
        }
    }
    let (start, _) = *walker.peek()?;
    let (mut words, mut depth, mut body) = (Vec::new(), 0_usize, None);
    let mut end = range.end;
    for (at, token) in walker {
        let ends_with_semicolon = needs_semicolon(&words);
        match token {
            "{" if depth == 0 && body.is_none() && !ends_with_semicolon => {
                body = Some(at + 1..at + 1);
                depth += 1;
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if let (0, Some(open)) = (depth, body.clone()) {
                    body = Some(open.start..at);
                    end = at + 1;
                    break;
                }
            }
            ";" if depth == 0 => {
                end = at + 1;
                break;
            }
            _ => {}
        }
        if body.is_none() {
            words.push(token);
        }
    }
    Some(Item {
        lead: range.start..start,
        range: range.start..end,
        attributes,
        header: words.join(" "),
        body,
    })
}

/// Whether the words so far begin an item that ends at a semicolon although there are braces in it.
fn needs_semicolon(words: &[&str]) -> bool {
    let is_visibility =
        |word: &&&str| matches!(**word, "pub" | "(" | ")" | "crate" | "super" | "in" | "self");
    let mut words = words.iter().skip_while(is_visibility);
    match words.next() {
        Some(&("use" | "static" | "type" | "let")) => true,
        Some(&"const") => !matches!(words.next(), Some(&("fn" | "unsafe" | "async" | "extern"))),
        Some(_) | None => false,
    }
}

/// Reads `[…]` as an attribute; where it ends.
fn group_end<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>,
    attributes: &mut Vec<String>,
) -> Option<usize> {
    let (mut depth, mut inner) = (0_usize, String::new());
    for (at, token) in tokens.by_ref() {
        match token {
            "[" | "(" | "{" => depth += 1,
            "]" | ")" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        inner.push_str(token);
        if depth == 0 {
            let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(&inner);
            attributes.push(inner.to_string());
            return Some(at + token.len());
        }
    }
    None
}
