//! Python imports the slot's code: editable installs from the user's working tree are redirected, and the interpreter is
//! asked whether that worked.
//!
//! Owns which interpreters a check may use, the redirection and its verification. The redirection is a `sitecustomize` in
//! front of `PYTHONPATH`: it runs after all `.pth` files, so entries change their place on the disk but not their order,
//! and nothing falls through to the working tree. Where an interpreter's answer still names the working tree, the check
//! does not run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fixpoint_ports::{Cancel, Program};
use serde::Deserialize;

use super::editable::{EditableInstall, EditableSource, editable_installs};
use super::programs::{find_program, python_of, variable};
use super::shell_words::ShellWords;
use super::start_up::{StartUp, changed, start_up};
use super::tree_files::Manifests;
use super::tree_paths::TreePaths;
use super::variables::{Variables, prepend_python_path};
use super::{TreeProblem, WAY_OUT};
use crate::ExecutionContext;
use crate::error::ExecuteError;

const REDIRECT: &str = include_str!("redirect.py");
const DESCRIBE: &str = include_str!("describe.py");
const LOCATE: &str = include_str!("locate.py");
/// What stands before an answer: `.pth` files may print, too.
const MARK: &str = "FIXPOINT ";
/// Modules that one interpreter is asked about.
const MOST_MODULES: usize = 500;
const TOOLS: [&str; 10] =
    ["pytest", "py.test", "tox", "nox", "coverage", "mypy", "uv", "poetry", "pdm", "hatch"];

/// A Python, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Interpreter {
    #[serde(default)]
    pub(crate) program: PathBuf,
    pub(crate) version: String,
    /// Its `site-packages` directories.
    pub(crate) sites: Vec<PathBuf>,
    /// What it loads from there whenever it starts, as it was when it was first asked: before an agent began.
    #[serde(skip)]
    start_up: StartUp,
}

/// Where a check runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckPlace<'a> {
    pub(crate) paths: &'a TreePaths,
    /// The directory it starts in.
    pub(crate) directory: &'a Path,
    pub(crate) command: &'a str,
    pub(crate) words: &'a ShellWords,
    /// A private directory that outlives the check.
    pub(crate) scratch: &'a Path,
    pub(crate) manifests: &'a Manifests,
}

impl CheckPlace<'_> {
    fn concerns_python(&self) -> bool {
        concerns_python(self.words, self.manifests)
    }
}

/// Whether a command or a project has anything to do with Python.
pub(crate) fn concerns_python(words: &ShellWords, manifests: &Manifests) -> bool {
    let is_of_python = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        name.starts_with("python") || name.ends_with(".py") || TOOLS.contains(&name)
    };
    words.texts().any(is_of_python) || manifests.has_python()
}

/// The interpreters that a command may use, and whether it is certain that nothing else decides.
pub(crate) struct Candidates {
    /// Those that words of the command lead to.
    pub(crate) named: BTreeSet<PathBuf>,
    /// Those that a script may use.
    pub(crate) others: BTreeSet<PathBuf>,
}

pub(crate) fn candidates(words: &ShellWords, variables: &Variables, directory: &Path) -> Candidates {
    let python = |word: &str| python_of(&find_program(word, variables, directory)?, variables);
    let named: BTreeSet<PathBuf> = words.texts().filter_map(python).collect();
    let on_path = ["python3", "python", "pytest"].into_iter().filter_map(python);
    let active = variable(variables, "VIRTUAL_ENV").map(|root| Path::new(root).join("bin/python"));
    let own = directory.ancestors().take(2).map(|above| above.join(".venv/bin/python"));
    let others = on_path.chain(active).chain(own).filter(|path| path.exists());
    let mut others: BTreeSet<PathBuf> = others.collect();
    others.retain(|path| !named.contains(path));
    Candidates { named, others }
}

