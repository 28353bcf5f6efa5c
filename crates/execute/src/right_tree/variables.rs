//! The environment of checks and set-up commands in a slot: variables that name the user's working tree name the slot
//! instead, and what differs between machines is fixed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::tree_paths::TreePaths;

pub(crate) type Variables = Vec<(OsString, OsString)>;

/// Lists of paths in which programs look for code.
const PATH_LISTS: [&str; 4] = ["PATH", "PYTHONPATH", "NODE_PATH", "PKG_CONFIG_PATH"];
/// One path each.
const PATHS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Where build output goes, and the usual directory for it. Elsewhere, the working tree and all workspaces would share it.
const BUILD_OUTPUT: [(&str, &str); 5] = [
    ("CARGO_TARGET_DIR", "target"),
    ("CARGO_BUILD_TARGET_DIR", "target"),
    ("CARGO_BUILD_BUILD_DIR", "target"),
    ("MIX_BUILD_ROOT", "_build"),
    ("MIX_BUILD_PATH", "_build/check"),
];
/// Variables that choose the language of messages.
const LANGUAGE: [&str; 3] = ["LC_ALL", "LANG", "LANGUAGE"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SlotVariables {
    pub(crate) variables: Variables,
    /// Variables for build output that were set to a place outside of the slot.
    pub(crate) moved_output: Vec<&'static str>,
}

/// The variables with which commands run in a slot. `named` are those the user asked to be passed on.
pub(crate) fn in_slot(
    variables: &[(OsString, OsString)],
    paths: &TreePaths,
    named: &[String],
) -> SlotVariables {
    let mut moved_output = Vec::new();
    let mut moved: Variables = Vec::with_capacity(variables.len() + 2);
    for (name, value) in variables {
        let is = |known: &&str| name == *known;
        let value = if PATH_LISTS.iter().any(is) {
            paths.list_in_slot(value)
        } else if PATHS.iter().any(is) {
            paths.in_slot(Path::new(value)).map_or_else(|| value.clone(), Into::into)
        } else if let Some((output, usual)) = BUILD_OUTPUT.iter().find(|(known, _)| name == *known) {
            if Path::new(value).is_relative() {
                value.clone()
            } else {
                moved_output.push(*output);
                paths.slot().join(usual).into_os_string()
            }
        } else {
            value.clone()
        };
        moved.push((name.clone(), value));
    }
    if !LANGUAGE.iter().any(|name| is_named(name, named)) {
        // One that is set before a message is translated would win over the locale.
        moved.retain(|(name, _)| name != "LC_ALL" && name != "LANGUAGE");
        moved.push(("LC_ALL".into(), "C.UTF-8".into()));
    }
    if !moved.iter().any(|(name, _)| name == "PYTHONDONTWRITEBYTECODE") {
        moved.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    }
    SlotVariables { variables: moved, moved_output }
}

/// Whether the user asked for a variable, by its name or by a beginning with a star.
fn is_named(variable: &str, named: &[String]) -> bool {
    named.iter().any(|name| match name.strip_suffix('*') {
        Some(beginning) => !beginning.is_empty() && variable.starts_with(beginning),
        None => name == variable,
    })
}

/// Sets a variable, whatever it was.
pub(crate) fn set(variables: &mut Variables, name: &str, value: impl AsRef<OsStr>) {
    variables.retain(|(known, _)| known != name);
    variables.push((name.into(), value.as_ref().to_os_string()));
}

/// Puts a directory before the others of `PYTHONPATH`.
pub(crate) fn prepend_python_path(variables: &mut Variables, directory: &Path) {
    let before = super::programs::variable(variables, "PYTHONPATH").map(OsStr::to_os_string);
    let mut list = directory.as_os_str().to_os_string();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(":");
        list.push(before);
    }
    set(variables, "PYTHONPATH", list);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], named: &[&str]) -> (Vec<String>, Vec<&'static str>) {
        let variables: Variables =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let paths = TreePaths::new(Path::new("/home/me/r"), Path::new("/slots/1"));
        let SlotVariables { variables, moved_output } = in_slot(&variables, &paths, &named);
        let text = |(name, value): (OsString, OsString)| {
            format!("{}={}", name.to_str().unwrap(), value.to_str().unwrap())
        };
        (variables.into_iter().map(text).collect(), moved_output)
    }

    #[test]
    fn variables_name_the_slot() {
        let fixed = ["LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"];
        let table: [(&str, &str, &str); 8] = [
            ("PYTHONPATH", "src:/home/me/r/lib:/x", "src:/slots/1/lib:/x"),
            ("NODE_PATH", "/home/me/r/node_modules", "/home/me/r/node_modules"),
            ("PATH", "/home/me/r/bin:/bin", "/slots/1/bin:/bin"),
            ("VIRTUAL_ENV", "/home/me/env", "/home/me/env"),
            ("CARGO_TARGET_DIR", "out", "out"),
            ("CARGO_TARGET_DIR", "/var/target", "/slots/1/target"),
            ("GOCACHE", "/home/me/r/.cache", "/home/me/r/.cache"),
            ("LANG", "ja_JP.UTF-8", "ja_JP.UTF-8"),
        ];
        for (name, value, expected) in table {
            let (found, moved) = of(&[(name, value)], &[]);
            assert_eq!(found, [&format!("{name}={expected}"), fixed[0], fixed[1]]);
            let is_moved = name == "CARGO_TARGET_DIR" && value.starts_with('/');
            assert_eq!(moved, if is_moved { vec!["CARGO_TARGET_DIR"] } else { vec![] }, "{value}");
        }
    }

    #[test]
    fn the_locale_is_fixed_unless_the_user_names_it() {
        let mine = [("LC_ALL", "ja_JP.UTF-8"), ("LANGUAGE", "ja"), ("PYTHONDONTWRITEBYTECODE", "")];
        assert_eq!(of(&mine, &[]).0, ["PYTHONDONTWRITEBYTECODE=", "LC_ALL=C.UTF-8"]);
        for named in ["LC_ALL", "LANG", "LC_*"] {
            let kept = ["LC_ALL=ja_JP.UTF-8", "LANGUAGE=ja", "PYTHONDONTWRITEBYTECODE="];
            assert_eq!(of(&mine, &[named]).0, kept, "{named}");
        }
    }

    #[test]
    fn the_python_path_grows_at_its_front() {
        let mut variables = vec![("PYTHONPATH".into(), "a".into())];
        prepend_python_path(&mut variables, Path::new("/p"));
        assert_eq!(variables, [("PYTHONPATH".into(), "/p:a".into())]);
        let mut variables = Vec::new();
        prepend_python_path(&mut variables, Path::new("/p"));
        assert_eq!(variables, [("PYTHONPATH".into(), "/p".into())]);
    }
}
