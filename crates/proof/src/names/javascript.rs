//! What names stand for in a source of JavaScript.
//!
//! Owns imports, assignments, patterns, and expressions that are a module, a global object, or a part of one. Refuses what a
//! call returns, except of those that load.

use std::ops::Range;

use super::{Names, with_paths};
use crate::inline::javascript_scan::tokens;

/// Objects that are there without an import.
pub(crate) const GLOBALS: [&str; 20] = [
    "process",
    "globalThis",
    "Math",
    "JSON",
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "Promise",
    "Map",
    "Set",
    "Symbol",
    "Date",
    "RegExp",
    "Error",
    "Function",
    "Reflect",
    "Buffer",
    "BigInt",
];

pub(crate) struct Source<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
    names: Names,
}

/// An expression that is a part of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// `assert.strict`, without `node:`; a member of which nothing is known is `?`.
    pub(crate) path: String,
    /// The number of the token behind it.
    pub(crate) end: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut source = Self { text, tokens: tokens(text), names: Names::new() };
        source.read_imports();
        // A name may be assigned to another before or after.
        for _ in 0..3 {
            source.read_assignments();
        }
        source
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn word(&self, number: usize) -> &'a str {
        self.tokens.get(number).and_then(|token| self.text.get(token.clone())).unwrap_or_default()
    }

    pub(crate) fn before(&self, number: usize) -> &'a str {
        number.checked_sub(1).map_or("", |number| self.word(number))
    }

    pub(crate) fn between(&self, range: Range<usize>) -> String {
        range.map(|number| self.word(number)).collect()
    }

    /// Whether a line ends before a token.
    pub(crate) fn begins_line(&self, number: usize) -> bool {
        let token = |number: usize| self.tokens.get(number).cloned().unwrap_or_default();
        let end = number.checked_sub(1).map_or(0, |number| token(number).end);
        self.text.get(end..token(number).start).is_some_and(|between| between.contains('\n'))
    }

    /// The number of the token that closes the bracket at a number.
    pub(crate) fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for number in open..self.len() {
            let word = self.word(number);
            if matches!(word, "(" | "[" | "{") || word.ends_with("${") {
                depth += 1;
            } else if matches!(word, ")" | "]") || word.starts_with('}') && !word.ends_with("${") {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                return number;
            }
        }
        self.len()
    }

    /// Whether the token at a number assigns.
    pub(crate) fn assigns(&self, number: usize) -> bool {
        self.word(number) == "="
            && !matches!(self.word(number + 1), "=" | ">")
            && !matches!(self.before(number), "=" | "!" | "<" | ">")
    }

    /// The part of a module that an expression is which begins at a token.
    pub(crate) fn part(&self, number: usize) -> Option<Part> {
        let mut part = self.primary(number)?;
        loop {
            let at = part.end + usize::from(self.word(part.end) == "?" && self.word(part.end + 1) == ".");
            let (member, end) = match self.word(at) {
                "." if is_name(self.word(at + 1)) => (self.word(at + 1), at + 2),
                "[" => {
                    let close = self.close(at);
                    let only = literal(self.word(at + 1)).filter(|_| close == at + 2);
                    (only.unwrap_or("?"), close + 1)
                }
                _ => return Some(part),
            };
            part = Part { path: format!("{}.{member}", part.path), end };
        }
    }

    fn primary(&self, number: usize) -> Option<Part> {
        const LOADERS: [&str; 4] = ["require", "import", "getBuiltinModule", "requireActual"];
        let (word, next) = (self.word(number), self.word(number + 1));
        let is_member = self.before(number) == ".";
        match word {
            "await" => self.primary(number + 1),
            "(" => {
                let inner = self.part(number + 1).filter(|part| self.word(part.end) == ")")?;
                Some(Part { end: inner.end + 1, ..inner })
            }
            loader if LOADERS.contains(&loader) && next == "(" => {
                let path = module(literal(self.word(number + 2))?);
                Some(Part { path, end: self.close(number + 1) + 1 })
            }
            "Object" | "Reflect" if self.word(number + 2) == "getPrototypeOf" && !is_member => {
                let inner = self.part(number + 4)?;
                Some(Part { path: format!("{}.?", inner.path), end: self.close(number + 3) + 1 })
            }
            name if !is_member => {
                let known = self.names.get(name).cloned();
                let global = || GLOBALS.contains(&name).then(|| name.to_string());
                Some(Part { path: known.or_else(global)?, end: number + 1 })
            }
            _ => None,
        }
    }

    fn read_imports(&mut self) {
        for number in 0..self.len() {
            let start = self.word(number);
            let end = (number..self.len()).take(200).find(|at| self.word(*at) == "from");
            let Some(end) = end.filter(|_| start == "import") else { continue };
            let Some(path) = literal(self.word(end + 1)).map(module) else { continue };
            let mut at = number + 1;
            while at < end {
                match self.word(at) {
                    "{" => {
                        let close = self.close(at);
                        self.read_pattern(at + 1..close, &path);
                        at = close;
                    }
                    name if is_name(name) && !matches!(name, "as" | "type") => self.bind(name, path.clone()),
                    _ => {}
                }
                at += 1;
            }
        }
    }

    /// `a, b: c, d as e, f = 1` of a part.
    fn read_pattern(&mut self, range: Range<usize>, path: &str) {
        let words: Vec<&str> = range.map(|at| self.word(at)).collect();
        for item in words.split(|word| *word == ",") {
            let member = item.first().copied().unwrap_or_default();
            let alias = match item.get(1) {
                Some(&(":" | "as")) => item.get(2).copied().unwrap_or_default(),
                _ => member,
            };
            if is_name(alias) && (is_name(member) || literal(member).is_some()) {
                self.bind(alias, format!("{path}.{}", literal(member).unwrap_or(member)));
            }
        }
    }

    fn read_assignments(&mut self) {
        for number in (1..self.len()).filter(|number| self.assigns(*number)).collect::<Vec<_>>() {
            let Some(part) = self.part(number + 1) else { continue };
            let name = self.before(number);
            let is_alone = number.checked_sub(2).is_none_or(|at| self.word(at) != ".");
            if is_name(name) && is_alone && self.word(part.end) != "(" {
                self.bind(name, part.path);
            } else if name == "}" {
                let open =
                    (0..number).rev().find(|at| self.word(*at) == "{" && self.close(*at) == number - 1);
                if let Some(open) = open {
                    self.read_pattern(open + 1..number - 1, &part.path);
                }
            }
        }
    }

    fn bind(&mut self, name: &str, path: String) {
        self.names.entry(name.to_string()).or_insert(path);
    }
}

