//! What a failing command says about a program or a module that is not installed.
//!
//! Pure: it reads the output alone. The last line that names something counts, since that is what ended the command.

/// Something that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    Program(String),
    /// A module or package of the language, as the program names it.
    Module(String),
}

/// The program or module that is missing, if the output names one.
pub fn missing(output: &str) -> Option<Missing> {
    output.lines().rev().find_map(|line| program_in(line.trim()).or_else(|| module_in(line.trim())))
}

fn program_in(line: &str) -> Option<Missing> {
    // `sh: 1: poetry: not found`, `./run.sh: line 1: poetry: command not found`, `/bin/sh: poetry: not found`
    let said =
        ["command not found", "not found"].iter().find_map(|end| line.strip_suffix(&format!(": {end}")));
    if let Some((script, rest)) = said.and_then(|said| said.split_once(": ")) {
        let shell = script.rsplit('/').next().unwrap_or_default();
        let is_shell = matches!(shell, "sh" | "bash" | "dash" | "zsh" | "ash");
        let (place, name) = rest.rsplit_once(": ").unwrap_or(("", rest));
        let number = place.trim_start_matches("line ");
        let is_line = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        return program(name).filter(|_| is_shell || is_line);
    }
    // `env: 'node': No such file or directory`, `env: node: No such file or directory`
    let no_file = line.strip_suffix(": No such file or directory")?;
    let named = no_file.strip_prefix("env: ").or_else(|| no_file.strip_prefix("/usr/bin/env: "));
    let failed = || no_file.split_once("error: command ").and_then(|(_, rest)| rest.strip_suffix(" failed"));
    program(named.or_else(failed)?)
}

fn program(name: &str) -> Option<Missing> {
    let name = name.trim().trim_matches(['\'', '"', '`', '\u{2018}', '\u{2019}']);
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| Missing::Program(name.to_string()))
}

fn module_in(line: &str) -> Option<Missing> {
    let beginnings = [
        "No module named ",
        "Cannot find module ",
        "Cannot find package ",
        "cannot load such file -- ",
        "Could not find gem ",
    ];
    let after = beginnings.iter().find_map(|beginning| line.split_once(beginning))?.1;
    let name = after.trim_start_matches(['\'', '"']);
    let end = name.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | ')' | ','));
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    (!name.is_empty()).then(|| Missing::Module(name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let program = |name: &str| Some(Missing::Program(name.to_string()));
        let module = |name: &str| Some(Missing::Module(name.to_string()));
        for (row, output, expected) in [
            ("dash", "sh: 1: poetry: not found", program("poetry")),
            ("bash", "/bin/bash: line 1: uv: command not found\n", program("uv")),
            ("a script", "./mvnw: 2: javac: not found", program("javac")),
            ("a script of bash", "./gradlew: line 12: java: command not found", program("java")),
            ("busybox", "sh: pnpm: not found", program("pnpm")),
            ("env", "/usr/bin/env: \u{2018}node\u{2019}: No such file or directory", program("node")),
            ("a compiler", "error: command 'gcc' failed: No such file or directory", program("gcc")),
            ("python", "/x/python: No module named pytest", module("pytest")),
            ("an import", "E   ModuleNotFoundError: No module named 'yaml'", module("yaml")),
            ("node", "Error: Cannot find module 'tape'\nRequire stack:\n- /x", module("tape")),
            ("ruby", "cannot load such file -- bundler (LoadError)", module("bundler")),
            ("the last one counts", "sh: 1: a: not found\nsh: 1: b: not found", program("b")),
            ("something else", "page: not found", None),
            ("nothing", "1 failed", None),
        ] {
            assert_eq!(missing(output), expected, "{row}");
        }
    }
}