impl ExecutionContext {
    /// Makes Python import from the slot. The variables change only where something is installed from the working tree.
    pub(crate) fn redirect_python(
        &self,
        place: CheckPlace<'_>,
        variables: &mut Variables,
        cancel: &Cancel,
    ) -> Result<(), ExecuteError> {
        if !place.concerns_python() {
            return Ok(());
        }
        let candidates = candidates(place.words, variables, place.directory);
        let mut installs: BTreeMap<PathBuf, Vec<EditableInstall>> = BTreeMap::new();
        for program in candidates.named.iter().chain(&candidates.others) {
            let Some(interpreter) = self.interpreter(program, variables, cancel)? else { continue };
            let start_up = start_up(&interpreter.sites);
            if let Some(path) = changed(&interpreter.start_up, &start_up, place.paths.slot()) {
                return Err(ExecuteError::WrongTree(TreeProblem::Files(format!(
                    "{} was written during the run, and every Python loads it when it starts: delete it",
                    path.display()
                ))));
            }
            let found = interpreter.sites.iter().flat_map(|site| editable_installs(site, place.paths));
            let found: Vec<EditableInstall> = found.collect();
            if !found.is_empty() {
                installs.insert(program.clone(), found);
            }
        }
        if installs.is_empty() {
            return Ok(());
        }
        let all: Vec<&EditableInstall> = installs.values().flatten().collect();
        let python = place.scratch.join("python");
        write_redirection(&python, &all, place.paths).map_err(ExecuteError::file(&python))?;
        prepend_python_path(variables, &python);
        let slot_has_own = place.paths.slot().join(".venv/bin/python").exists();
        for (program, found) in &installs {
            let problem = self.verify(program, found, place, variables, cancel)?;
            // A script may use another one: what nobody named decides only where nothing else is known.
            let decides =
                candidates.named.contains(program) || (candidates.named.is_empty() && !slot_has_own);
            if let Some(problem) = problem.filter(|_| decides) {
                return Err(ExecuteError::WrongTree(problem));
            }
        }
        let names: BTreeSet<&str> = all.iter().map(|install| install.name.as_str()).collect();
        for name in names {
            self.notice_once(
                format!(
                    "`{name}` is installed in editable mode from your working tree; checks import it from the workspace instead"
                ),
                format!(
                    "`{name}` は作業ツリーから編集可能モードでインストールされています。チェックではワークスペースからインポートします"
                ),
            );
        }
        Ok(())
    }

    /// What a Python says about itself, asked for once in a run.
    pub(crate) fn interpreter(
        &self,
        program: &Path,
        variables: &Variables,
        cancel: &Cancel,
    ) -> Result<Option<Interpreter>, ExecuteError> {
        self.known_interpreter(program, || {
            let question = Program::Direct {
                program: program.as_os_str().to_os_string(),
                arguments: vec!["-c".into(), DESCRIBE.into()],
            };
            let answer = self.ask(question, Path::new("/"), variables.clone(), cancel)?;
            let described: Option<Interpreter> = answer.as_deref().and_then(marked);
            Ok(described.map(|described| Interpreter {
                program: program.to_path_buf(),
                start_up: start_up(&described.sites),
                ..described
            }))
        })
    }

    /// Why an interpreter would import from the working tree after all.
    fn verify(
        &self,
        program: &Path,
        installs: &[EditableInstall],
        place: CheckPlace<'_>,
        variables: &Variables,
        cancel: &Cancel,
    ) -> Result<Option<TreeProblem>, ExecuteError> {
        for install in installs {
            if let Some(why) = install.obstacle(place.paths) {
                let (name, path) = (&install.name, install.path().display());
                return Ok(Some(TreeProblem::Machine(format!(
                    "`{name}` is installed in editable mode from your working tree ({path}), and checks cannot import it \
                     from the workspace: {why}. {WAY_OUT}"
                ))));
            }
        }
        let own_path = place.words.assignment(place.command, "PYTHONPATH");
        let sites =
            self.interpreter(program, variables, cancel)?.map(|found| found.sites).unwrap_or_default();
        let key = format!("{} {own_path:?} {}", place.directory.display(), path_files(&sites));
        self.known_verification((program.to_path_buf(), key), || {
            let modules: BTreeSet<String> =
                installs.iter().flat_map(|install| install.top_level(place.paths)).collect();
            let modules: Vec<String> = modules.into_iter().take(MOST_MODULES).collect();
            let directory = start_directory(place);
            let answer =
                self.ask(locate(program, &modules, own_path), &directory, variables.clone(), cancel)?;
            let found: Option<BTreeMap<String, Vec<PathBuf>>> = answer.as_deref().and_then(marked);
            let of_tree = |path: &&PathBuf| {
                place.paths.inside(path).is_some_and(|below| !place.paths.is_installed(&below))
            };
            let found = found.unwrap_or_default();
            let wrong = found.iter().find_map(|(name, files)| Some((name, files.iter().find(of_tree)?)));
            if wrong.is_none() {
                return Ok(self.replaced(program, &found, place));
            }
            Ok(wrong.map(|(name, path)| {
                let advice = match own_path {
                    Some(_) => "The command sets PYTHONPATH: let it end in `:$PYTHONPATH`.",
                    None => WAY_OUT,
                };
                TreeProblem::Machine(format!(
                    "{} imports `{name}` from your working tree ({}) instead of the workspace. {advice}",
                    program.display(),
                    path.display()
                ))
            }))
        })
    }

