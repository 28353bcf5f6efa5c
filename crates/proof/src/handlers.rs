//! What product code does where the process ends: listeners of signals, and of exceptions that nobody caught.
//!
//! Owns which listeners end the process with success, and which only a signal reaches. Refuses to follow more than one name.
//! Invariant: a listener of signals that code can reach without a signal is left in the text.

use std::ops::Range;

use crate::inline::is_javascript;
use crate::inline::javascript_scan::tokens;

/// How listeners are added.
const ADD: [&str; 5] = ["on", "once", "addListener", "prependListener", "prependOnceListener"];

/// A source without ends that say nothing of tests: in listeners of signals, and those with a code that means failure.
pub(crate) fn without_failing_ends(extension: &str, text: &str) -> String {
    match extension {
        "php" => without_failing_exits(text),
        ending if is_javascript(ending) && text.contains("SIG") => without_signals(text),
        _ => text.to_string(),
    }
}

/// Whether a source gained a listener by which an exception that nobody catches does not end the process with failure.
pub(crate) fn gained_swallow(extension: &str, base: &str, now: &str) -> bool {
    let count = |text: &str| match extension {
        "php" if text.contains("set_exception_handler") => Source::new(text).swallowing_handlers(),
        ending if is_javascript(ending) && (text.contains("uncaught") || text.contains("unhandled")) => {
            Source::new(text).swallowing_listeners()
        }
        _ => 0,
    };
    count(now) > count(base)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// `exit(1)` is no success; a code of more than a byte may be one.
fn without_failing_exits(text: &str) -> String {
    let mut result = text.to_string();
    for word in ["exit(", "die("] {
        let starts: Vec<usize> = result.match_indices(word).map(|(at, _)| at).collect();
        for at in starts.into_iter().rev() {
            let Some((code, _)) = result.get(at + word.len()..).and_then(|rest| rest.split_once(')')) else {
                continue;
            };
            let end = at + word.len() + code.len() + 1;
            if code.trim().parse::<u8>().is_ok_and(|code| code > 0) {
                result.replace_range(at..end, "fail()");
            }
        }
    }
    result
}

fn without_signals(text: &str) -> String {
    let whole = squeezed(text);
    if [".emit(", "process.kill(", ".listeners(", ".rawListeners("].iter().any(|word| whole.contains(word)) {
        return text.to_string();
    }
    let source = Source::new(text);
    let (mut ranges, mut names): (Vec<Range<usize>>, Vec<(&str, usize)>) = (Vec::new(), Vec::new());
    for (number, inner) in source.listeners(|event| event.starts_with("SIG")) {
        ranges.push(number..inner.end + 1);
        if let Some(name) = source.only_name(inner.clone()) {
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, uses)) => *uses += 1,
                None => names.push((name, 1)),
            }
        }
    }
    for (name, uses) in names {
        // Its definition, and the listeners.
        let mentions = (0..source.tokens.len()).filter(|number| source.word(*number) == name).count();
        ranges.extend(source.function(name).filter(|_| mentions == uses + 1));
    }
    let is_kept = |number: &usize| !ranges.iter().any(|range| range.contains(number));
    let kept = (0..source.tokens.len()).filter(is_kept);
    kept.map(|number| source.word(number)).collect::<Vec<_>>().join(" ")
}

