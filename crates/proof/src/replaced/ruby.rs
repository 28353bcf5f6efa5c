//! What a source of Ruby replaces: methods of the classes of Ruby itself by which assertions compare, and assertions.
//!
//! Owns how a class is opened again. Refuses methods that are new: a library may add `String#shout`. A refinement counts only
//! where tests use refinements.

/// Classes and modules of Ruby itself.
const CLASSES: [&str; 33] = [
    "Object",
    "BasicObject",
    "Kernel",
    "Class",
    "Module",
    "Comparable",
    "Enumerable",
    "Integer",
    "Float",
    "Numeric",
    "Rational",
    "Complex",
    "String",
    "Symbol",
    "Array",
    "Hash",
    "Set",
    "Range",
    "Struct",
    "NilClass",
    "TrueClass",
    "FalseClass",
    "Proc",
    "Method",
    "Regexp",
    "MatchData",
    "Time",
    "Exception",
    "StandardError",
    "RuntimeError",
    "IO",
    "Process",
    "Data",
];
/// Methods by which assertions compare, and by which classes of tests are found.
const METHODS: [&str; 33] = [
    "==",
    "!=",
    "===",
    "=~",
    "!",
    "<=>",
    "<",
    ">",
    "<=",
    ">=",
    "eql?",
    "equal?",
    "nil?",
    "is_a?",
    "kind_of?",
    "instance_of?",
    "respond_to?",
    "include?",
    "empty?",
    "match?",
    "between?",
    "hash",
    "inspect",
    "inherited",
    "method_added",
    "prepended",
    "included",
    "all?",
    "any?",
    "none?",
    "send",
    "public_send",
    "__send__",
];

pub(super) fn replaced(text: &str, is_used: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let above = lines.get(..number).unwrap_or_default();
        for (at, name) in defined(line) {
            let before = line.get(..at).unwrap_or_default();
            let holder = opened(before).or_else(|| enclosing(above, line));
            let Some(holder) = holder else { continue };
            let is_refined = holder.starts_with("refine ");
            let class = holder.trim_start_matches("refine ");
            let is_core = CLASSES.contains(&class) && (!is_refined || is_used(&["using"]));
            let is_nameless = class == "Module.new";
            if is_core && METHODS.contains(&name) || (is_core || is_nameless) && is_assertion(name) {
                found.push(format!("{}#{name}", if is_nameless { "Module" } else { class }));
            }
        }
        found.extend(mixed_in(line, text));
    }
    found
}

/// The methods that a line defines, each with the place at which its name begins.
fn defined(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for word in [
        "def ",
        "define_method(:",
        "define_method :",
        "define_method(\"",
        ":define_method, :",
        "alias_method :",
        "alias_method(:",
        "alias ",
    ] {
        for (at, _) in line.match_indices(word) {
            let is_part = line
                .get(..at)
                .is_some_and(|before| before.ends_with(|last: char| last.is_alphanumeric() || last == '_'));
            let rest = line.get(at + word.len()..).unwrap_or_default().trim_start();
            let rest = rest.strip_prefix("self.").unwrap_or(rest);
            let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '?' | '!');
            let is_sign = |letter: char| "=!<>~".contains(letter);
            let length = match rest.chars().next() {
                Some(first) if is_sign(first) => rest.find(|letter| !is_sign(letter)),
                Some(_) | None => rest.find(|letter| !is_of_name(letter)),
            };
            let name = rest.get(..length.unwrap_or(rest.len())).filter(|name| !name.is_empty());
            found.extend(name.filter(|_| !is_part).map(|name| (at + word.len(), name)));
        }
    }
    found
}

