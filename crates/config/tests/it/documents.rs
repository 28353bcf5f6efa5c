//! The documents name only settings that exist, and their YAML examples load.

use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_config::{Sources, load, reference_keys, unavailable_keys};

/// The page that lists what is not available; it is generated.
const REFERENCE: &str = "configuration-reference.md";

fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<PathBuf> = ["README.md", "README.ja.md"].map(|name| root.join(name)).to_vec();
    for directory in ["docs", "docs/decisions"] {
        let entries = fs::read_dir(root.join(directory)).expect("the documents");
        paths.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect()
}

/// Texts in backquotes that look like keys: `section.key`.
fn named_keys(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|prose| prose.split('`').skip(1).step_by(2))
        .map(|code| code.split([':', '=', ' ']).next().unwrap_or(code))
}

#[test]
fn documents_name_only_keys_that_exist() {
    let keys: Vec<String> = reference_keys().into_iter().map(|key| key.path).collect();
    let sections: Vec<&str> = keys.iter().filter_map(|key| Some(key.split_once('.')?.0)).collect();
    let unavailable = unavailable_keys();
    for (path, text) in documents() {
        for named in named_keys(&text) {
            let Some((section, rest)) = named.split_once('.') else { continue };
            let is_key = rest
                .chars()
                .all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '.' | '<' | '>' | '[' | ']'));
            if !sections.contains(&section) || !is_key || rest.ends_with("md") || rest.ends_with("rs") {
                continue;
            }
            let exists = keys.iter().any(|key| key == named || key.starts_with(&format!("{named}.")));
            let is_listed = path.ends_with(REFERENCE) && unavailable.iter().any(|key| key.path == named);
            assert!(exists || is_listed, "{}: there is no setting `{named}`", path.display());
        }
    }
}

#[test]
fn yaml_examples_load() {
    let mut loaded = 0;
    for (path, text) in documents() {
        for block in text.split("\n```yaml\n").skip(1) {
            let example = block.split("\n```").next().unwrap_or_default();
            // Everything may be set in the user's own file.
            let directory = tempfile::tempdir().expect("a directory");
            fs::write(directory.path().join("config.yaml"), example).expect("written");
            let sources = Sources { user_dir: Some(directory.path().to_path_buf()), ..Sources::default() };
            if let Err(errors) = load(&sources) {
                panic!("{}:\n{example}\n{errors}", path.display());
            }
            loaded += 1;
        }
    }
    assert!(loaded > 5, "only {loaded} examples were found");
}
