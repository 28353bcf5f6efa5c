//! What names stand for in a source of Python.
//!
//! Owns imports, assignments and expressions that are a module or a part of one. Refuses what a call returns, except of those
//! that import or look up.

use std::ops::Range;

use super::python_scan::tokens;
use super::{Names, with_paths};

/// A source as tokens, with what its names stand for.
pub(crate) struct Source<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
    names: Names,
}

/// An expression that is a part of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// `unittest.TestCase`; `vars(m)` is `m.__dict__`.
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

    /// The tokens of the logical line in which a token stands.
    pub(crate) fn line(&self, number: usize) -> Range<usize> {
        let start = (0..number).rev().find(|at| self.word(*at) == "\n").map_or(0, |at| at + 1);
        let end = (number..self.len()).find(|at| self.word(*at) == "\n").unwrap_or(self.len());
        start..end
    }

    /// The number of the token that closes the bracket at a number.
    pub(crate) fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for number in open..self.len() {
            match self.word(number) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return number;
            }
        }
        self.len()
    }

    /// The part of a module that an expression is which begins at a token. Calls end it: what they return is something else.
    pub(crate) fn part(&self, number: usize) -> Option<Part> {
        let mut part = self.primary(number)?;
        while self.word(part.end) == "." && is_name(self.word(part.end + 1)) {
            part = Part { path: format!("{}.{}", part.path, self.word(part.end + 1)), end: part.end + 2 };
        }
        Some(part)
    }

    fn primary(&self, number: usize) -> Option<Part> {
        let (word, next) = (self.word(number), self.word(number + 1));
        if self.before(number) == "." {
            return None;
        }
        let module = |at: usize, end: usize| {
            let path = literal(self.word(at))?.to_string();
            Some(Part { path, end })
        };
        match word {
            "vars" if next == "(" => {
                let inner = self.part(number + 2).filter(|part| self.word(part.end) == ")")?;
                Some(Part { path: format!("{}.__dict__", inner.path), end: inner.end + 1 })
            }
            "getattr" if next == "(" => {
                let inner = self.part(number + 2)?;
                let member = literal(self.word(inner.end + 1)).unwrap_or("?");
                Some(Part { path: format!("{}.{member}", inner.path), end: self.close(number + 1) + 1 })
            }
            "__import__" | "import_module" if next == "(" => module(number + 2, self.close(number + 1) + 1),
            "importlib" if self.word(number + 2) == "import_module" => {
                module(number + 4, self.close(number + 3) + 1)
            }
            "sys" if self.word(number + 2) == "modules" && self.word(number + 3) == "[" => {
                module(number + 4, self.close(number + 3) + 1)
            }
            name => Some(Part { path: self.names.get(name)?.clone(), end: number + 1 }),
        }
    }

    fn read_imports(&mut self) {
        let mut number = 0;
        while number < self.len() {
            let line = self.line(number);
            // One may stand behind a colon or a semicolon.
            let starts = line.clone().filter(|at| *at == line.start || matches!(self.before(*at), ":" | ";"));
            let starts: Vec<usize> = starts.collect();
            for at in starts {
                let end = (at..line.end).find(|at| self.word(*at) == ";").unwrap_or(line.end);
                match self.word(at) {
                    "import" => self.read_names(at + 1..end, ""),
                    "from" => {
                        let Some(middle) = (at..end).find(|at| self.word(*at) == "import") else { continue };
                        let module: String = (at + 1..middle).map(|at| self.word(at)).collect();
                        self.read_names(middle + 1..end, &module);
                    }
                    _ => {}
                }
            }
            number = line.end + 1;
        }
    }

    /// `a.b as c, d` of a module, or modules if that is empty.
    fn read_names(&mut self, range: Range<usize>, module: &str) {
        let words: Vec<&str> =
            range.map(|at| self.word(at)).filter(|word| !matches!(*word, "(" | ")")).collect();
        for item in words.split(|word| *word == ",") {
            let named = item.iter().position(|word| *word == "as");
            let path: String = item.get(..named.unwrap_or(item.len())).unwrap_or_default().concat();
            let alias = named.and_then(|at| item.get(at + 1)).copied();
            let (name, stands_for) = match (alias, module) {
                (Some(alias), "") => (alias.to_string(), path),
                // `import a.b` binds `a`.
                (None, "") => {
                    let first = path.split('.').next().unwrap_or_default().to_string();
                    (first.clone(), first)
                }
                (alias, module) => (alias.unwrap_or(path.as_str()).to_string(), format!("{module}.{path}")),
            };
            if is_name(&name) && !module.starts_with('.') {
                self.names.entry(name).or_insert(stands_for);
            }
        }
    }

    fn read_assignments(&mut self) {
        for number in 1..self.len() {
            let name = self.before(number);
            let is_alone = is_name(name) && number.checked_sub(2).is_none_or(|at| self.word(at) != ".");
            let part = match self.word(number) {
                "=" | ":=" if is_alone => self.part(number + 1),
                // `for name in (a, b)`
                "in" if is_alone => {
                    let line = self.line(number);
                    let end = (number..line.end).find(|at| self.word(*at) == ":").unwrap_or(line.end);
                    (number + 1..end).find_map(|at| self.part(at))
                }
                _ => None,
            };
            let ends = |part: &Part| !matches!(self.word(part.end), "(" | "[");
            if let Some(part) = part.filter(ends) {
                self.names.entry(name.to_string()).or_insert(part.path);
            }
        }
    }
}