/// What is opened last in a text: `class A`, `A.class_eval`, `refine A`, `Module.new`.
fn opened(text: &str) -> Option<String> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
    let behind = |word: &str| {
        let at = text.rfind(word)?;
        let is_begin =
            text.get(..at)?.trim_end().is_empty() || text.get(..at)?.ends_with([' ', ';', '(', '{']);
        let rest = text.get(at + word.len()..)?.trim_start();
        let name = rest.get(..rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len()))?;
        (is_begin && !name.is_empty()).then(|| (at, name.trim_start_matches("::").to_string()))
    };
    let evaluated = [
        "class_eval",
        "class_exec",
        "module_eval",
        "send(:define_method",
        "define_method",
        "send(:alias_method",
        "alias_method",
        "singleton_class",
    ]
    .iter()
    .filter_map(|word| {
        let at = text.rfind(&format!(".{word}"))?;
        let before = text.get(..at)?;
        let name = before.rsplit(|letter| !is_of_name(letter)).next()?;
        Some((at, name.trim_start_matches("::").to_string()))
    });
    let refined =
        behind("refine ").or_else(|| behind("refine(")).map(|(at, name)| (at, format!("refine {name}")));
    let nameless = text.rfind("Module.new").map(|at| (at, "Module.new".to_string()));
    let opened = [behind("class "), behind("module "), refined, nameless];
    let last = opened.into_iter().flatten().chain(evaluated).max_by_key(|(at, _)| *at);
    last.map(|(_, name)| name)
}

/// What the lines above open around a line, by how far they are indented.
fn enclosing(above: &[&str], line: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut depth = indent(line);
    for other in above.iter().rev().filter(|other| !other.trim().is_empty()) {
        if indent(other) < depth {
            depth = indent(other);
            if let Some(name) = opened(other) {
                return Some(name);
            }
        }
    }
    None
}

/// A method that a line itself defines on a class: `Integer.define_method(:==)`, or a module that it mixes in.
fn mixed_in(line: &str, text: &str) -> Option<String> {
    let class = CLASSES.iter().find(|class| {
        [".prepend", ".include", ".send(:prepend", ".send(:include", ".extend"].iter().any(|word| {
            line.match_indices(&format!("{class}{word}")).any(|(at, _)| {
                !line.get(..at).is_some_and(|before| {
                    before.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | ':'))
                })
            })
        })
    })?;
    let names = text.lines().flat_map(defined).map(|(_, name)| name);
    let name = names.into_iter().find(|name| METHODS.contains(name) || is_assertion(name))?;
    Some(format!("{class}#{name}"))
}

fn is_assertion(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["assert", "refute", "flunk", "expect", "should", "must", "run_test", "capture_exceptions"];
    let of_minitest = [
        "assert_equal",
        "assert_nil",
        "assert_same",
        "assert_match",
        "assert_raises",
        "refute_equal",
        "refute_nil",
        "assert_in_delta",
        "assert_includes",
    ];
    NAMES.contains(&name) || of_minitest.contains(&name) || name.starts_with("must_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_opened_again() {
        for (text, expected) in [
            ("class Integer\n  def ==(o) = true\nend\n", Some("Integer#==")),
            ("class Integer; def ==(o); true; end; end", Some("Integer#==")),
            ("class ::String\n  alias == equal?\nend\n", Some("String#==")),
            ("Integer.class_eval do\n  def eql?(o) = true\nend\n", Some("Integer#eql?")),
            ("Integer.define_method(:==) { |o| true }\n", Some("Integer#==")),
            ("Integer.send(:define_method, :==) { |o| true }\n", Some("Integer#==")),
            ("Integer.prepend(Module.new { def ==(o) = true })\n", Some("Integer#==")),
            ("module Same\n  def ==(o) = true\nend\nArray.prepend(Same)\n", Some("Array#==")),
            (
                "class Object\n  def self.inherited(k)\n    super\n    k.prepend(Module.new { def assert(*) = true })\n  end\nend\n",
                Some("Object#inherited"),
            ),
            ("class Class\n  def inherited(k)\n  end\nend\n", Some("Class#inherited")),
            ("class Money\n  def ==(o) = v == o.v\n  def self.inherited(k)\n    super\n  end\nend\n", None),
            ("class String\n  def shout = upcase + \"!\"\nend\n", None),
            ("class Integer\n  def minutes = self * 60\nend\nclass A\n  def ==(o) = true\nend\n", None),
            ("module Calc\n  class Set\n  end\n  def self.==(o) = true\nend\n", None),
            ("# class Integer\n#   def ==(o) = true\n", None),
            ("module M\n  refine Integer do\n    def ==(o) = true\n  end\nend\n", None),
        ] {
            assert_eq!(replaced(text, &|_| false).first().map(String::as_str), expected, "{text}");
        }
        let refined = "module M\n  refine Integer do\n    def ==(o) = true\n  end\nend\n";
        assert_eq!(replaced(refined, &|words| words == ["using"]), ["Integer#=="]);
    }
}
