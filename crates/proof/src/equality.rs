//! Modules that only tell whether two values are the same, as helpers of tests do: `def same(a, b): return a == b`.
//!
//! Owns what such a function looks like in Python, JavaScript and Ruby. Refuses a module that has any other function: a product
//! compares, too. Pure.

/// Whether all functions of a source give back how two of their parameters compare.
pub(crate) fn only_compares(ending: &str, content: &str) -> bool {
    let bodies = match ending {
        "py" => lines_of(content, "def "),
        "rb" => lines_of(content, "def "),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => arrows(content),
        _ => return false,
    };
    let Some(bodies) = bodies else { return false };
    !bodies.is_empty() && bodies.iter().all(|(parameters, body)| is_comparison(parameters, body))
}

/// Parameters and body of a function.
type Function = (Vec<String>, String);

/// The functions of Python or Ruby, of one statement each; nothing if the module does anything else.
fn lines_of(content: &str, word: &str) -> Option<Vec<Function>> {
    let mut functions: Vec<Function> = Vec::new();
    for line in content.lines() {
        let code = line.trim();
        let is_frame = code.is_empty()
            || code.starts_with(['#', '"', '\'', '@'])
            || ["end", "import ", "from ", "module ", "require"].iter().any(|known| code.starts_with(known));
        if let Some(rest) = code.strip_prefix(word) {
            let (head, tail) = rest.split_once(')')?;
            let body = tail.trim_start_matches([':', ' ', '=', '-', '>']);
            let is_type = body.ends_with(':') || body.starts_with("bool");
            let body = if is_type { body.split_once(':').map_or("", |(_, body)| body) } else { body };
            functions.push((
                parameters(head.split_once('(')?.1),
                body.trim().trim_start_matches("return ").to_string(),
            ));
        } else if !is_frame {
            // What is no part of a function is more than a comparison.
            let is_inside = line.starts_with([' ', '\t']);
            let (_, body) = functions.last_mut().filter(|(_, body)| is_inside && body.is_empty())?;
            *body = code.trim_start_matches("return ").to_string();
        }
    }
    Some(functions)
}

/// The functions of JavaScript that stand in a line each.
fn arrows(content: &str) -> Option<Vec<Function>> {
    let mut functions = Vec::new();
    for line in content.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if line.contains("require(") || line.starts_with("import ") || line == "\"use strict\";" {
            continue;
        }
        let (head, rest) = line.split_once(')')?;
        let body = rest.trim().trim_start_matches("=>").trim().trim_start_matches('{').trim();
        let body = body.trim_start_matches("return ").trim_end_matches(['}', ';', ' ']);
        functions.push((parameters(head.rsplit_once('(')?.1), body.to_string()));
    }
    Some(functions)
}

fn parameters(text: &str) -> Vec<String> {
    let name = |part: &str| part.split([':', '=']).next().unwrap_or_default().trim().to_string();
    text.split(',').map(name).filter(|name| !name.is_empty()).collect()
}

/// Whether an expression tells whether two parameters are equal, as they are or written out.
fn is_comparison(parameters: &[String], body: &str) -> bool {
    const WRITTEN: [&str; 8] =
        ["repr", "str", "sorted", "list", "tuple", "float", "JSON.stringify", "String"];
    const CALLS: [&str; 5] =
        ["math.isclose(", "isclose(", "isDeepStrictEqual(", "util.isDeepStrictEqual(", "Object.is("];
    let squeezed: String = body.split_whitespace().collect();
    let bare = |side: &str| {
        let inner = side.strip_suffix(')').and_then(|side| side.split_once('('));
        let inner = inner.filter(|(call, _)| WRITTEN.contains(call)).map_or(side, |(_, inner)| inner);
        parameters.iter().position(|name| name == inner)
    };
    let are_two = |left: &str, right: &str| matches!((bare(left), bare(right)), (Some(left), Some(right)) if left != right);
    let compares = |sign: &str| squeezed.split_once(sign).is_some_and(|(left, right)| are_two(left, right));
    let is_near = squeezed.strip_prefix("abs(").or_else(|| squeezed.strip_prefix("Math.abs("));
    let is_near = is_near.and_then(|rest| rest.split_once(")<")).and_then(|(both, _)| both.split_once('-'));
    let called = CALLS.iter().find_map(|call| squeezed.strip_prefix(call)).and_then(|rest| {
        let mut values = rest.split([',', ')']);
        Some((values.next()?, values.next()?))
    });
    ["===", "==", "!==", "!="].iter().any(|sign| compares(sign))
        || is_near.is_some_and(|(left, right)| are_two(left, right))
        || called.is_some_and(|(left, right)| are_two(left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_only_compare() {
        for (ending, content, expected) in [
            ("py", "def same(a, b):\n    return a == b\n", true),
            (
                "py",
                "import math\n\ndef near(a: float, b: float) -> bool:\n    return abs(a - b) < 1e-9\n",
                true,
            ),
            ("py", "def same(a, b): return repr(a) == repr(b)\ndef other(a, b):\n    return a != b\n", true),
            ("rb", "def same(a, b) = a == b\n", true),
            ("rb", "module Eq\n  def self.same(a, b)\n    a == b\n  end\nend\n", true),
            ("js", "exports.same=(a,b)=>a===b;\n", true),
            ("js", "exports.same = function (a, b) { return a === b; };\n", true),
            ("py", "def add(a, b):\n    return a - b\n", false),
            ("py", "def same(a, b):\n    return a == b\n\ndef add(a, b):\n    return a + b\n", false),
            ("py", "def before(a, b):\n    return a < b\n", false),
            ("py", "def alike(a, b):\n    return a.lower() == b.lower()\n", false),
            ("py", "def even(n):\n    return n % 2 == 0\n", false),
            ("py", "def larger(a, b):\n    if a > b:\n        return a\n    return b\n", false),
            ("js", "exports.add=(a,b)=>a-b;\n", false),
            ("js", "exports.max = (a, b) => a > b ? a : b;\n", false),
            ("py", "X = 1\ndef same(a, b):\n    return a == b\n", false),
            ("py", "", false),
        ] {
            assert_eq!(only_compares(ending, content), expected, "{content}");
        }
    }
}
