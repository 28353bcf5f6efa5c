//! Every setting is read by some code outside the crates that define and load it, or refused as not available yet.
//!
//! `readers.txt` names that code. This test checks that the list and the reference have the same keys, that the named
//! expression is in the named file, and that every value of a key with fixed values is told apart somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_config::{reference_keys, unavailable_keys};

/// The code that reads a key.
struct Reader {
    file: &'static str,
    expression: &'static str,
}

/// Keys with fixed values: the type of the value, and the file whose code tells the values apart. All values but one must
/// be named there; the last is what remains.
const CHOICES: [(&str, &str, &str); 17] = [
    ("agent.kind", "AgentKind", "cli/src/agent.rs"),
    ("baseline.newly_flaky", "NewlyFlaky", "decide/src/baseline.rs"),
    ("baseline.reuse", "BaselineReuse", "execute/src/baseline_cache.rs"),
    ("checks[].kind", "CheckKind", "cli/src/selected_checks.rs"),
    ("checks[].verdict", "CheckVerdict", "decide/src/verdict.rs"),
    ("convergence.on_stop", "OnStop", "decide/src/run/execution.rs"),
    ("fingerprint.values", "FingerprintValues", "execute/src/check_output.rs"),
    ("models.endpoints.<name>.protocol", "Protocol", "adapters/models/src/request.rs"),
    ("planning.decomposition_level", "DecompositionLevel", "prompts/src/render.rs"),
    ("planning.reflection.after", "ReflectAfter", "decide/src/reflection.rs"),
    ("planning.reflection.depth", "ReflectionDepth", "prompts/src/render.rs"),
    ("planning.strategy", "Strategy", "prompts/src/render.rs"),
    ("refinement.on_stagnation", "OnStagnation", "decide/src/refinement.rs"),
    ("sandbox.mode", "SandboxMode", "cli/src/sandbox.rs"),
    ("sandbox.network", "SandboxNetwork", "cli/src/sandbox.rs"),
    ("scope.on_violation", "OnViolation", "decide/src/task_run/evaluation.rs"),
    // A list of names; the tests of `project` compare it with the runners whose output can be read.
    ("checks[].runner", "Runner::from_name", "execute/src/run_checks.rs"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readers() -> BTreeMap<&'static str, Option<Reader>> {
    let lines = include_str!("readers.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut readers = BTreeMap::new();
    for line in lines {
        let mut columns = line.split("  ");
        let (Some(key), Some(file), Some(expression), None) =
            (columns.next(), columns.next(), columns.next(), columns.next())
        else {
            panic!("not three columns with two spaces between them: {line}")
        };
        let reader = (file != "-").then_some(Reader { file, expression });
        assert!(readers.insert(key, reader).is_none(), "{key} is listed twice");
    }
    readers
}

/// The code of a file: no comments, and nothing from its tests on.
fn code(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    Some(code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n"))
}

/// Whether code contains an expression as a whole word that is read, not assigned.
fn reads(code: &str, expression: &str) -> bool {
    code.match_indices(expression).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let after = code.get(at + expression.len()..).unwrap_or_default();
        let goes_on = expression.ends_with(is_word) && after.starts_with(is_word);
        let rest = after.trim_start();
        let is_assigned = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
        !goes_on && !is_assigned
    })
}

/// All source files that read a field of this name, as a hint for whoever moves code.
fn files_that_read(field: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![crates()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let is_ours = ["settings", "config", "simulate", "testkit", "tests", "benches", "target"]
                .iter()
                .any(|own| name == *own);
            if path.is_dir() && !is_ours {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && code(&path).is_some_and(|code| reads(&code, &format!(".{field}")))
            {
                let below = path.strip_prefix(crates()).unwrap_or(&path);
                found.push(below.display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_list_has_every_key_of_the_reference_and_no_other() {
    let listed: BTreeSet<String> = readers().into_keys().map(str::to_owned).collect();
    let keys: BTreeSet<String> = reference_keys().into_iter().map(|key| key.path).collect();
    let missing: Vec<_> = keys.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "no line in crates/config/tests/it/readers.txt for {missing:?}: name the code that reads it, or refuse the key as \
         not available yet (`x-unavailable-keys`)"
    );
    let unknown: Vec<_> = listed.difference(&keys).collect();
    assert!(
        unknown.is_empty(),
        "crates/config/tests/it/readers.txt lists keys that do not exist: {unknown:?}"
    );
    for unavailable in unavailable_keys().into_iter().filter(|unavailable| unavailable.value.is_none()) {
        assert!(!listed.contains(&unavailable.path), "{} is refused and cannot be read", unavailable.path);
    }
}

#[test]
fn every_key_is_read_where_the_list_says() {
    let wrong: Vec<String> =
        readers().iter().filter_map(|(key, reader)| problem(key, reader.as_ref()?)).collect();
    assert!(wrong.is_empty(), "correct crates/config/tests/it/readers.txt:\n{}", wrong.join("\n"));
}

/// What is wrong with a line of the list.
fn problem(key: &str, Reader { file, expression }: &Reader) -> Option<String> {
    if file.starts_with("config/") || file.starts_with("vocabulary/src/settings") {
        return Some(format!("{key}: {file} defines or loads settings; name the code that acts on them"));
    }
    let field = key.rsplit(['.', ']']).find(|name| !name.is_empty()).unwrap_or(key);
    if expression.rsplit('.').next() != Some(field) && !expression.ends_with('(') {
        return Some(format!("{key}: `{expression}` does not read `{field}`"));
    }
    let code = code(&crates().join(file)).unwrap_or_default();
    (!reads(&code, expression)).then(|| {
        let files = files_that_read(field);
        format!("{key}: `{expression}` is not in crates/{file}; `.{field}` is read in {files:?}")
    })
}

#[test]
fn every_value_of_a_key_with_fixed_values_is_told_apart() {
    for key in reference_keys().into_iter().filter(|key| !key.choices.is_empty()) {
        let Some((_, name, file)) = CHOICES.iter().find(|(path, ..)| *path == key.path) else {
            panic!("{} has fixed values; say in CHOICES which code tells them apart", key.path)
        };
        let code = code(&crates().join(file)).unwrap_or_default();
        if name.contains("::") {
            assert!(reads(&code, name), "{}: `{name}` is not in crates/{file}", key.path);
            continue;
        }
        let unnamed: Vec<&String> = key
            .choices
            .iter()
            .filter(|choice| !reads(&code, &format!("{name}::{}", pascal_case(choice))))
            .collect();
        assert!(unnamed.len() <= 1, "{}: crates/{file} names none of {unnamed:?}", key.path);
    }
}

fn pascal_case(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    name.split('_').map(capitalised).collect()
}
