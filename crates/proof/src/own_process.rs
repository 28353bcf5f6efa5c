//! Code that ends a process of its own, and not the one that tests it: a forked child, a program.
//!
//! Owns which calls only a child reaches: those in the block of `fork`, or where its result is that of the child; and what
//! loads a script. Refuses to follow calls. Invariant: what may be reached by the process that forked is left in the text.

use crate::inline::javascript_scan::tokens;
use crate::inline::python::Nesting;
use crate::paths::{directory, join, name};

/// A source without the calls by which a forked child ends.
pub(crate) fn without_children(extension: &str, text: &str) -> String {
    match extension {
        "py" if text.contains("os.fork()") => python(text),
        "rb" if text.contains("fork") => ruby(text),
        _ => text.to_string(),
    }
}

/// Whether a source makes something else of `fork`.
pub(crate) fn replaces_fork(text: &str) -> bool {
    const WORDS: [&str; 9] = [
        "def fork",
        "def self.fork",
        ":fork",
        "\"fork\"",
        "'fork'",
        "os.fork =",
        "os.fork=",
        "class os",
        " as os\n",
    ];
    text.contains("fork") && WORDS.iter().any(|word| text.contains(word))
}

/// Whether a source of JavaScript loads a script, or may: what it loads is not written there.
pub(crate) fn loads(source: &str, text: &str, path: &str) -> bool {
    const LOADERS: [&str; 6] =
        ["require", "import", "requireActual", "importActual", "mock", "createRequire"];
    let tokens = tokens(text);
    let word =
        |number: usize| tokens.get(number).and_then(|token| text.get(token.clone())).unwrap_or_default();
    let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`');
    let leads_to = |quoted: &str| {
        let target = quoted.trim_matches(is_quote).trim_end_matches('/');
        let without = path.rsplit_once('.').map_or(path, |(before, _)| before);
        let names = [path, without, without.strip_suffix("/index").unwrap_or(without)];
        if quoted.contains("${") {
            true
        } else if target.starts_with('.') {
            join(directory(source), target).is_some_and(|target| names.contains(&target.as_str()))
        } else {
            // The name of a package, or one that settings lead elsewhere.
            names.iter().any(|known| name(known) == name(target))
        }
    };
    (0..tokens.len()).any(|number| {
        let (next, after) = (word(number + 1), word(number + 2));
        match word(number) {
            "from" | "import" if next.starts_with(is_quote) => leads_to(next),
            // `import.meta` and `require.resolve` load nothing.
            loader if LOADERS.contains(&loader) && next == "(" => {
                !after.starts_with(is_quote) || leads_to(after)
            }
            _ => false,
        }
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn squeezed(line: &str) -> String {
    line.split('#').next().unwrap_or_default().split_whitespace().collect()
}

fn python(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut state, mut result, mut names) = (Nesting::default(), String::new(), child_names(&lines));
    let (mut child, mut parent): (Option<usize>, Option<usize>) = (None, None);
    for (number, line) in lines.iter().enumerate() {
        let was_inside = state.is_inside();
        state.read(line);
        let code = squeezed(line);
        if was_inside || code.is_empty() {
            result.push_str(line);
            continue;
        }
        if is_function(&code) {
            names = child_names(lines.get(number..).unwrap_or_default());
        }
        let depth = indent(line);
        child = child.filter(|start| depth > *start);
        let is_else = code == "else:" && parent == Some(depth);
        parent = parent.filter(|start| depth > *start);
        if child.is_some() && code.starts_with("os._exit(") {
            result.push('\n');
            continue;
        }
        if child.is_none() && (is_else || is_of_child(&names, &code)) {
            child = Some(depth);
        } else if is_of_parent(&names, &code) {
            parent = Some(depth);
        }
        result.push_str(line);
    }
    result
}

fn is_function(code: &str) -> bool {
    code.starts_with("def") || code.starts_with("asyncdef")
}

/// Whether a condition holds in the child alone.
fn is_of_child(names: &[String], code: &str) -> bool {
    let is_of = |name: &String| {
        [format!("{name}==0:"), format!("0=={name}:"), format!("not{name}:")]
            .iter()
            .any(|condition| code == format!("if{condition}") || code == format!("elif{condition}"))
    };
    names.iter().any(is_of)
}

fn is_of_parent(names: &[String], code: &str) -> bool {
    names.iter().any(|name| ["", ">0", "!=0"].iter().any(|sign| code == format!("if{name}{sign}:")))
}

/// The variables that hold nothing but the result of `os.fork()` in the function that begins with the first line, and the call
/// itself.
fn child_names(lines: &[&str]) -> Vec<String> {
    let first = lines.iter().take(1);
    let others = lines.iter().skip(1).take_while(|line| !is_function(&squeezed(line)));
    let lines: Vec<String> = first.chain(others).map(|line| squeezed(line)).collect();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let is_other = |name: &str, line: &String| {
        let (targets, value) = line.split_once('=').unwrap_or_default();
        let is_target = targets.split([',', '(', ')', ':', '[', ']']).any(|target| target == name)
            && !value.starts_with('=');
        let is_known = value == "os.fork()" || value.starts_with("os.wait");
        let is_parameter =
            is_function(line) && line.split(['(', ')', ',', ':', '=']).any(|word| word == name);
        let words =
            [format!("for{name}in"), format!("{name}:="), format!("as{name}"), format!("global{name}")];
        let is_elsewhere = words.iter().any(|word| line.contains(word)) || line.starts_with("nonlocal");
        is_target && !is_known || is_parameter || is_elsewhere
    };
    let forked = lines.iter().filter_map(|line| line.strip_suffix("=os.fork()")).filter(is_name);
    let alone = forked.filter(|name| !lines.iter().any(|line| is_other(name, line)));
    alone.map(str::to_string).chain(["os.fork()".to_string()]).collect()
}

fn ruby(text: &str) -> String {
    let mut result = text.to_string();
    let starts: Vec<usize> = text.match_indices("fork").map(|(at, _)| at).collect();
    // From the end, so that what comes before keeps its place.
    for at in starts.into_iter().rev() {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let is_part =
            before.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\''));
        if let Some(length) =
            result.get(at..).filter(|_| !is_part).and_then(|rest| block_length(text, at, rest))
        {
            let block = result.get(at..at + length).unwrap_or_default().replace("exit!", "leave");
            result.replace_range(at..at + length, &block);
        }
    }
    result
}

/// The length of `fork { … }` or `fork do … end` at the beginning of a text.
fn block_length(text: &str, at: usize, rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix("fork")?;
    let opened = behind.trim_start_matches([' ', '\t']);
    let open = rest.len() - opened.len();
    if opened.starts_with('{') {
        let mut depth = 0_usize;
        for (place, letter) in opened.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(open + place + 1);
            }
        }
        return None;
    }
    opened.strip_prefix("do").filter(|after| after.starts_with(char::is_whitespace))?;
    // It ends with the `end` that stands as far to the right as the line it begins in.
    let line = text.get(..at)?.rsplit('\n').next()?;
    let depth = indent(&format!("{line}fork"));
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        let is_end = length > 0 && indent(line) <= depth && !line.trim().is_empty();
        length += line.len();
        if is_end {
            return line.trim_start().starts_with("end").then_some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(extension: &str, text: &str) -> bool {
        let text = without_children(extension, text);
        text.contains("_exit(0)") || text.contains("exit!")
    }

    #[test]
    fn a_forked_child_of_python_may_end() {
        let after =
            |lines: &str| format!("import os\ndef f():\n    pid = os.fork()\n{lines}    return pid\n");
        for (name, text, expected) in [
            ("the child", after("    if pid == 0:\n        os._exit(0)\n"), false),
            ("not", after("    if not pid:  # the child\n        run()\n        os._exit(0)\n"), false),
            (
                "nested",
                after(
                    "    if pid == 0:\n        try:\n            run()\n        finally:\n            os._exit(0)\n",
                ),
                false,
            ),
            ("else", after("    if pid:\n        wait(pid)\n    else:\n        os._exit(0)\n"), false),
            ("without a name", after("    if os.fork() == 0:\n        os._exit(0)\n"), false),
            ("the parent", after("    if pid:\n        os._exit(0)\n"), true),
            ("behind the child", after("    if pid == 0:\n        run()\n    os._exit(0)\n"), true),
            ("both", after("    if pid == 0:\n        run()\n    else:\n        os._exit(0)\n"), true),
            ("another value", after("    pid = 0\n    if pid == 0:\n        os._exit(0)\n"), true),
            (
                "a loop",
                after("    for pid in [0]:\n        pass\n    if pid == 0:\n        os._exit(0)\n"),
                true,
            ),
            ("another name", after("    if x == 0:\n        os._exit(0)\n"), true),
            ("in a text", after("    '''\n    if pid == 0:\n'''\n    if x:\n        os._exit(0)\n"), true),
            (
                "a parameter",
                "import os\npid = os.fork()\ndef f(pid):\n    if pid == 0:\n        os._exit(0)\n"
                    .to_string(),
                true,
            ),
            (
                "waited for",
                after("    if pid == 0:\n        os._exit(0)\n    pid, status = os.waitpid(pid, 0)\n"),
                false,
            ),
        ] {
            assert_eq!(ends("py", &text), expected, "{name}");
        }
    }

    #[test]
    fn a_forked_child_of_ruby_may_end() {
        for (name, text, expected) in [
            ("braces", "pid = fork { run({}); exit!(0) }\n", false),
            (
                "lines",
                "def f\n  pid = Process.fork do\n    if run\n      exit!(0)\n    end\n  end\n  wait\nend\n",
                false,
            ),
            ("behind the block", "fork { run }\nexit!(0)\n", true),
            ("behind the lines", "fork do\n  run\nend\nexit!(0)\n", true),
            ("another method", "prefork { exit!(0) }\n", true),
        ] {
            assert_eq!(ends("rb", text), expected, "{name}");
        }
    }

    #[test]
    fn what_is_named_need_not_be_loaded() {
        for (text, expected) in [
            ("spawnSync('node', ['bin/a.js']); require('child_process');", false),
            ("const cli = require.resolve('../bin/a.js');", false),
            ("const here = import.meta.url; const cli = 'bin/a.js';", false),
            ("require('../lib/a.js')", false),
            ("require('../bin/a.js')", true),
            ("require('@/bin/a')", true),
            ("import { run } from \"../bin/a\";", true),
            ("import '../bin/a.js';", true),
            ("await import('../bin/a.js')", true),
            ("require(path.join(here, 'bin', file))", true),
            ("jest.mock('../bin/a')", true),
        ] {
            assert_eq!(loads("test/a.test.js", text, "bin/a.js"), expected, "{text}");
        }
        assert!(loads("test/a.js", "require('../cli')", "cli/index.js"));
    }

    #[test]
    fn fork_may_be_replaced() {
        for (text, expected) in [
            ("def fork\n  yield\nend\n", true),
            ("os.fork = lambda: 0\n", true),
            ("setattr(os, 'fork', lambda: 0)\n", true),
            ("define_method(:fork) { yield }\n", true),
            ("pid = os.fork()\n", false),
            ("fork { run }\n", false),
        ] {
            assert_eq!(replaces_fork(text), expected, "{text}");
        }
    }
}
