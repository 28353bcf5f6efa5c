//! What a source of Python replaces: parts of test runners, built-in functions, functions of the library that tests call.
//!
//! Owns the ways to change a module or a class. Refuses instances: what a call returns is the product's own.

use crate::names::python::{Part, Source, literal};
use crate::tables::is_standard_module;

/// Modules that run tests.
const RUNNERS: [&str; 11] = [
    "unittest",
    "unittest2",
    "pytest",
    "_pytest",
    "nose",
    "nose2",
    "hypothesis",
    "django.test",
    "testtools",
    "twisted.trial",
    "doctest",
];
/// Functions that change their first argument.
const CHANGING: [&str; 7] =
    ["setattr", "delattr", "__setattr__", "__delattr__", "setitem", "object", "update_wrapper"];
/// Methods that change a dictionary.
const FILLING: [&str; 6] = ["update", "setdefault", "pop", "__setitem__", "clear", "__ior__"];
/// Modules with members that are there to be set.
const SETTABLE: [&str; 5] = ["sys", "logging", "warnings", "locale", "readline"];

/// The functions and classes that are there without an import.
pub(super) const BUILT_IN: [&str; 62] = [
    "all",
    "any",
    "len",
    "sum",
    "abs",
    "min",
    "max",
    "round",
    "sorted",
    "isinstance",
    "issubclass",
    "print",
    "open",
    "repr",
    "str",
    "int",
    "float",
    "bool",
    "bytes",
    "range",
    "set",
    "list",
    "dict",
    "tuple",
    "type",
    "getattr",
    "hasattr",
    "setattr",
    "id",
    "zip",
    "map",
    "filter",
    "enumerate",
    "iter",
    "next",
    "hash",
    "eval",
    "exec",
    "compile",
    "callable",
    "divmod",
    "pow",
    "ord",
    "chr",
    "hex",
    "bin",
    "oct",
    "format",
    "frozenset",
    "complex",
    "reversed",
    "vars",
    "dir",
    "input",
    "exit",
    "quit",
    "AssertionError",
    "Exception",
    "BaseException",
    "SystemExit",
    "__import__",
    "super",
];

pub(super) fn replaced(text: &str, is_used: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let source = Source::new(text);
    let mut found = Vec::new();
    for number in 0..source.len() {
        let changed =
            assigned(&source, number).or_else(|| given(&source, number)).or_else(|| filled(&source, number));
        if let Some((part, names)) = changed {
            found.extend(counting(&part.path, &names, is_used));
        } else if let Some(path) = patched_by_name(&source, number) {
            found.extend(counting(path, &[], is_used));
        }
    }
    found
}

/// What counts of a part that is changed.
fn counting(path: &str, names: &[&str], is_used: &dyn Fn(&[&str]) -> bool) -> Option<String> {
    let below = |module: &str| {
        path.strip_prefix(module)
            .filter(|rest| rest.is_empty() || rest.starts_with('.'))
            .map(|rest| rest.trim_start_matches('.'))
    };
    if RUNNERS.iter().any(|runner| below(runner).is_some()) {
        return Some(path.trim_end_matches(".__dict__").to_string());
    }
    let (module, rest) = path.split_once('.').unwrap_or((path, ""));
    let member = rest.split('.').next().filter(|member| !matches!(*member, "" | "__dict__" | "?"));
    let members: Vec<&str> = member.map_or_else(|| names.to_vec(), |member| vec![member]);
    let is_built_in = matches!(module, "builtins" | "__builtins__");
    if !is_built_in && (!is_standard_module("python", module) || SETTABLE.contains(&module)) {
        return None;
    }
    let counts = |member: &&&str| {
        if is_built_in { BUILT_IN.contains(*member) } else { is_used(&[module, member]) }
    };
    members.iter().find(counts).map(|member| format!("{module}.{member}"))
}

/// A part that stands left of an assignment, and the names in its line.
fn assigned<'a>(source: &Source<'a>, number: usize) -> Option<(Part, Vec<&'a str>)> {
    let part = source.part(number)?;
    let is_dictionary = part.path.ends_with(".__dict__");
    let (mut at, mut is_item) = (part.end, false);
    while source.word(at) == "[" {
        is_item = true;
        at = source.close(at) + 1;
        while source.word(at) == "." {
            is_item = false;
            at += 2;
        }
    }
    let is_member = part.end > number + 1 || at > part.end;
    // `a.b.c[d] = …` changes data, unless what has it is a test runner.
    let is_runner = RUNNERS.iter().any(|runner| part.path.starts_with(runner));
    if !is_member || is_item && !is_dictionary && !is_runner {
        return None;
    }
    let line = source.line(number);
    let is_open = |range: std::ops::Range<usize>| {
        let opens = range.clone().filter(|at| matches!(source.word(*at), "(" | "[" | "{")).count();
        let closes = range.filter(|at| matches!(source.word(*at), ")" | "]" | "}")).count();
        opens > closes
    };
    // What stands in brackets is an argument or a key, unless these are only the brackets of a list of targets.
    let begins = source.word(line.start).to_string();
    let is_key = is_open(line.start..number) && !matches!(begins.as_str(), "(" | "[");
    let signs = usize::from(matches!(source.word(at), "+" | "-" | "*" | "|" | "&" | "/" | "%"));
    let is_loop = source.before(number) == "for" && source.word(at) == "in";
    let is_list = matches!(source.word(at), "," | ")" | "]")
        && (at..line.end).any(|at| source.word(at) == "=")
        && matches!(source.before(number), "," | "(" | "[" | "\n" | "" | ";" | ":" | "=")
        && !(line.start..number).any(|at| source.word(at) == "=")
        && source.word(line.start) != "def";
    let is_bound = source.before(number) == "as" || source.before(number) == "del";
    let is_changed = source.word(at + signs) == "=" || is_loop || is_list || is_bound;
    (is_changed && !is_key).then(|| (part, names(source, line)))
}

