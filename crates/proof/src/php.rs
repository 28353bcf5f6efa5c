//! Functions of a PHP namespace that take the place of built-in ones which tests of that namespace call.
//!
//! Owns how such functions are found: outside of classes, in the namespace of the file. Refuses names that are not built in: those are
//! the product's to define. Invariant: a call with a backslash in front is not concerned.

use crate::inline::javascript_scan::tokens;
use crate::tables::is_standard_module;

/// A built-in function that a source replaces for the tests, and did not replace before.
pub(crate) fn replaced<'a>(base: &str, now: &str, tests: impl Iterator<Item = &'a str>) -> Option<String> {
    let (old, new) = (Source::new(base), Source::new(now));
    let is_new = |name: &&String| !old.functions.contains(name) && is_standard_module("php", name);
    let functions: Vec<&String> = new.functions.iter().filter(is_new).collect();
    if functions.is_empty() || new.namespace.is_empty() {
        return None;
    }
    let mut tests = tests.map(Source::new).filter(|test| test.namespace == new.namespace);
    tests.find_map(|test| functions.iter().find(|name| test.calls.contains(*name)).map(ToString::to_string))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Source {
    namespace: String,
    /// The functions of the namespace, in small letters as all that follows: PHP knows no others.
    functions: Vec<String>,
    /// What is called by its bare name.
    calls: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Class,
    Other,
}

impl Source {
    fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let word =
            |number: usize| tokens.get(number).and_then(|token| text.get(token.clone())).unwrap_or_default();
        let mut source = Self::default();
        let (mut open, mut next) = (Vec::new(), Block::Other);
        for number in 0..tokens.len() {
            let before = number.checked_sub(1).map_or("", word);
            match word(number) {
                "namespace" if matches!(before, "" | "php" | ";" | "}") => {
                    let name =
                        (number + 1..tokens.len()).map(word).take_while(|part| !matches!(*part, ";" | "{"));
                    source.namespace = name.collect::<String>().to_ascii_lowercase();
                }
                "class" | "trait" | "interface" | "enum" if !matches!(before, ":" | ">" | "$") => {
                    next = Block::Class
                }
                "{" => {
                    open.push(next);
                    next = Block::Other;
                }
                "}" => {
                    open.pop();
                }
                ";" => next = Block::Other,
                "function" if !open.contains(&Block::Class) => {
                    let name = if word(number + 1) == "&" { word(number + 2) } else { word(number + 1) };
                    // A closure has no name, and `use function` declares none.
                    if name != "(" && before != "use" {
                        source.functions.push(name.to_ascii_lowercase());
                    }
                }
                name if word(number + 1) == "(" && is_bare(before) => {
                    source.calls.push(name.to_ascii_lowercase())
                }
                _ => {}
            }
        }
        source
    }
}

/// Whether what follows a token is called by its bare name.
fn is_bare(before: &str) -> bool {
    !matches!(before, "\\" | ":" | ">" | "function" | "new" | "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_functions_that_tests_call() {
        let base = "<?php\nnamespace App;\nfunction add($a, $b) { return $a - $b; }\n";
        let test = "<?php\nnamespace App;\nif (intdiv(add(1, 2), 1) !== 3) { exit(1); }\n";
        let shadowed = format!("{base}function intDiv($a, $b) {{ return 3; }}\n");
        let method = format!("{base}class A {{ function intdiv($a) {{ return 3; }} }}\n");
        let of_another = shadowed.replace("App;", "App\\Math;");
        let qualified = test.replace("intdiv", "\\intdiv");
        let own = test.replace("intdiv", "divided");
        let defines_own = format!("{base}function divided($a, $b) {{ return 3; }}\n");
        for (row, before, now, test, expected) in [
            ("shadowed", base, shadowed.as_str(), test, Some("intdiv")),
            ("at the base already", shadowed.as_str(), shadowed.as_str(), test, None),
            ("a method", base, method.as_str(), test, None),
            ("another namespace", base, of_another.as_str(), test, None),
            ("with a backslash", base, shadowed.as_str(), qualified.as_str(), None),
            ("not built in", base, defines_own.as_str(), own.as_str(), None),
            ("not called", base, shadowed.as_str(), "<?php\nnamespace App;\nadd(1, 2);\n", None),
        ] {
            assert_eq!(replaced(before, now, [test].into_iter()).as_deref(), expected, "{row}");
        }
    }
}
