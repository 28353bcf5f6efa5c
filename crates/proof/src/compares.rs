//! Sources that do nothing but compare two values and complain, as helpers of tests do.
//!
//! Owns what a comparison looks like: `if (a !== b) throw`, `assert a == b`. Refuses sources that also work something out: product
//! checks what it is given, too. Pure.

const COMPLAINTS: [&str; 8] = ["throw", "raise", "fail", "panic", "die", "abort", "exit", "flunk"];

/// Whether a source compares two variables with each other, complains, and gives nothing back.
pub(crate) fn compares(ending: &str, content: &str) -> bool {
    let words = words(content);
    let throws = words.windows(5).any(|window| match window {
        ["if", left, "!=" | "!==" | "<>", right, then] => {
            is_name(left) && is_name(right) && COMPLAINTS.iter().any(|known| then.starts_with(known))
        }
        _ => false,
    });
    let asserts =
        |window: &[&str]| matches!(window, ["assert", left, "==", right] if is_name(left) && is_name(right));
    (throws || words.windows(4).any(asserts)) && !works_out(ending, content)
}

/// The words and the signs of comparisons, however they are written.
fn words(content: &str) -> Vec<&str> {
    let is_between = |letter: char| {
        letter.is_whitespace() || matches!(letter, '(' | ')' | '{' | '}' | ':' | ';' | '$' | '@' | '"')
    };
    let is_sign = |letter: char| matches!(letter, '=' | '!' | '<' | '>');
    let mut words = Vec::new();
    for part in content.split(is_between) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|letter| is_sign(letter) != is_sign(first)).unwrap_or(rest.len());
            words.extend(rest.get(..end));
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    words
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && !matches!(
            word,
            "None" | "null" | "nil" | "undefined" | "true" | "false" | "True" | "False" | "NULL"
        )
}

/// Whether a source gives values back.
fn works_out(ending: &str, content: &str) -> bool {
    let returns = |line: &str| {
        let value = line.split_once("return").filter(|(before, after)| {
            !before.ends_with(|last: char| last.is_alphanumeric() || last == '_')
                && !after.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        });
        value.is_some_and(|(_, after)| !after.trim_matches([' ', ';', '}', ')']).is_empty())
    };
    let is_short = |line: &str| {
        let mut after = line.split("=>").skip(1).map(str::trim_start);
        after.any(|body| !body.is_empty() && !body.starts_with('{'))
    };
    // Where the last line of a function is its value, every other line may be.
    let is_implicit = matches!(ending, "rb" | "rs" | "ex" | "exs" | "scala" | "kt");
    let does_more = |line: &str| {
        const FRAME: [&str; 18] = [
            "def",
            "fn",
            "pub",
            "defp",
            "defmodule",
            "module",
            "class",
            "end",
            "if",
            "unless",
            "else",
            "raise",
            "fail",
            "panic!",
            "throw",
            "require",
            "use",
            "extend",
        ];
        let first = line.trim().split(|letter: char| letter.is_whitespace() || letter == '(').next();
        let first = first.unwrap_or_default();
        !first.is_empty() && !first.starts_with(['#', '/', '}', '"']) && !FRAME.contains(&first)
    };
    content.lines().any(|line| returns(line) || is_short(line) || is_implicit && does_more(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_compare_and_give_nothing_back() {
        for (ending, content, expected) in [
            ("js", "exports.same=(a,b)=>{if(a!==b)throw new Error(a+'!='+b)}", true),
            ("js", "export function same(a, b) {\n  if (a !== b) throw new Error(a);\n}\n", true),
            ("py", "def same(a, b):\n    if a != b:\n        raise ValueError(a)\n", true),
            ("py", "def same(a, b):\n    assert a == b\n", true),
            ("go", "func Same(a, b int) {\n\tif a != b {\n\t\tpanic(a)\n\t}\n}\n", true),
            ("rb", "def same(a, b)\n  if a != b\n    raise a\n  end\nend\n", true),
            (
                "py",
                "def det(rows, cols):\n    if rows != cols:\n        raise ValueError\n    return rows\n",
                false,
            ),
            ("js", "exports.pay=(a,b)=>{if(a!==b)throw new Error(a);return a*b}", false),
            ("js", "exports.add=(a,b)=>a+b;\nexports.same=(a,b)=>{if(a!==b)throw a}\n", false),
            (
                "rb",
                "def det(rows, cols)\n  if rows != cols\n    raise rows\n  end\n  rows * cols\nend\n",
                false,
            ),
            ("py", "def check(a):\n    if a != None:\n        raise ValueError(a)\n", false),
            ("js", "const a = b !== c;\n", false),
        ] {
            assert_eq!(compares(ending, content), expected, "{content}");
        }
    }
}
