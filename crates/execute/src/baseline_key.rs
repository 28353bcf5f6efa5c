//! The environment of a check, as part of the key of its baseline: the programs it runs, their versions, and the packages
//! that are installed for them.
//!
//! Owns where each ecosystem records its packages. Refuses to read packages: a record has a name and a time, and a new
//! one changes both. Whatever is looked at too much costs a run of the check, whatever is missed a wrong answer; so
//! package directories of all toolchains on `PATH` count.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fixpoint_ports::Cancel;

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::right_tree::{
    Manifests, candidates, concerns_python, find_program, path_directories, shell_words, variable,
};

/// Records that are looked at; more than any machine has.
const MOST_RECORDS: usize = 50_000;
/// Records below the directory that a `bin` directory of `PATH` is in.
const OF_PREFIX: [&str; 5] = [
    "lib/python3*/site-packages",
    "lib/python3*/dist-packages",
    "lib64/python3*/site-packages",
    "lib/ruby/gems/*/specifications",
    "lib/node_modules",
];
/// Records of one version of a language.
const OF_VERSION: [&str; 3] = [
    "installs/*/*/lib/python3*/site-packages",
    "installs/*/*/lib/ruby/gems/*/specifications",
    "installs/*/*/lib/node_modules",
];
/// Records of packages that belong to no directory of `PATH`.
const SYSTEM: [&str; 5] = [
    "/usr/lib/python3/dist-packages",
    "/var/lib/gems/*/specifications",
    "/usr/share/rubygems-integration/*/specifications",
    "/usr/local/lib/node_modules",
    "/usr/lib/*/ruby/gems/*/specifications",
];
/// Records below the home directory.
const OF_USER: [&str; 4] = [
    ".local/lib/python3*/site-packages",
    ".gem/ruby/*/specifications",
    ".local/share/gem/ruby/*/specifications",
    ".npm-global/lib/node_modules",
];
/// Tools that install versions of languages: their variable, their usual place at home, and where packages are.
const VERSIONS: [(&str, &str, &[&str]); 6] = [
    ("PYENV_ROOT", ".pyenv", &["versions/*/lib/python3*/site-packages"]),
    ("RBENV_ROOT", ".rbenv", &["versions/*/lib/ruby/gems/*/specifications"]),
    ("ASDF_DATA_DIR", ".asdf", &OF_VERSION),
    ("MISE_DATA_DIR", ".local/share/mise", &OF_VERSION),
    ("VOLTA_HOME", ".volta", &["tools/image/packages"]),
    ("PNPM_HOME", ".local/share/pnpm", &["global/*/node_modules"]),
];
/// Programs behind shims or proxies, which stay the same when the version changes: by a word of the command or a file of
/// the project, what is asked.
const ASKED: [(&[&str], &str, &[&str]); 4] = [
    (&["node", "npm", "npx", "pnpm", "yarn"], "package.json", &["node", "--version"]),
    (&["cargo", "rustc"], "Cargo.toml", &["rustc", "-vV"]),
    (&["go"], "go.mod", &["go", "version"]),
    (&["ruby", "bundle", "rake", "rspec", "gem"], "Gemfile", &["ruby", "--version"]),
];

impl ExecutionContext {
    /// A hash of everything that a command may find on this machine.
    pub(crate) fn environment_key(
        &self,
        command: &str,
        cancel: &Cancel,
    ) -> Result<blake3::Hash, ExecuteError> {
        let environment = &self.check_environment;
        let words = shell_words(command);
        let repository = Path::new(&self.spec.repository);
        let outside = Path::new("/");
        let mut parts: Vec<String> = Vec::new();
        for word in words.texts() {
            // What a relative path names is part of the tree.
            let is_relative = word.contains('/') && !word.starts_with('/');
            let program = find_program(word, environment, outside).filter(|_| !is_relative);
            parts.extend(program.map(|program| identity(&program)));
        }
        for (called, manifest, question) in ASKED {
            let is_called = words.texts().any(|word| called.contains(&word));
            let Some(program) = question.first() else { continue };
            let is_there = find_program(program, environment, outside).is_some();
            if is_there && (is_called || repository.join(manifest).is_file()) {
                parts.push(self.known_answer(question, cancel)?.unwrap_or_default());
            }
        }
        let mut directories = package_directories(environment);
        if concerns_python(&words, &Manifests::of(repository)) {
            let candidates = candidates(&words, environment, repository);
            for program in candidates.named.iter().chain(&candidates.others) {
                parts.push(identity(program));
                if let Some(interpreter) = self.interpreter(program, environment, cancel)? {
                    parts.push(interpreter.version);
                    directories.extend(interpreter.sites);
                }
            }
        }
        directories.sort();
        directories.dedup();
        parts.extend(records(&directories));
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        Ok(hasher.finalize())
    }
}

/// A file with what changes when it is replaced.
fn identity(file: &Path) -> String {
    let canonical = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let size = fs::metadata(&canonical).map(|found| found.len()).unwrap_or_default();
    format!("{} {} {size} {}", file.display(), canonical.display(), changed(&canonical))
}