/// A source in which the names of parts of `process` are written out.
pub(crate) fn written_out(text: &str) -> String {
    let source = Source::new(text);
    let path_of = |number: usize, word: &str| {
        let path = source.names.get(word).filter(|path| path.as_str() != word)?;
        let is_of_process = path == "process" || path.starts_with("process.");
        let is_used = matches!(source.word(number + 1), "(" | ".")
            && !matches!(source.before(number), "." | "function" | "import");
        (is_of_process && is_used).then(|| path.clone())
    };
    with_paths(text, &source.tokens, &path_of)
}

fn module(name: &str) -> String {
    name.strip_prefix("node:").filter(|rest| *rest != "test").unwrap_or(name).to_string()
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$'))
}

pub(crate) fn literal(word: &str) -> Option<&str> {
    (word.len() > 1 && word.starts_with(['"', '\'', '`'])).then(|| word.trim_matches(['"', '\'', '`']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_parts() {
        let text = "import a, {b as c} from 'node:assert'; import * as d from \"chai\";\n\
                    const e = require('tape').Test.prototype, {f, g: h} = d; let i = h; const j = a(); k.l = a;";
        let source = Source::new(text);
        let names: Vec<(&str, &str)> =
            source.names.iter().map(|(name, path)| (name.as_str(), path.as_str())).collect();
        assert_eq!(
            names,
            [
                ("a", "assert"),
                ("c", "assert.b"),
                ("d", "chai"),
                ("e", "tape.Test.prototype"),
                ("f", "chai.f"),
                ("h", "chai.g"),
                ("i", "chai.g"),
            ]
        );
    }

    #[test]
    fn ends_are_written_out() {
        for (text, expected) in [
            ("const {exit}=require('process');exit(0);", "const {exit}=require('process');process.exit(0);"),
            ("const p = process; p.exit(0) // p", "const p = process; process.exit(0) // p"),
            (
                "import { exit as leave } from 'node:process'; leave()",
                "import { exit as leave } from 'node:process'; process.exit()",
            ),
            ("const { exit } = door; exit(0)", "const { exit } = door; exit(0)"),
        ] {
            assert_eq!(written_out(text), expected, "{text}");
        }
    }
}
