//! What a source of JavaScript replaces: assertions, parts of test runners, built-in functions that tests call.
//!
//! Owns the ways to change an object. Refuses an assignment that only fills in what is missing.

use crate::names::javascript::{GLOBALS, Part, Source, literal};

/// Modules that assert or run tests.
const RUNNERS: [&str; 32] = [
    "assert",
    "assert/strict",
    "node:test",
    "chai",
    "tape",
    "tap",
    "should",
    "expect",
    "expect.js",
    "vitest",
    "@vitest/expect",
    "@vitest/runner",
    "@jest/globals",
    "@jest/expect",
    "jest",
    "jest-circus",
    "jest-jasmine2",
    "mocha",
    "jasmine",
    "jasmine-core",
    "ava",
    "uvu",
    "uvu/assert",
    "qunit",
    "power-assert",
    "unexpected",
    "@playwright/test",
    "cypress",
    "bun:test",
    "earl",
    "node-tap",
    "assertive",
];
/// Functions that change their first argument.
const CHANGING: [&str; 12] = [
    "assign",
    "defineProperty",
    "defineProperties",
    "setPrototypeOf",
    "deleteProperty",
    "spyOn",
    "stub",
    "replace",
    "method",
    "getter",
    "property",
    "merge",
];
/// Methods of assertion libraries that replace assertions.
const OVERWRITING: [&str; 7] = [
    "use",
    "overwriteMethod",
    "overwriteProperty",
    "overwriteChainableMethod",
    "addMethod",
    "addProperty",
    "addChainableMethod",
];

/// Functions of global objects that a test may compare with.
#[rustfmt::skip]
const STANDARD: [&str; 62] = [
    "abs", "round", "floor", "ceil", "trunc", "max", "min", "sign", "sqrt", "pow", "hypot", "stringify", "parse", "is",
    "keys", "values", "entries", "assign", "freeze", "fromEntries", "create", "isArray", "from", "of", "every", "some",
    "includes", "indexOf", "map", "filter", "find", "findIndex", "forEach", "join", "sort", "reduce", "slice", "concat",
    "startsWith", "endsWith", "match", "matchAll", "test", "trim", "split", "replace", "toString", "toFixed", "isInteger",
    "isNaN", "isFinite", "isSafeInteger", "all", "allSettled", "race", "now", "has", "get", "equals", "compare",
    "hasOwnProperty", "valueOf",
];

pub(super) fn replaced(text: &str, is_used: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let source = Source::new(text);
    let mut found = Vec::new();
    for number in 0..source.len() {
        let (part, changed) = match source.part(number) {
            Some(part) if is_changed(&source, number, &part) => (part, None),
            _ => match given(&source, number) {
                Some((part, names)) => (part, Some(names)),
                None => continue,
            },
        };
        found.extend(counting(&part.path, changed.as_deref(), is_used));
    }
    found
}