/// When a file was changed, in nanoseconds.
fn changed(path: &Path) -> u128 {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default().as_nanos()
}

/// The directories in which packages are recorded.
fn package_directories(environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut roots: Vec<PathBuf> = path_directories(environment, Path::new("/"));
    // A link such as `/usr/local/bin/node` leads to the toolchain's own directory.
    let of_node = find_program("node", environment, Path::new("/")).and_then(|node| node.canonicalize().ok());
    roots.extend(of_node.and_then(|node| node.parent().map(Path::to_path_buf)));
    for prefix in roots.iter().filter_map(|bin| bin.parent()) {
        for pattern in OF_PREFIX {
            expand(prefix, pattern, &mut found);
        }
    }
    for pattern in SYSTEM {
        expand(Path::new("/"), pattern.trim_start_matches('/'), &mut found);
    }
    let home = variable(environment, "HOME").map(PathBuf::from);
    for pattern in home.iter().flat_map(|_| OF_USER) {
        expand(home.as_deref().unwrap_or(Path::new("/")), pattern, &mut found);
    }
    for (name, usual, patterns) in VERSIONS {
        let named = variable(environment, name).map(PathBuf::from);
        let Some(root) = named.or_else(|| Some(home.as_ref()?.join(usual))) else { continue };
        for pattern in patterns {
            expand(&root, pattern, &mut found);
        }
    }
    for gems in ["GEM_HOME", "GEM_PATH"].into_iter().filter_map(|name| variable(environment, name)) {
        found.extend(std::env::split_paths(gems).map(|root| root.join("specifications")));
    }
    let modules = std::env::split_paths(variable(environment, "NODE_PATH").unwrap_or_default());
    found.extend(modules.filter(|path| path.is_absolute()));
    if let Some(active) = variable(environment, "VIRTUAL_ENV") {
        expand(Path::new(active), "lib/python3*/site-packages", &mut found);
    }
    found
}

/// The directories below a root that a pattern stands for. A star is at the end of a part and stands for any rest.
fn expand(root: &Path, pattern: &str, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) =
        pattern.split_once('/').or(Some((pattern, ""))).filter(|(part, _)| !part.is_empty())
    else {
        found.extend(root.is_dir().then(|| root.to_path_buf()));
        return;
    };
    let Some(beginning) = part.strip_suffix('*') else {
        return expand(&root.join(part), rest, found);
    };
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(beginning.as_bytes()) {
            expand(&entry.path(), rest, found);
        }
    }
}

/// The packages recorded in these directories: names, and times where a package could change under its name.
fn records(directories: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    for directory in directories {
        let mut entries: Vec<PathBuf> = children(directory);
        let is_scope = |path: &&PathBuf| name_of(path).starts_with('@');
        let scoped: Vec<PathBuf> =
            entries.iter().filter(is_scope).flat_map(|scope| children(scope)).collect();
        entries.extend(scoped);
        entries.retain(|path| name_of(path) != "__pycache__");
        entries.sort();
        let room = MOST_RECORDS.saturating_sub(found.len());
        for path in entries.into_iter().take(room) {
            let manifest = path.join("package.json");
            let time = if manifest.is_file() { changed(&manifest) } else { changed(&path) };
            found.push(format!("{} {time}", path.display()));
        }
    }
    found
}

fn children(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installing_a_package_changes_the_records() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        let at = |path: &str| root.path().join(path).into_os_string();
        let environment = vec![
            ("PATH".into(), at("prefix/bin")),
            ("HOME".into(), at("home")),
            ("VIRTUAL_ENV".into(), at("venv")),
            ("GEM_HOME".into(), at("gems")),
            ("PYENV_ROOT".into(), at("pyenv")),
        ];
        let key = || records(&package_directories(&environment));
        let installed = [
            "prefix/lib/python3.11/site-packages/x-1.0.dist-info/METADATA",
            "prefix/lib/node_modules/x/package.json",
            "prefix/lib/node_modules/@s/y/package.json",
            "prefix/lib/ruby/gems/3.1.0/specifications/x-1.0.gemspec",
            "home/.local/lib/python3.11/site-packages/x.pth",
            "home/.local/share/gem/ruby/3.1.0/specifications/x-1.0.gemspec",
            "venv/lib/python3.12/site-packages/x-1.0.egg-info/PKG-INFO",
            "gems/specifications/x-1.0.gemspec",
            "pyenv/versions/3.11.7/lib/python3.11/site-packages/x-1.0.dist-info/METADATA",
        ];
        for file in installed {
            let before = key();
            assert_eq!(key(), before, "{file}");
            write(file);
            assert_ne!(key(), before, "{file}");
        }
        let before = key();
        write("prefix/lib/python3.11/site-packages/__pycache__/six.pyc");
        assert_eq!(key(), before, "byte code is no package");
    }

    #[test]
    fn a_program_that_is_replaced_is_another() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("tool");
        fs::write(&file, "1").unwrap();
        let before = identity(&file);
        assert_eq!(identity(&file), before);
        fs::write(&file, "22").unwrap();
        assert_ne!(identity(&file), before);
    }
}
