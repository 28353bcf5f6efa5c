//! Words in sources, and what a source is told by.

use crate::paths::{extension, matches};

/// One ending for all of a language.
pub(super) fn language(ending: &str) -> &str {
    match ending {
        "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" => "js",
        "h" | "cc" | "cpp" | "hpp" => "c",
        "kt" | "groovy" | "scala" => "java",
        "fs" | "vb" => "cs",
        "exs" => "ex",
        "bash" | "bats" => "sh",
        "pm" => "pl",
        other => other,
    }
}

pub(super) fn is_import_of(line: &str, module: &str) -> bool {
    const WORDS: [&str; 9] =
        ["import", "require", "from ", "source ", ". ", "include", "use ", "using ", "load"];
    WORDS.iter().any(|word| line.contains(word)) && has_word(line, module)
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
            !is_part(before) && !is_part(after)
        })
}

pub(crate) fn is_code(path: &str) -> bool {
    const CODE: [&str; 35] = [
        "py", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "go", "rb", "php", "rs", "java", "kt",
        "groovy", "scala", "cs", "fs", "vb", "ex", "exs", "c", "h", "cc", "cpp", "hpp", "sh", "bash", "pl",
        "pm", "lua", "swift", "vue", "bats",
    ];
    CODE.contains(&extension(path)) && !matches("node_modules/**", path)
}