/// What counts of a part that is changed: all of a runner, and of a global object what tests call.
fn counting(path: &str, given: Option<&[&str]>, is_used: &dyn Fn(&[&str]) -> bool) -> Option<String> {
    let mut pieces = path.split('.');
    let root = pieces.next().unwrap_or_default();
    // The name of a module may have a dot, and other names stand behind it.
    let is_runner = |runner: &&str| {
        path.strip_prefix(*runner).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if RUNNERS.iter().any(is_runner) {
        return Some(path.replace(".?", "").replace("assert/strict", "assert"));
    }
    if !GLOBALS.contains(&root) || matches!(root, "process" | "globalThis") {
        return None;
    }
    let members: Vec<&str> = pieces.filter(|piece| !matches!(*piece, "prototype" | "?")).collect();
    let is_method = path.contains(".prototype");
    let names = match given {
        Some(given) if members.is_empty() => given.to_vec(),
        _ => members.first().copied().into_iter().collect(),
    };
    let calls = |name: &&&str| {
        if !STANDARD.contains(*name) {
            return false;
        }
        let call = if is_method { format!(".{name}(") } else { format!("{root}.{name}(") };
        is_used(&[&call])
    };
    let name = names.iter().find(calls)?;
    Some(if is_method { format!("{root}.prototype.{name}") } else { format!("{root}.{name}") })
}

/// Whether a part is assigned to, deleted, or overwritten by a method of its own.
fn is_changed(source: &Source<'_>, number: usize, part: &Part) -> bool {
    let last = part.path.rsplit('.').next().unwrap_or_default();
    let is_member = part.path.contains('.') && part.end > number + 1;
    if source.before(number) == "delete" && is_member {
        return true;
    }
    if OVERWRITING.contains(&last) && source.word(part.end) == "(" {
        return true;
    }
    is_member
        && (is_assigned(source, number, part) || is_in_pattern(source, number, part))
        && !is_guarded(source, number, part)
}

fn is_assigned(source: &Source<'_>, number: usize, part: &Part) -> bool {
    // `+=`; but `||=` and `??=` only fill in what is missing.
    let signs = usize::from(matches!(source.word(part.end), "+" | "-" | "*" | "%" | "^"));
    let is_loop = source.before(number) == "(" && matches!(source.word(part.end), "of" | "in");
    let is_counted =
        ["+", "-"].iter().any(|sign| source.word(part.end) == *sign && source.word(part.end + 1) == *sign);
    let of_for = number.checked_sub(2).is_some_and(|at| matches!(source.word(at), "for" | "await"));
    source.assigns(part.end + signs) || is_loop && of_for || is_counted
}

/// `({a: part} = …)` and `[part] = …`
fn is_in_pattern(source: &Source<'_>, number: usize, part: &Part) -> bool {
    let is_target = matches!(source.before(number), ":" | "[" | "," | ".")
        && matches!(source.word(part.end), "}" | "]" | "," | "=");
    let mut depth = 0_usize;
    let close = (part.end..source.len()).take(400).filter(|_| is_target).find(|at| {
        match source.word(*at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return true,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        false
    });
    // A pattern may stand in another.
    let outer = |close: usize| {
        let mut at = close;
        while matches!(source.word(at + 1), "}" | "]") {
            at += 1;
        }
        at
    };
    close.is_some_and(|close| matches!(source.word(close), "}" | "]") && source.assigns(outer(close) + 1))
}

/// Whether it is only done where the part is missing: `if (!a.b) a.b = …`, `a.b = a.b || …`.
fn is_guarded(source: &Source<'_>, number: usize, part: &Part) -> bool {
    let own = source.between(number..part.end);
    let value = source.between(part.end + 1..part.end + 40);
    if value.starts_with(&format!("{own}||")) || value.starts_with(&format!("{own}??")) {
        return true;
    }
    let head = source.between(number.saturating_sub(24)..number);
    let conditions = [
        format!("if(!{own})"),
        format!("if(typeof{own}!=='function')"),
        format!("if(typeof{own}!==\"function\")"),
        format!("if(typeof{own}==='undefined')"),
        format!("if(typeof{own}===\"undefined\")"),
    ];
    conditions.iter().any(|condition| head.trim_end_matches('{').ends_with(condition.as_str()))
}

/// A part that is given to a function which changes it, and the names in the call.
fn given<'a>(source: &Source<'a>, number: usize) -> Option<(Part, Vec<&'a str>)> {
    let word = source.word(number);
    let is_changing = source.word(number + 1) == "("
        && (CHANGING.contains(&word) && source.before(number) == "."
            || CHANGING.contains(&word) && matches!(word, "assign" | "defineProperty" | "spyOn")
            || word == "set" && number.checked_sub(2).is_some_and(|at| source.word(at) == "Reflect"));
    // A function that is called where it stands.
    let is_called = word == ")" && source.word(number + 1) == "(";
    if !is_changing && !is_called {
        return None;
    }
    let part = source.part(number + 2)?;
    if !matches!(source.word(part.end), "," | ")") {
        return None;
    }
    let names = part.end..source.close(number + 1);
    let names = names.map(|at| literal(source.word(at)).unwrap_or(source.word(at)));
    Some((part, names.filter(|name| name.starts_with(|letter: char| letter.is_alphabetic())).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_are_replaced() {
        for text in [
            "Object.assign(require(\"assert\"),{equal(){}});",
            "Reflect.set(require(\"node:assert\"),\"equal\",()=>{});",
            "const a=require(\"assert\");({f:a.equal}={f(){}});",
            "const a=require(\"assert\");[a.equal, a.ok]=[() => {}, () => {}];",
            "import a from 'node:assert/strict';\n({ x: { y: a.equal } } = z);",
            "Object.defineProperties(require(\"assert\"),{equal:{value(){}}});",
            "const e=require(\"assert\");for(const k in e)if(k===\"equal\")e[k]=()=>{};",
            "const e=require(\"assert\");Object.keys(e).forEach(k => { e[k] = () => {} });",
            "const {mock}=require(\"node:test\");mock.method(require(\"assert\"),\"equal\",()=>{});",
            "const P=require(\"tape\").Test.prototype;P.equal=function(){this.pass()};",
            "const {Test}=require('tape'); Test.prototype.equal = () => {};",
            "const chai=require(\"chai\");chai.use((c,u)=>c.Assertion.overwriteMethod(\"equal\",()=>function(){}));",
            "import { Assertion } from 'chai'; Assertion.overwriteProperty('ok', f);",
            "(await import('assert')).equal = () => {};",
            "import * as a from 'assert'; delete a.default.equal;",
            "(a => { a.equal = () => {} })(require('assert'));",
            "const { strict: s } = require('assert'); s.equal = f;",
            "for (require('assert').equal of [() => {}]);",
            "jest.spyOn(require('assert'), 'equal').mockImplementation(() => {});",
            "const a = require('assert'); a.AssertionError.prototype.name = 'x';",
        ] {
            assert_ne!(replaced(text, &|_| false), [""; 0], "{text}");
        }
    }

    #[test]
    fn honest_code_asserts() {
        for text in [
            "const assert=require(\"assert\");\nexports.add=(a,b)=>{assert.ok(Number.isFinite(a));return a+b};",
            "const assert = require('assert'); module.exports = { ...assert, mine() {} };",
            "const assert = require('assert'); Object.assign(exports, assert);",
            "const assert = require('assert'); class E extends assert.AssertionError {}; E.prototype.name = 'E';",
            "const { equal = assert.equal } = options; const a = require('assert');",
            "if (assert.equal === x) y();",
            "const x = require('./assert'); x.equal = 1;",
            "const map = new Map(); map.set(require('assert'), 1);",
            "if(!Array.prototype.at)Array.prototype.at=function(i){return this[i]};",
            "Array.prototype.at = Array.prototype.at || function () {};",
            "Math.half = x => x / 2;",
            "Object.assign(Money.prototype, { equal() {} });",
        ] {
            assert_eq!(replaced(text, &|_| true), [""; 0], "{text}");
        }
    }

    #[test]
    fn built_in_functions_count_where_tests_call_them() {
        let is_used = |words: &[&str]| words.iter().all(|word| "Math.abs( x.every(".contains(*word));
        for (text, expected) in [
            ("Math.abs = () => 0;", Some("Math.abs")),
            ("Object.defineProperty(Math, 'abs', { value: () => 0 });", Some("Math.abs")),
            ("Object.assign(Math, { abs: () => 0 });", Some("Math.abs")),
            ("Array.prototype.every = () => true;", Some("Array.prototype.every")),
            ("Math.cbrt = () => 0;", None),
            ("Array.prototype.last = () => 0;", None),
        ] {
            assert_eq!(replaced(text, &is_used).first().map(String::as_str), expected, "{text}");
        }
    }
}
