//! Checks use the slot's code, whatever is installed, set or written on the machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command as Process;

use fixpoint_vocabulary::work::CheckEnd;

use crate::checked::Checked;

/// A project whose committed code says `committed`, while the working tree says `working tree`.
fn project(layout: &str) -> Checked {
    let code = format!("{layout}/__init__.py");
    let checked = Checked::new(&[
        (&code, "WHERE = 'committed'\n"),
        ("pyproject.toml", "[project]\nname = 'my-dist'\nversion = '1'\n"),
        (".gitignore", ".venv\n*.so\n*.egg-info\nbuild\n"),
    ]);
    checked.write(&code, "WHERE = 'working tree'\n");
    checked
}

/// Says that a test cannot run here. Where everything was installed for the tests, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("NO_SKIPPED_TESTS").is_none(), "{why}");
    println!("SKIPPED: {why}");
}

/// A virtual environment in the working tree, on `PATH`; its `site-packages` directory. `None` without Python.
fn with_environment(checked: &mut Checked) -> Option<PathBuf> {
    let root = checked.user().join(".venv");
    let made = Process::new("python3").args(["-m", "venv", "--without-pip"]).arg(&root).output();
    if !made.is_ok_and(|made| made.status.success()) {
        skipped("python3 -m venv does not work here");
        return None;
    }
    checked.prepend_path(&root.join("bin"));
    checked.set("VIRTUAL_ENV", &root);
    let library = fs::read_dir(root.join("lib")).unwrap().next().unwrap().unwrap().path();
    Some(library.join("site-packages"))
}

/// What the finder of setuptools does, in short: the tables and the installation are as it writes them.
const FINDER: &str = "import sys
from importlib.util import spec_from_file_location
MAPPING: dict[str, str] = {'pkg': '@/lib/code'}
NAMESPACES: dict[str, list[str]] = {}
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, MAPPING[fullname] + '/__init__.py')
def install():
    sys.meta_path.append(_EditableFinder)
";
const ASK: &str = "python3 -c 'import pkg; print(pkg.WHERE)'";
const REDIRECTED: &str =
    "is installed in editable mode from your working tree; checks import it from the workspace instead";

#[test]
fn an_editable_install_by_path_comes_from_the_slot() {
    let mut checked = project("src/pkg");
    let Some(site) = with_environment(&mut checked) else { return };
    let user = checked.user();
    fs::write(site.join("_my_dist.pth"), format!("{}\n", user.join("src").display())).unwrap();
    let run = checked.baseline(&format!("cd /tmp && {ASK}"));
    assert_eq!(run.output.trim(), "committed", "{:?}", run.report);
    assert_eq!(run.notices, [format!("`my_dist` {REDIRECTED}")]);
    let metadata = user.join("src/my_dist.egg-info");
    fs::create_dir(&metadata).unwrap();
    fs::write(metadata.join("PKG-INFO"), "Metadata-Version: 2.1\nName: my-dist\nVersion: 7\n").unwrap();
    let version = "python3 -c 'from importlib.metadata import version; print(version(\"my-dist\"))'";
    assert_eq!(checked.prints(version), "7", "old installs keep their metadata in the working tree");
    let path = "python3 -c 'import sys; print([p for p in sys.path if p.endswith(\"user/src\")])'";
    assert_eq!(checked.prints(path), "[]", "nothing falls through to the working tree");
}

#[test]
fn an_editable_install_by_finder_comes_from_the_slot() {
    let mut checked = project("lib/code");
    let Some(site) = with_environment(&mut checked) else { return };
    let finder = FINDER.replace("@/", &format!("{}/", checked.user().display()));
    fs::write(site.join("__editable___my_dist_1_finder.py"), finder).unwrap();
    let line = "import __editable___my_dist_1_finder; __editable___my_dist_1_finder.install()";
    fs::write(site.join("__editable__.my_dist-1.pth"), line).unwrap();
    let run = checked.baseline(ASK);
    assert_eq!(run.output.trim(), "committed", "{:?}", run.report);
    assert_eq!(run.notices, [format!("`pkg` {REDIRECTED}")]);
}

#[test]
fn a_linked_package_comes_from_the_slot_and_a_sitecustomize_still_runs() {
    let mut checked = project("pkg");
    let Some(site) = with_environment(&mut checked) else { return };
    std::os::unix::fs::symlink(checked.user().join("pkg"), site.join("pkg")).unwrap();
    fs::write(site.join("sitecustomize.py"), "import builtins; builtins.CUSTOM = 'custom'\n").unwrap();
    // A Python of a Linux distribution may have one of its own, which comes first.
    let python = site.ancestors().nth(3).unwrap().join("bin/python3");
    let alone = std::process::Command::new(python).args(["-c", "CUSTOM"]).output().unwrap();
    let custom = if alone.status.success() { "CUSTOM" } else { "'custom'" };
    let ask = format!("cd /tmp && python3 -c \"import pkg; print(pkg.WHERE, {custom})\"");
    assert_eq!(checked.prints(&ask), "committed custom");
}

#[test]
fn what_cannot_be_redirected_makes_the_baseline_unusable() {
    let mut checked = project("src/pkg");
    let Some(site) = with_environment(&mut checked) else { return };
    fs::write(site.join("my_dist.pth"), format!("{}\n", checked.user().join("src").display())).unwrap();
    checked.write("src/pkg/fast.cpython-311-x86_64-linux-gnu.so", "");
    for run in [checked.baseline(ASK), checked.attempt(ASK)] {
        assert_eq!(run.report.end, CheckEnd::CouldNotRun);
        let why = run.report.reasons[0].as_str();
        for part in ["`my_dist`", "user/src", "compiled modules", "workspace.setup"] {
            assert!(why.contains(part), "{why}");
        }
    }
}