    /// What an interpreter imported from a workspace, and now imports from elsewhere: something was installed meanwhile.
    fn replaced(
        &self,
        program: &Path,
        found: &BTreeMap<String, Vec<PathBuf>>,
        place: CheckPlace<'_>,
    ) -> Option<TreeProblem> {
        let slot = place.paths.slot().canonicalize().unwrap_or_else(|_| place.paths.slot().to_path_buf());
        let is_of_slot = |path: &PathBuf| path.starts_with(&slot) || path.starts_with(place.paths.slot());
        let own = found.iter().filter(|(_, files)| files.iter().any(is_of_slot));
        let known = self.imported_from_slot(program, own.map(|(name, _)| name.clone()).collect());
        let mut elsewhere = found.iter().filter(|(_, files)| !files.iter().any(is_of_slot));
        let (name, files) = elsewhere.find(|(name, _)| known.contains(*name))?;
        Some(TreeProblem::Files(format!(
            "{} imports `{name}` from {} and no longer from the workspace: it was installed during the run",
            program.display(),
            files.first()?.display()
        )))
    }
}

/// The `.pth` files of package directories, with what changes when one is added or edited.
fn path_files(sites: &[PathBuf]) -> String {
    let entries = sites.iter().flat_map(|site| fs::read_dir(site).into_iter().flatten().flatten());
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "pth"));
    let described = files.map(|entry| {
        let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
        format!("{} {changed:?}", entry.path().display())
    });
    let described: BTreeSet<String> = described.collect();
    described.into_iter().collect::<Vec<_>>().join("\n")
}

/// The question where modules come from, with the `PYTHONPATH` that the command itself sets.
fn locate(program: &Path, modules: &[String], own_path: Option<&str>) -> Program {
    let arguments = ["-c", LOCATE].into_iter().chain(modules.iter().map(String::as_str));
    match own_path {
        None => Program::Direct {
            program: program.as_os_str().to_os_string(),
            arguments: arguments.map(Into::into).collect(),
        },
        Some(own_path) => {
            let program = program.to_string_lossy();
            let words = std::iter::once(&*program).chain(arguments).map(quoted);
            let line: Vec<String> = words.collect();
            Program::Shell(format!("PYTHONPATH={own_path} exec {}", line.join(" ")))
        }
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Where the command is when it runs Python, as far as one can see.
fn start_directory(place: CheckPlace<'_>) -> PathBuf {
    let inner = place.words.first_directory().map(|inner| place.directory.join(inner));
    inner.filter(|inner| inner.is_dir()).unwrap_or_else(|| place.directory.to_path_buf())
}

fn marked<T: for<'de> Deserialize<'de>>(answer: &str) -> Option<T> {
    let line = answer.lines().find_map(|line| line.strip_prefix(MARK))?;
    serde_json::from_str(line).ok()
}

/// Writes the directory that goes in front of `PYTHONPATH`.
fn write_redirection(directory: &Path, installs: &[&EditableInstall], paths: &TreePaths) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut moved = Vec::new();
    for install in installs {
        let path = install.path();
        let Some(in_slot) = install.in_slot(paths) else { continue };
        for part in [path, &in_slot] {
            moved.extend_from_slice(part.as_os_str().as_bytes());
            moved.push(b'\n');
        }
        if let EditableSource::Link { name, .. } = &install.source {
            link(&directory.join("links"), name, &in_slot)?;
        }
        if let EditableSource::Directory(path) = &install.source {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(".egg-info") && !in_slot.join(&name).exists() {
                    link(&directory.join("metadata"), &name, &entry.path())?;
                }
            }
        }
    }
    fs::write(directory.join("moved"), moved)?;
    fs::write(directory.join("sitecustomize.py"), REDIRECT)
}

fn link(directory: &Path, name: &str, target: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    match std::os::unix::fs::symlink(target, directory.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
