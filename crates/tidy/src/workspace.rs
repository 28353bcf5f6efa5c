//! The workspace as the rules see it: crates with their dependencies, and source files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use serde_json::Value;

/// A member of the workspace.
#[derive(Debug, Clone)]
pub struct Crate {
    /// Its short name, the directory's.
    pub name: String,
    /// Members it depends on, tests excepted.
    pub internal: Vec<String>,
    /// Other crates it depends on, tests excepted.
    pub external: Vec<String>,
    /// Other crates only its tests depend on.
    pub for_tests: Vec<String>,
}

/// A source file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path from the root of the workspace.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
}

/// Everything the rules look at.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The members.
    pub crates: Vec<Crate>,
    /// Every Rust file of the members.
    pub sources: Vec<Source>,
    /// `ARCHITECTURE.md`.
    pub architecture: String,
}

impl Workspace {
    /// Reads the workspace this crate is part of.
    pub fn read() -> io::Result<Self> {
        // Asked when it runs: a build that several copies of the workspace share was compiled in one of them.
        let tidy = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into());
        let root = Path::new(&tidy).ancestors().nth(2).unwrap_or(Path::new("."));
        let mut files = Vec::new();
        collect_rust_files(&root.join("crates"), &mut files)?;
        let sources = files.into_iter().map(|path| {
            let text = fs::read_to_string(&path)?;
            let path = path.strip_prefix(root).map(Path::to_path_buf).unwrap_or(path);
            Ok(Source { path, text })
        });
        Ok(Self {
            crates: crates(root)?,
            sources: sources.collect::<io::Result<Vec<Source>>>()?,
            architecture: fs::read_to_string(root.join("ARCHITECTURE.md"))?,
        })
    }
}

fn collect_rust_files(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn crates(root: &Path) -> io::Result<Vec<Crate>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
    Ok(packages.filter_map(member).collect())
}

fn member(package: &Value) -> Option<Crate> {
    let short = |name: &str| name.strip_prefix("fixpoint-").unwrap_or(name).to_string();
    let mut member = Crate {
        name: short(package.get("name")?.as_str()?),
        internal: vec![],
        external: vec![],
        for_tests: vec![],
    };
    for dependency in package.get("dependencies")?.as_array()? {
        let name = dependency.get("name")?.as_str()?;
        let is_internal = dependency.get("path").is_some_and(Value::is_string);
        let list = match dependency.get("kind").and_then(Value::as_str) {
            Some("dev") if is_internal => continue,
            Some("dev") => &mut member.for_tests,
            _ if is_internal => &mut member.internal,
            _ => &mut member.external,
        };
        list.push(if is_internal { short(name) } else { name.to_string() });
    }
    Some(member)
}
