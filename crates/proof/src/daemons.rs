//! The parent of a fork that ends in a function that nobody calls, as `daemonize` does.
//!
//! Owns which functions of a Python source may run: those that the module itself, a test or another file names, and those that
//! they name. Refuses ends elsewhere: a process that forks while it is tested and ends has hidden a failure. Pure.

use std::collections::BTreeSet;

use crate::beside::has_word;
use crate::own_process::without_children;
use crate::paths::extension;
use crate::tree::Tree;

/// The function that runs a file as a program.
const PROGRAM: &str = "__main__";

/// A source without the calls by which a forked child ends, and its parent where nothing calls it.
pub(crate) fn without_forks(path: &str, text: &str, result: &dyn Tree) -> String {
    let text = without_children(extension(path), text);
    if extension(path) != "py" {
        return text;
    }
    let others = || result.files().iter().filter(|file| extension(file) == "py" && *file != path);
    let has =
        |file: &String, name: &str| crate::tree::text(result, file).is_some_and(|text| has_word(&text, name));
    without_parents(&text, &|name| others().any(|file| has(file, name)))
}

/// A source without the ends of parents in functions that nothing reaches. `is_named` tells whether another file has a name.
fn without_parents(text: &str, is_named: &dyn Fn(&str) -> bool) -> String {
    let lines = owned_lines(text);
    let reached = reached(&lines, is_named);
    let mut parent: Option<usize> = None;
    let mut result = String::new();
    for line in &lines {
        let code: String = line.text.split_whitespace().collect();
        let depth = line.text.len() - line.text.trim_start().len();
        parent = parent.filter(|start| depth > *start || code.is_empty());
        let is_free = !line.owner.is_empty() && line.owner != PROGRAM && !reached.contains(&line.owner);
        let is_parent = is_free && is_of_parent(&lines, &line.owner, &code);
        let is_end =
            code.starts_with("os._exit(") && parent.is_some() || is_parent && code.contains(":os._exit(");
        if is_parent {
            parent = Some(depth);
        }
        if !(is_end && is_free) {
            result.push_str(line.text);
        }
        result.push('\n');
    }
    result
}

struct Line<'a> {
    text: &'a str,
    /// The innermost function that it stands in; empty for the module.
    owner: String,
    is_decorated: bool,
}

/// The lines with the functions that they stand in. A line that begins a function stands in what is around it.
fn owned_lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut functions: Vec<(usize, String)> = Vec::new();
    let mut is_decorated = false;
    for line in text.lines() {
        let code = line.trim();
        let depth = line.len() - line.trim_start().len();
        if !code.is_empty() && !code.starts_with('#') {
            functions.retain(|(start, _)| depth > *start);
        }
        let owner = functions.last().map(|(_, name)| name.clone()).unwrap_or_default();
        lines.push(Line { text: line, owner, is_decorated });
        if let Some(name) = function_name(code) {
            functions.push((depth, name.to_string()));
        } else if code.starts_with("if __name__") {
            functions.push((depth, PROGRAM.to_string()));
        }
        is_decorated = code.starts_with('@');
    }
    lines
}

fn function_name(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("async ").unwrap_or(code).strip_prefix("def ")?;
    rest.split(['(', ' ', '[']).next()
}

/// The functions that may run while the module is loaded or tested.
fn reached(lines: &[Line<'_>], is_named: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let functions: BTreeSet<&str> = lines.iter().filter_map(|line| function_name(line.text.trim())).collect();
    let is_special = |name: &str| {
        let is_decorated =
            |line: &Line<'_>| line.is_decorated && function_name(line.text.trim()) == Some(name);
        name.starts_with("__") || is_named(name) || lines.iter().any(is_decorated)
    };
    let mut reached: BTreeSet<String> =
        functions.iter().filter(|name| is_special(name)).map(|name| (*name).to_string()).collect();
    loop {
        let known = reached.len();
        for name in &functions {
            let calls = |line: &Line<'_>| {
                let is_running = line.owner.is_empty() || reached.contains(&line.owner);
                let is_list = line.text.starts_with("__all__") || function_name(line.text.trim()).is_some();
                is_running && !is_list && has_word(line.text, name)
            };
            if lines.iter().any(calls) {
                reached.insert((*name).to_string());
            }
        }
        if reached.len() == known {
            return reached;
        }
    }
}

/// Whether a condition holds in the parent of a fork.
fn is_of_parent(lines: &[Line<'_>], owner: &str, code: &str) -> bool {
    let squeezed = |line: &Line<'_>| line.text.split_whitespace().collect::<String>();
    let own = lines.iter().filter(|line| line.owner == owner).map(squeezed);
    let names = own.filter_map(|line| line.strip_suffix("=os.fork()").map(str::to_string));
    let mut values: Vec<String> = names.collect();
    values.push("os.fork()".to_string());
    let begins =
        |value: &String| ["", ">0", "!=0"].iter().any(|sign| code.starts_with(&format!("if{value}{sign}:")));
    values.iter().any(begins)
        || code.starts_with("if(") && code.contains(":=os.fork())") && !code.contains("==0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_may_end_where_nobody_calls() {
        let daemon = "def daemonize():\n    if os.fork() > 0:\n        os._exit(0)\n    os.setsid()\n";
        let with = |more: &str| format!("import os\n\n{daemon}{more}");
        for (name, text, expected) in [
            ("nobody calls it", with(""), false),
            (
                "the program calls it",
                with("\ndef main():\n    daemonize()\n\nif __name__ == '__main__':\n    main()\n"),
                false,
            ),
            (
                "a name",
                "import os\ndef go():\n    pid = os.fork()\n    if pid:\n        os._exit(0)\n".to_string(),
                false,
            ),
            ("in one line", "import os\ndef go():\n    if os.fork(): os._exit(0)\n".to_string(), false),
            ("the module calls it", with("\ndaemonize()\n"), true),
            ("what a test calls, calls it", with("\ndef add(a, b):\n    daemonize()\n    return a\n"), true),
            (
                "it is registered",
                "import os\n@atexit.register\ndef leave():\n    if os.fork():\n        os._exit(0)\n"
                    .to_string(),
                true,
            ),
            ("in the module", "import os\nif os.fork() > 0:\n    os._exit(0)\n".to_string(), true),
            ("without a fork", "import os\ndef leave():\n    os._exit(0)\n".to_string(), true),
            (
                "behind the fork",
                "import os\ndef go():\n    if os.fork():\n        pass\n    os._exit(0)\n".to_string(),
                true,
            ),
        ] {
            let found = without_parents(&text, &|name| name == "add").contains("os._exit(0)");
            assert_eq!(found, expected, "{name}");
        }
    }
}