struct Source<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, tokens: tokens(text) }
    }

    fn word(&self, number: usize) -> &'a str {
        self.tokens.get(number).and_then(|token| self.text.get(token.clone())).unwrap_or_default()
    }

    fn between(&self, range: Range<usize>) -> String {
        range.map(|number| self.word(number)).collect()
    }

    /// The number of the token that closes the bracket at a number.
    fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for number in open..self.tokens.len() {
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
        self.tokens.len()
    }

    /// Where `process.on(event, …)` begins, and the tokens behind the event.
    fn listeners(&self, is_event: impl Fn(&str) -> bool) -> Vec<(usize, Range<usize>)> {
        let begins = |number: &usize| {
            self.word(*number) == "process"
                && self.word(number + 1) == "."
                && ADD.contains(&self.word(number + 2))
                && self.word(number + 3) == "("
                && is_event(self.word(number + 4).trim_matches(['"', '\'', '`']))
        };
        let starts = (0..self.tokens.len()).filter(begins);
        starts.map(|number| (number, number + 6..self.close(number + 3))).collect()
    }

    /// The name of a function, if nothing else stands there.
    fn only_name(&self, range: Range<usize>) -> Option<&'a str> {
        let word = self.word(range.start);
        (range.len() == 1 && word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_'))
            .then_some(word)
    }

    /// The tokens of a function, from its name to its end.
    fn function(&self, name: &str) -> Option<Range<usize>> {
        let is_definition = |number: &usize| {
            let before = number.checked_sub(1).map_or("", |number| self.word(number));
            self.word(*number).eq_ignore_ascii_case(name)
                && matches!(before, "function" | "const" | "let" | "var" | "*")
        };
        let start = (0..self.tokens.len()).find(is_definition)?;
        let open = (start..self.tokens.len()).find(|number| matches!(self.word(*number), "{" | ";"))?;
        let head = self.tokens.get(start)?.start..self.tokens.get(open)?.start;
        // What has no block ends with its line; else more than the function would be taken.
        let is_of_function = match self.word(open) {
            ";" => !self.text.get(head)?.contains('\n'),
            _ => !(start..open).any(|number| matches!(self.word(number), "." | "process")),
        };
        is_of_function.then(|| start..self.close(open) + 1)
    }

    fn swallowing_listeners(&self) -> usize {
        let is_event = |event: &str| matches!(event, "uncaughtException" | "unhandledRejection");
        let listeners = self.listeners(is_event);
        listeners.into_iter().filter(|(_, inner)| !self.fails(inner.clone())).count()
    }

    fn swallowing_handlers(&self) -> usize {
        let begins =
            |number: &usize| self.word(*number) == "set_exception_handler" && self.word(number + 1) == "(";
        let inners = (0..self.tokens.len()).filter(begins).map(|at| at + 2..self.close(at + 1));
        inners.filter(|inner| self.word(inner.start) != "null" && !self.fails(inner.clone())).count()
    }

    /// Whether a listener ends the process with failure: what stands there, or the function that is named there.
    fn fails(&self, inner: Range<usize>) -> bool {
        let mut body = self.between(inner.clone());
        if !["=>", "function", "fn("].iter().any(|word| body.contains(word)) {
            let words = inner.rev().map(|number| self.word(number).trim_matches(['"', '\'']));
            let name = words.into_iter().find(|word| word.starts_with(char::is_alphabetic));
            let named = name.and_then(|name| self.function(name.rsplit(':').next().unwrap_or(name)));
            body = named.map(|range| self.between(range)).unwrap_or_default();
        }
        let is_failure = |word: &str| {
            body.split(word)
                .skip(1)
                .any(|rest| rest.starts_with(|letter: char| ('1'..='9').contains(&letter)))
        };
        let succeeds = ["exit(0", "exit()", "exit;", "exitCode=0"].iter().any(|word| body.contains(word));
        // A function that is given the code may end the process with it.
        let fails = ["exit(", "die(", "exitCode=", "(", ","].iter().any(|word| is_failure(word));
        !succeeds && (fails || body.contains("throw") || body.contains("process.abort("))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_that_swallow() {
        for (extension, text, expected) in [
            ("js", "process.on('uncaughtException', e => console.error(e.message))", true),
            ("js", "process.once(\"unhandledRejection\", () => {})", true),
            ("js", "process.on('uncaughtException', e => { log(e); process.exit(1); })", false),
            ("js", "process.on('uncaughtException', e => { log(1); process.exit(0); })", true),
            ("js", "process.on('unhandledRejection', e => { throw e; })", false),
            ("js", "function die(e) { process.exitCode = 2; }\nprocess.on('uncaughtException', die)", false),
            ("js", "function log(e) { }\nprocess.exit(1);\nprocess.on('uncaughtException', log)", true),
            ("js", "server.on('uncaughtException', e => {})", false),
            ("js", "process.on('uncaughtExceptionMonitor', e => log(e))", false),
            ("php", "<?php set_exception_handler(function ($e) { echo 'logged'; });", true),
            ("php", "<?php set_exception_handler(function ($e) { error_log($e); exit(1); });", false),
            ("php", "<?php set_exception_handler('shown'); function shown($e) { exit(2); }", false),
            ("php", "<?php set_exception_handler('shown'); function shown($e) { } exit(2);", true),
            ("php", "<?php set_exception_handler(null);", false),
        ] {
            assert_eq!(gained_swallow(extension, "", text), expected, "{text}");
            assert!(!gained_swallow(extension, text, text), "{text}");
        }
    }

    #[test]
    fn signals_and_failures_are_left_out() {
        for (extension, text, expected) in [
            ("js", "process.on('SIGINT', () => process.exit(0)); a()", false),
            ("js", "const leave = () => { process.exit(0) }; process.on('SIGINT', leave)", false),
            ("js", "function leave() { process.exit(0) }\nprocess.on('SIGINT', leave); leave()", true),
            (
                "js",
                "process.on('SIGINT', () => process.exit(0)); process.on('exit', () => process.emit('SIGINT'))",
                true,
            ),
            ("js", "process.on('exit', () => process.exit(0)); process.on('SIGINT', f)", true),
            ("js", "const leave = () => process.exit(0);\nprocess.on('SIGINT', leave)", false),
            (
                "js",
                "const leave = () => 0\nprocess.on('SIGINT', leave)\nprocess.on('exit', () => { process.exit(0) })",
                true,
            ),
            (
                "js",
                "const leave = () => 0\nprocess.on('exit', () => process.exit(0));\nprocess.on('SIGINT', leave)",
                true,
            ),
            ("php", "<?php exit(1);", false),
            ("php", "<?php exit(0);", true),
            ("php", "<?php exit(256);", true),
        ] {
            let text = without_failing_ends(extension, text);
            assert_eq!(squeezed(&text).contains("exit("), expected, "{text}");
        }
    }
}