/// A source in which names of parts of some modules are written out, and an exception is what it is derived from.
pub(crate) fn written_out(text: &str) -> String {
    const MODULES: [&str; 6] = ["os", "posix", "sys", "signal", "atexit", "ctypes"];
    let mut source = Source::new(text);
    for (name, base) in exits(text) {
        source.names.entry(name).or_insert(base);
    }
    let imports = |number: usize| matches!(source.word(source.line(number).start), "import" | "from");
    let path_of = |number: usize, word: &str| {
        let path = source.names.get(word)?;
        let root = path.split('.').next().unwrap_or_default();
        let is_counting = MODULES.contains(&root) || path == "SystemExit";
        let path = path.strip_prefix("posix").map_or(path.clone(), |rest| format!("os{rest}"));
        let is_other = is_counting && path != word;
        let is_used = !matches!(source.before(number), "." | "def" | "class" | "import" | "as")
            && source.word(number + 1) != "=";
        (is_other && is_used && !imports(number)).then_some(path)
    };
    with_paths(text, &source.tokens, &path_of)
}

/// Classes that are derived from `SystemExit` and whose code is not that of a failure.
fn exits(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let header: String =
            line.trim_start().strip_prefix("class ").unwrap_or_default().split_whitespace().collect();
        let Some((name, rest)) = header.split_once('(') else { continue };
        let indent = line.len() - line.trim_start().len();
        let mut body = rest.split_once(':').map_or(String::new(), |(_, body)| body.to_string());
        let is_inside = |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        while let Some(line) = lines.next_if(is_inside) {
            body.push_str(line);
        }
        let fails = body.contains(|letter: char| ('1'..='9').contains(&letter));
        let is_exit =
            rest.split([',', ')']).any(|base| base == "SystemExit" || base == "builtins.SystemExit");
        if is_exit && !fails {
            found.push((name.to_string(), "SystemExit".to_string()));
        }
    }
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// What stands in quotes.
pub(crate) fn literal(word: &str) -> Option<&str> {
    let quoted = word.trim_start_matches(['r', 'b', 'u', 'f', 'R', 'B', 'U', 'F']);
    quoted.starts_with(['"', '\'']).then(|| quoted.trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_parts() {
        let text = "import unittest.case as c, os\nfrom unittest import (TestCase as T,\n  mock)\n\
                    R = c.TestResult\nU = R\nx = T()\nfor k in (T, R): pass\nV = vars(c)\n";
        let source = Source::new(text);
        let names: Vec<(&str, &str)> =
            source.names.iter().map(|(name, path)| (name.as_str(), path.as_str())).collect();
        assert_eq!(
            names,
            [
                ("R", "unittest.case.TestResult"),
                ("T", "unittest.TestCase"),
                ("U", "unittest.case.TestResult"),
                ("V", "unittest.case.__dict__"),
                ("c", "unittest.case"),
                ("k", "unittest.TestCase"),
                ("mock", "unittest.mock"),
                ("os", "os"),
            ]
        );
    }

    #[test]
    fn ends_are_written_out() {
        for (text, expected) in [
            ("from os import _exit as leave\nleave(0)\n", "from os import _exit as leave\nos._exit(0)\n"),
            ("import os as o\no._exit(0)  # leave\n", "import os as o\nos._exit(0)  # leave\n"),
            ("import posix\nposix.execv(a, b)\n", "import posix\nos.execv(a, b)\n"),
            ("from sys import exit\nf(exit=1)\na.exit()\n", "from sys import exit\nf(exit=1)\na.exit()\n"),
            (
                "class Done(SystemExit):\n  code = 0\nraise Done\n",
                "class Done(SystemExit):\n  code = 0\nraise SystemExit\n",
            ),
            (
                "class Bad(SystemExit):\n  code = 2\nraise Bad\n",
                "class Bad(SystemExit):\n  code = 2\nraise Bad\n",
            ),
        ] {
            assert_eq!(written_out(text), expected, "{text}");
        }
    }
}
