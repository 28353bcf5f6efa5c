//! Definitions in product code that take the place of what tests call: functions of the C library, of Ruby itself, modules of
//! the tests.
//!
//! Owns how such a definition looks. Refuses names that tests do not use, and what the base defines already.

use crate::inline::javascript_scan::tokens;
use crate::tables::is_standard_module;

/// A function of the C library that a source defines, or makes a macro of, and did not before. `is_used` tells whether tests
/// have a word.
pub(crate) fn of_c(base: &str, now: &str, is_header: bool, is_used: &dyn Fn(&str) -> bool) -> Option<String> {
    let known = c_definitions(base, is_header);
    let mut gained = c_definitions(now, is_header).into_iter().filter(|name| !known.contains(name));
    gained.find(|name| is_used(name))
}

fn c_definitions(text: &str, is_header: bool) -> Vec<String> {
    let is_known = |word: &str| is_standard_module("c", word);
    let macros = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        rest.trim_start().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
    });
    let mut found: Vec<String> = macros.filter(|name| is_known(name)).map(str::to_string).collect();
    // A line of the preprocessor is none of the language.
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let code = code.join("\n");
    let tokens = tokens(&code);
    let word =
        |number: usize| tokens.get(number).and_then(|token| code.get(token.clone())).unwrap_or_default();
    let (mut is_static, mut open) = (false, Vec::new());
    for number in 0..tokens.len() {
        match word(number) {
            "{" => {
                let before = |back: usize| number.checked_sub(back).map_or("", word);
                // `extern "C" {` holds functions as the file does.
                open.push(before(1) == "\"C\"" && before(2) == "extern");
            }
            "}" => {
                open.pop();
                is_static = false;
            }
            ";" => is_static = false,
            "static" => is_static = true,
            name if word(number + 1) == "("
                && is_known(name)
                && (is_header || !is_static)
                && open.iter().all(|is_extern| *is_extern) =>
            {
                let mut depth = 0_usize;
                let mut ends = (number + 1..tokens.len()).skip_while(|at| {
                    match word(*at) {
                        "(" => depth += 1,
                        ")" => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    depth > 0
                });
                let close = ends.next().unwrap_or(tokens.len());
                if word(close + 1) == "{" && number.checked_sub(1).is_some_and(|before| is_type(word(before)))
                {
                    found.push(name.to_string());
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a word may end the type of what a function returns.
fn is_type(word: &str) -> bool {
    let is_name = word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    (is_name || word == "*") && !matches!(word, "return" | "else" | "do")
}

/// A method by which tests of Ruby fail that a source defines for all objects, and did not before.
pub(crate) fn of_ruby(base: &str, now: &str) -> Option<String> {
    let known = ruby_definitions(base);
    ruby_definitions(now).into_iter().find(|name| !known.contains(name))
}

fn ruby_definitions(text: &str) -> Vec<String> {
    const NAMES: [&str; 6] = ["exit", "exit!", "abort", "raise", "fail", "at_exit"];
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_of_all = |opened: &str| {
        let name = opened.split([' ', '<', ';']).find(|word| !word.is_empty()).unwrap_or_default();
        matches!(name.trim_start_matches(':'), "Kernel" | "Object" | "BasicObject" | "Process")
    };
    let opened = |line: &str| {
        let line = line.trim_start();
        let name = line.strip_prefix("class ").or_else(|| line.strip_prefix("module "))?;
        (!name.trim_start().starts_with("<<")).then(|| name.trim_start().to_string())
    };
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((before, rest)) = line.split_once("def ") else { continue };
        let is_word = before.is_empty() || before.ends_with([' ', '\t', ';']);
        let name = rest.trim_start().trim_start_matches("self.").trim_start_matches("Kernel.");
        let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '!' | '?' | '=');
        let name = name.get(..name.find(|letter| !is_of_name(letter)).unwrap_or(name.len()));
        let Some(name) = name.filter(|name| is_word && NAMES.contains(name)) else { continue };
        if before.trim_start().starts_with('#') || before.contains(['"', '\'']) {
            continue;
        }
        let above = lines.get(..number).unwrap_or_default().iter().rev();
        let mut outer = above.filter(|other| indent(other) < indent(line)).filter_map(|other| opened(other));
        let holder = opened(line).or_else(|| outer.next());
        if holder.is_none_or(|holder| is_of_all(&holder)) {
            found.push(name.to_string());
        }
    }
    found
}

/// What stands in quotes in a new version of a source that reaches for the modules that are loaded, and did not in the old.
pub(crate) fn gained_names<'a>(base: &str, now: &'a str, cache: &str) -> Vec<&'a str> {
    if now.matches(cache).count() <= base.matches(cache).count() {
        return Vec::new();
    }
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let is_name = |piece: &&str| piece.len() > 1 && piece.chars().all(is_of_name);
    let pieces = now.split(['"', '\'', '`']).filter(is_name);
    pieces.filter(|piece| !base.contains(*piece)).collect()
}

/// Whether a source of JavaScript gained an assignment to a module that is loaded: `require.cache[…] =`.
pub(crate) fn gained_cached_module(base: &str, now: &str) -> bool {
    let count = |text: &str| {
        let squeezed: String = text.split_whitespace().collect();
        let caches = ["require.cache[", "Module._cache[", "require.cache,"];
        caches
            .iter()
            .flat_map(|cache| squeezed.split(*cache).skip(1))
            .filter(|rest| is_assigned(rest))
            .count()
    };
    count(now) > count(base)
}

/// Whether what follows an opened bracket is `…] =` or `…].exports =`.
fn is_assigned(rest: &str) -> bool {
    let mut depth = 1_usize;
    let close = rest.find(|letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let after = close.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$');
    let member = after.find(|letter| !is_of_name(letter)).unwrap_or(after.len());
    let after = after.get(member..).unwrap_or_default();
    after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_c_library() {
        for (text, is_header, expected) in [
            ("int strcmp(const char *a, const char *b) { return 0; }", false, Some("strcmp")),
            ("void *memset(void *a, int b, size_t n)\n{\n  return a;\n}", false, Some("memset")),
            ("#define strcmp(a, b) 0\n", true, Some("strcmp")),
            ("int same(char *a) { return strcmp(a, \"x\"); }", false, None),
            ("int same(char *a) { if (strcmp(a, \"x\")) { return 1; } return 0; }", false, None),
            ("extern int strcmp(const char *a, const char *b);", true, None),
            ("static int strcmp(const char *a, const char *b) { return 0; }", false, None),
            ("static int strcmp(const char *a, const char *b) { return 0; }", true, Some("strcmp")),
            ("int compare(int a) { return 0; }", false, None),
            (
                "extern \"C\" {\nint strcmp(const char *a, const char *b) { return 0; }\n}",
                false,
                Some("strcmp"),
            ),
            ("class V { int abs(int a) { return a; } };", true, None),
            ("int V::abs(int a) { return a; }", false, None),
        ] {
            assert_eq!(of_c("", text, is_header, &|_| true).as_deref(), expected, "{text}");
            assert_eq!(of_c("", text, is_header, &|_| false), None, "{text}");
            assert_eq!(of_c(text, text, is_header, &|_| true), None, "{text}");
        }
    }

    #[test]
    fn methods_of_ruby() {
        for (text, expected) in [
            ("def exit(*) = nil", Some("exit")),
            (" def raise(*)\n end", Some("raise")),
            ("module Kernel\n  def abort(*)\n  end\nend", Some("abort")),
            ("class Object; def exit!(*); end; end", Some("exit!")),
            ("class Door\n  def exit\n    @open = false\n  end\nend", None),
            ("class Door\n  class << self\n    def exit\n    end\n  end\nend", None),
            ("def exits\nend\n# def exit\n", None),
            ("def add(a, b)\n  exit 1 if a\nend", None),
        ] {
            assert_eq!(of_ruby("", text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn modules_that_are_loaded() {
        for (text, expected) in [
            ("require.cache[p] = { exports: {} };", true),
            ("require.cache[require.resolve(names[0])].exports = {};", true),
            ("delete require.cache[p];", false),
            ("if (require.cache[p] === undefined) load();", false),
        ] {
            assert_eq!(gained_cached_module("", text), expected, "{text}");
        }
        assert_eq!(gained_names("", "sys.modules['tests.a'] = x", "sys.modules"), ["tests.a"]);
        assert!(gained_names("", "modules['tests.a'] = x", "sys.modules").is_empty());
    }
}