#[test]
fn a_command_that_sets_the_python_path_is_verified_with_it() {
    let mut checked = project("src/pkg");
    let Some(site) = with_environment(&mut checked) else { return };
    fs::write(site.join("my_dist.pth"), format!("{}\n", checked.user().join("src").display())).unwrap();
    let print = "python3 -c 'import pkg; print(pkg.WHERE)'";
    assert_eq!(checked.prints(&format!("PYTHONPATH=src {print}")), "committed");
    assert_eq!(checked.prints(&format!("PYTHONPATH=x:$PYTHONPATH {print}")), "committed");
    let run = checked.baseline(&format!("PYTHONPATH=x {print}"));
    assert_eq!(run.report.end, CheckEnd::CouldNotRun);
    assert!(run.report.reasons[0].as_str().contains(":$PYTHONPATH"), "{:?}", run.report.reasons);
}

#[test]
fn a_real_editable_install_comes_from_the_slot() {
    let mut checked = project("src/pkg");
    checked.write(
        "pyproject.toml",
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n\
         [project]\nname = 'my-dist'\nversion = '1'\n",
    );
    let root = checked.at("venv");
    let run = |program: PathBuf, arguments: &[&str]| {
        let output = Process::new(program).args(arguments).current_dir(checked.user()).output();
        output.is_ok_and(|output| output.status.success())
    };
    let is_made = run("python3".into(), &["-m", "venv", root.to_str().unwrap()])
        && run(root.join("bin/pip"), &["install", "-q", "--timeout", "15", "--retries", "2", "-e", "."]);
    if !is_made {
        skipped("no editable install without the network");
        return;
    }
    checked.prepend_path(&root.join("bin"));
    let run = checked.baseline(ASK);
    assert_eq!(run.output.trim(), "committed", "{:?}", run.report);
    assert_eq!(run.notices, [format!("`my_dist` {REDIRECTED}")]);
}

#[test]
fn variables_and_commands_that_name_the_working_tree_name_the_slot() {
    let mut checked = Checked::new(&[("file", "committed\n")]);
    checked.write("file", "working tree\n");
    let user = checked.user();
    checked.set("PYTHONPATH", format!("x:{}", user.join("lib").display()));
    checked.set("CARGO_TARGET_DIR", checked.at("shared"));
    let run = checked.baseline(&format!("cd {} && cat file", user.display()));
    assert_eq!(run.output.trim(), "committed");
    assert_eq!(run.notices.len(), 2, "{:?}", run.notices);
    assert!(run.notices[0].starts_with("CARGO_TARGET_DIR is set"), "{:?}", run.notices);
    assert!(run.notices[1].ends_with("names your working tree; the check uses the workspace instead"));
    let slot = checked.prints("pwd -P");
    let expected = format!("x:{slot}/lib {slot}/target C.UTF-8 1");
    let ask = "echo $PYTHONPATH $CARGO_TARGET_DIR $LC_ALL $PYTHONDONTWRITEBYTECODE";
    assert_eq!(checked.prints(ask), expected);
}

#[test]
fn files_that_lead_out_are_refused_at_the_base_and_held_against_an_attempt() {
    let checked = Checked::new(&[("go.mod", "module x\n")]);
    checked.write("go.mod", "module x\nreplace y => @/y\n");
    checked.commit();
    let base = checked.baseline("true").report;
    assert_eq!(base.end, CheckEnd::CouldNotRun);
    assert!(base.reasons[0].as_str().starts_with("go.mod, line 2, "), "{base:?}");
    let later = checked.attempt("true").report;
    assert_eq!((later.end, later.failures.len()), (CheckEnd::Failed, 1));
}

#[test]
fn temporary_files_are_private_and_deleted() {
    let mut checked = Checked::new(&[]);
    fs::create_dir(checked.at("tmp")).unwrap();
    checked.set("TMPDIR", checked.at("tmp"));
    let place = checked.prints("mktemp -d && echo $TMPDIR");
    let (made, directory) = place.split_once('\n').unwrap();
    assert!(made.starts_with(directory) && directory.contains("/tmp/fp-"), "{place}");
    assert_eq!(fs::read_dir(checked.at("tmp")).unwrap().count(), 0);
}

#[test]
fn a_pipe_fails_with_any_of_its_commands() {
    let mut checked = Checked::new(&[]);
    assert_eq!(checked.baseline("false | cat").report.end, CheckEnd::Failed);
    assert_eq!(checked.baseline("true | cat").report.end, CheckEnd::Passed);
    assert_eq!(checked.baseline("echo 'a | b' || false").report.end, CheckEnd::Passed);
    let only_dash = checked.at("bin");
    fs::create_dir(&only_dash).unwrap();
    for program in ["cat", "false", "git"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|directory| directory.join(program))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), only_dash.join(program)).unwrap();
    }
    checked.set("PATH", &only_dash);
    let run = checked.baseline("false | cat");
    assert_eq!(run.report.end, CheckEnd::Passed);
    assert!(run.notices[0].contains("`pipefail`"), "{:?}", run.notices);
}