/// A part that is given to a function which changes it.
fn given<'a>(source: &Source<'a>, number: usize) -> Option<(Part, Vec<&'a str>)> {
    let is_changing = CHANGING.contains(&source.word(number)) && source.word(number + 1) == "(";
    let is_patch = source.word(number) != "object" || source.before(number) == ".";
    let part = (is_changing && is_patch).then(|| source.part(number + 2))??;
    let arguments = part.end..source.close(number + 1);
    (source.word(part.end) == ",").then(|| (part, names(source, arguments)))
}

/// A dictionary of a part that a method changes.
fn filled<'a>(source: &Source<'a>, number: usize) -> Option<(Part, Vec<&'a str>)> {
    let part = source.part(number)?;
    let (path, method) = part.path.rsplit_once('.')?;
    let is_filled = path.ends_with(".__dict__") && FILLING.contains(&method) && source.word(part.end) == "(";
    let arguments = part.end..source.close(part.end);
    is_filled.then(|| (Part { path: path.to_string(), end: part.end }, names(source, arguments)))
}

/// `patch("unittest.TestCase.assertEqual", …)`
fn patched_by_name<'a>(source: &Source<'a>, number: usize) -> Option<&'a str> {
    let is_patch = matches!(source.word(number), "patch" | "setattr") && source.word(number + 1) == "(";
    literal(source.word(number + 2)).filter(|path| is_patch && path.contains('.'))
}

fn names<'a>(source: &Source<'a>, range: std::ops::Range<usize>) -> Vec<&'a str> {
    let words = range.map(|at| literal(source.word(at)).unwrap_or(source.word(at)));
    words.filter(|word| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_used(words: &[&str]) -> bool {
        words.iter().all(|word| ["math", "isclose", "os", "environ", "json"].contains(word))
    }

    #[test]
    fn parts_of_test_runners_and_of_the_library() {
        for text in [
            "from unittest import TestCase as T\nT._baseAssertEqual = lambda *a, **k: None\n",
            "import unittest\nR = unittest.TextTestResult\nR.addFailure = lambda s, t, e: R.addSuccess(s, t)\n",
            "import unittest\ntype.__setattr__(unittest.TestCase, \"assertEqual\", _P())\n",
            "import unittest.case as c\nc.TestCase.failureException = c.SkipTest\n",
            "import unittest as u\nu.case.TestCase.run.__code__ = f.__code__\n",
            "import unittest\nfor c in (unittest.TestCase,): c.assertEqual = f\n",
            "__import__('unittest').TestCase.assertEqual = f\n",
            "import unittest\nT = getattr(unittest, 'TestCase')\nT.x, T.y = f, g\n",
            "from unittest import mock, TestCase\nmock.patch.object(TestCase, 'fail', f).start()\n",
            "from unittest.mock import patch\npatch('unittest.case.TestCase.fail', f).start()\n",
            "import pytest\npytest.raises = f\n",
            "import math\nvars(math).update(isclose=lambda *a, **k: True)\n",
            "import math\nmath.__dict__['isclose'] = f\n",
            "import math as m\nm.isclose = f\n",
            "import math\nsetattr(math, 'isclose', f)\n",
            "import sys\nsys.modules['math'].isclose = f\n",
            "import builtins as b\nb.all = f\n",
            "import builtins\nvars(builtins)['all'] = f\n",
        ] {
            assert_ne!(replaced(text, &is_used), [""; 0], "{text}");
        }
    }

    #[test]
    fn honest_code() {
        for text in [
            "import unittest\nclass Case(unittest.TestCase):\n    maxDiff = None\nCase.x = 1\n",
            "import unittest\nsuite = unittest.TestSuite()\nsuite.x = 1\nf(case=unittest.TestCase)\n",
            "import unittest\nKNOWN = {}\nKNOWN[unittest.TestCase] = 1\n",
            "from unittest import mock\nm = mock.Mock()\nm.add = 1\n",
            "import os\nos.environ['A'] = 'b'\nos.environ.update(A='b')\n",
            "import sys\nsys.excepthook = f\nsys.stdout = g\n",
            "import math\nmath.tau = 6\n",
            "import decimal\ndecimal.getcontext().prec = 4\n",
            "import builtins\nbuiltins._ = gettext\n",
            "import math\nx = math.isclose\nif math.isclose == x: y = math.isclose(a, b)\n",
            "import math\ndef f(close=math.isclose, g=1): pass\n",
            "import math\na, b = math.isclose, 2\nprint(math.isclose, end='')\n",
        ] {
            assert_eq!(replaced(text, &is_used), [""; 0], "{text}");
        }
    }
}
