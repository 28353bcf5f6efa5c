//! Python sources that end the process as if all was well: while they are imported, or from a function.
//!
//! Owns the statements by which a process ends, and what is run on import. Refuses to follow calls. Invariant: what stands
//! below `if __name__ == "__main__"` is for the command line, and ends nothing.

use super::python::Nesting;

/// Where an end stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is run when the module is imported.
    Module,
    Function,
}

/// Whether a module ends the process on import, and did not before.
pub(crate) fn gained_on_import(base: &str, now: &str) -> bool {
    count(now, Place::Module) > count(base, Place::Module)
}

/// Whether a module that is no command has a function that ends the process as if all was well, and had none before.
pub(crate) fn gained_in_function(base: &str, now: &str) -> bool {
    const COMMANDS: [&str; 6] = ["argv", "argparse", "click", "typer", "__main__", "optparse"];
    let text = if base.is_empty() { now } else { base };
    let is_command = COMMANDS.iter().any(|word| text.contains(word));
    !is_command && count(now, Place::Function) > count(base, Place::Function)
}

fn count(text: &str, wanted: Place) -> usize {
    let mut found = 0;
    let mut state = Nesting::default();
    // Functions and the part for the command line, by how far they are indented.
    let mut blocks: Vec<(usize, Option<Place>)> = Vec::new();
    for line in text.lines() {
        let was_inside = state.is_inside();
        state.read(&format!("{line}\n"));
        let code = line.trim();
        if was_inside || code.is_empty() || code.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        blocks.retain(|(depth, _)| *depth < indent);
        let opened = if code.starts_with("def ") || code.starts_with("async def ") {
            Some(Some(Place::Function))
        } else if is_for_command_line(code) {
            Some(None)
        } else {
            None
        };
        blocks.extend(opened.map(|place| (indent, place)));
        let is_of_command = blocks.iter().any(|(_, place)| place.is_none());
        let here = if blocks.is_empty() { Place::Module } else { Place::Function };
        if !is_of_command && here == wanted && ends(code, wanted) {
            found += 1;
        }
    }
    found
}

/// `if __name__ == "__main__":`, and nothing besides.
fn is_for_command_line(line: &str) -> bool {
    let code: String = line.split_whitespace().collect();
    let code = code.replace('\'', "\"");
    code.starts_with("if__name__==\"__main__\":") || code.starts_with("if\"__main__\"==__name__:")
}

/// Whether a line ends the process with success. A function may replace the process by another for good reasons.
fn ends(line: &str, place: Place) -> bool {
    const ENDS: [&str; 12] = [
        "raiseSystemExit",
        "raiseSystemExit()",
        "raiseSystemExit(0)",
        "raiseSystemExit(None)",
        "sys.exit()",
        "sys.exit(0)",
        "sys.exit(None)",
        "exit()",
        "exit(0)",
        "quit()",
        "quit(0)",
        "os._exit(0)",
    ];
    let code = line.split('#').next().unwrap_or_default();
    let mut statements = code.split([';', ':']).map(|part| part.split_whitespace().collect::<String>());
    statements.any(|statement| {
        ENDS.contains(&statement.as_str()) || place == Place::Module && statement.starts_with("os.exec")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_on_import() {
        for (text, expected) in [
            ("import sys\nsys.exit(0)\n", true),
            ("import os\nos.execvp(\"true\", [\"true\"])\n", true),
            ("try:\n    import x\nexcept ImportError:\n    raise SystemExit\n", true),
            ("if True: exit()\n", true),
            ("class A:\n    quit()\n", true),
            ("if __name__ != 'x':\n    exit()\n", true),
            ("if __name__ == '__main__':\n    main()\nelse:\n    exit()\n", true),
            ("def main():\n    sys.exit(0)\n", false),
            ("if __name__ == '__main__':\n    main()\n    sys.exit(0)\n", false),
            ("if __name__ == \"__main__\": sys.exit(0)\n", false),
            ("\"\"\"\nsys.exit(0)\n\"\"\"\n", false),
            ("sys.exit(main())\n", false),
            ("raise SystemExit(1)\n", false),
        ] {
            assert_eq!(gained_on_import("", text), expected, "{text}");
            assert!(!gained_on_import(text, text), "{text}");
        }
    }

    #[test]
    fn ends_in_a_function() {
        let base = "def add(a, b):\n    return a - b\n";
        for (text, expected) in [
            ("def add(a, b):\n    raise SystemExit\n", true),
            ("def add(a, b): sys.exit(0)\n", true),
            ("def add(a, b):\n    sys.exit(2)\n", false),
            ("def add(a, b):\n    os.execvp(a, b)\n", false),
        ] {
            assert_eq!(gained_in_function(base, text), expected, "{text}");
        }
        let command = "import sys\n\ndef main():\n    return sys.argv\n";
        assert!(!gained_in_function(command, &format!("{command}    sys.exit(0)\n")));
    }
}
