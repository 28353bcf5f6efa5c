//! JavaScript and TypeScript sources: the attempt's product with the base's tests in `if (import.meta.vitest) { … }`.
//!
//! Owns where such a block begins and ends. Refuses blocks that are not at the top of the file or that have an `else`: there,
//! asking for `import.meta.vitest` is what makes product behave differently under test. Invariant: what stands outside of the
//! blocks is the attempt's.

use std::ops::Range;

use super::javascript_scan::tokens;
use crate::Mix;

/// How a block of tests begins.
const BEGINNING: [&str; 9] = ["if", "(", "import", ".", "meta", ".", "vitest", ")", "{"];

/// Whether a source holds tests beside its product.
pub(crate) fn holds_tests(text: &str) -> bool {
    text.contains("vitest") && Source::new(text).is_some_and(|source| !source.blocks.is_empty())
}

pub(crate) fn mixed(base: &str, now: &str) -> Mix {
    if !base.contains("vitest") && !now.contains("vitest") {
        return Mix::Product;
    }
    let (Some(old), Some(new)) = (Source::new(base), Source::new(now)) else {
        return Mix::Whole("its brackets do not match".to_string());
    };
    if new.asks_outside() > old.asks_outside() {
        return Mix::Whole("behaves differently under test".to_string());
    }
    let (mut text, mut changed, mut at) = (String::new(), Vec::new(), 0);
    for (number, block) in new.blocks.iter().enumerate() {
        text.push_str(now.get(at..block.start).unwrap_or_default());
        at = block.end;
        match old.blocks.get(number) {
            Some(before) if old.words(before) == new.words(block) => {
                text.push_str(now.get(block.clone()).unwrap_or_default());
            }
            Some(before) => {
                changed.push("the tests in it were edited".to_string());
                text.push_str(base.get(before.clone()).unwrap_or_default());
            }
            None => changed.push("tests in it were added".to_string()),
        }
    }
    text.push_str(now.get(at..).unwrap_or_default());
    for before in old.blocks.iter().skip(new.blocks.len()) {
        changed.push("the tests in it were removed".to_string());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(base.get(before.clone()).unwrap_or_default());
        text.push('\n');
    }
    changed.dedup();
    if changed.is_empty() { Mix::Product } else { Mix::Parts { text: text.into_bytes(), changed } }
}

struct Source<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
    /// The blocks of tests, from `if` to the last brace.
    blocks: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    /// A source whose brackets match.
    fn new(text: &'a str) -> Option<Self> {
        let mut source = Self { text, tokens: tokens(text), blocks: Vec::new() };
        let mut open: Vec<&str> = Vec::new();
        let mut begun = None;
        for number in 0..source.tokens.len() {
            let word = source.word(number);
            if open.is_empty() && begun.is_none() && source.begins_block(number) {
                begun = source.tokens.get(number).map(|token| token.start);
            }
            match word {
                "(" | "[" | "{" => open.push(word),
                ")" | "]" | "}" => {
                    let is_closed = matches!((open.pop()?, word), ("(", ")") | ("[", "]") | ("{", "}"));
                    is_closed.then_some(())?;
                    if word == "}" && open.is_empty() {
                        let end = source.tokens.get(number).map_or(0, |token| token.end);
                        let has_else = source.word(number + 1) == "else";
                        source.blocks.extend(begun.take().filter(|_| !has_else).map(|start| start..end));
                    }
                }
                _ => {}
            }
        }
        open.is_empty().then_some(source)
    }

    fn word(&self, number: usize) -> &'a str {
        self.tokens.get(number).and_then(|token| self.text.get(token.clone())).unwrap_or_default()
    }

    /// Whether a block begins at a token: not behind `else`, and not as the body of something.
    fn begins_block(&self, number: usize) -> bool {
        let before = number.checked_sub(1).map_or("", |before| self.word(before));
        !matches!(before, "else" | ")" | "do" | ":" | "=>")
            && BEGINNING.iter().enumerate().all(|(at, word)| self.word(number + at) == *word)
    }

    /// The tokens of a block, whatever stands between them.
    fn words(&self, block: &Range<usize>) -> Vec<&'a str> {
        let inside = self.tokens.iter().filter(|token| block.contains(&token.start));
        inside.filter_map(|token| self.text.get(token.clone())).collect()
    }

    /// How often product asks whether vitest runs it, or takes `import.meta` as a whole, by which it could.
    fn asks_outside(&self) -> usize {
        let is_outside = |token: &Range<usize>| !self.blocks.iter().any(|block| block.contains(&token.start));
        let asks = |number: usize| {
            let is_meta = self.word(number) == "meta"
                && self.word(number.wrapping_sub(1)) == "."
                && self.word(number.wrapping_sub(2)) == "import";
            let member = match (self.word(number + 1), self.word(number + 2)) {
                ("?", ".") => self.word(number + 3),
                (".", member) => member,
                _ => "vitest",
            };
            is_meta && member == "vitest"
        };
        self.tokens.iter().enumerate().filter(|(number, token)| is_outside(token) && asks(*number)).count()
    }
}
