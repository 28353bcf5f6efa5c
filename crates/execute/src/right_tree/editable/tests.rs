//! The traces of editable installs, as the build tools write them.

use super::*;

struct Site {
    root: tempfile::TempDir,
}

impl Site {
    /// A working tree `r`, a slot `s` and a `site-packages` directory.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let site = Self { root };
        site.write("r/src/pkg/__init__.py", "");
        site.write("r/src/single.py", "");
        site.write("s/src/pkg/__init__.py", "");
        site.write("s/src/single.py", "");
        site.write("s/src/setup.py", "");
        site
    }

    /// Writes a file; `@` is the directory of everything.
    fn write(&self, path: &str, content: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace('@', &self.root.path().display().to_string())).unwrap();
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn paths(&self) -> TreePaths {
        TreePaths::new(&self.at("r"), &self.at("s"))
    }

    fn installs(&self) -> Vec<EditableInstall> {
        editable_installs(&self.at("site"), &self.paths())
    }

    fn found(&self) -> Vec<(String, EditableSource)> {
        self.installs().into_iter().map(|install| (install.name, install.source)).collect()
    }
}

/// As setuptools 75 writes it.
const FINDER: &str = "from __future__ import annotations
import sys
from importlib.machinery import ModuleSpec, PathFinder

MAPPING: dict[str, str] = {'pkg': '@/r/src/pkg', 'other': '@/elsewhere/other'}
NAMESPACES: dict[str, list[str]] = {'ns': ['@/r/src/ns'], 'ns.inner': ['@/r/src/ns/inner']}
PATH_PLACEHOLDER = '__editable__.dist_name-1.0.finder' + \".__path_hook__\"
";

#[test]
fn lines_of_path_files_are_directories() {
    for (file, name) in [
        ("__editable__.dist_name-1.0.pth", "dist_name"), // setuptools
        ("_dist_name.pth", "dist_name"),                 // hatchling
        ("dist_name.pth", "dist_name"),                  // poetry-core, flit, uv
        ("easy-install.pth", "src"),                     // setup.py develop
    ] {
        let site = Site::new();
        site.write(&format!("site/{file}"), "@/r/src\n");
        let expected = (name.to_string(), EditableSource::Directory(site.at("r/src")));
        assert_eq!(site.found(), [expected], "{file}");
    }
}

#[test]
fn the_name_is_that_of_the_distribution() {
    let site = Site::new();
    site.write("site/easy-install.pth", "# comment\n/usr/lib/x\n@/r/src\n");
    site.write(
        "site/My_Dist-1.0.dist-info/direct_url.json",
        "{\"dir_info\": {\"editable\": true}, \"url\": \"file://@/r\"}",
    );
    assert_eq!(site.found(), [("My_Dist".to_string(), EditableSource::Directory(site.at("r/src")))]);
}

#[test]
fn finders_map_modules() {
    let site = Site::new();
    let line = "import __editable___dist_name_1_0_finder; __editable___dist_name_1_0_finder.install()";
    site.write("site/__editable__.dist_name-1.0.pth", line);
    site.write("site/__editable___dist_name_1_0_finder.py", FINDER);
    let module = |name: &str, path: &str| {
        (name.to_string(), EditableSource::Module { name: name.to_string(), path: site.at(path) })
    };
    let expected =
        [module("ns", "r/src/ns"), module("ns.inner", "r/src/ns/inner"), module("pkg", "r/src/pkg")];
    assert_eq!(site.found(), expected);

    let site = Site::new();
    site.write("site/_editable_impl_dist.pth", "import _editable_impl_dist");
    let redirector = "from editables.redirector import RedirectingFinder as F\nF.install()\n\
                      F.map_module('pkg', '@/r/src/pkg/__init__.py')\n";
    site.write("site/_editable_impl_dist.py", redirector);
    let path = site.at("r/src/pkg/__init__.py");
    assert_eq!(site.found(), [("pkg".to_string(), EditableSource::Module { name: "pkg".to_string(), path })]);
}

#[test]
fn links_are_found() {
    let site = Site::new();
    site.write("site/plain/__init__.py", "");
    std::os::unix::fs::symlink(site.at("r/src/pkg"), site.at("site/pkg")).unwrap();
    let link = EditableSource::Link { name: "pkg".to_string(), path: site.at("r/src/pkg") };
    assert_eq!(site.found(), [("pkg".to_string(), link)]);
    assert_eq!(site.installs()[0].top_level(&site.paths()), ["pkg"]);
}

#[test]
fn what_cannot_be_redirected_says_why() {
    let site = Site::new();
    site.write("site/_pkg_editable.pth", "import _pkg_editable\n");
    site.write("site/_pkg_editable.py", "def install(): pass\ninstall('pkg', {'pkg': '@/r/build/cp311'})\n");
    assert_eq!(site.installs()[0].obstacle(&site.paths()), Some(HOOK));

    let site = Site::new();
    site.write("r/build/__editable__.dist-1.0-py3-none-any/pkg/__init__.py", "");
    site.write("site/__editable__.dist-1.0.pth", "@/r/build/__editable__.dist-1.0-py3-none-any\n");
    assert_eq!(site.installs()[0].obstacle(&site.paths()), Some(LINK_TREE));

    let site = Site::new();
    site.write("site/dist.pth", "@/r/src\n");
    assert_eq!(site.installs()[0].obstacle(&site.paths()), None);
    site.write("r/src/pkg/inner/fast.cpython-311-x86_64-linux-gnu.so", "");
    assert_eq!(site.installs()[0].obstacle(&site.paths()), Some(COMPILED));
    site.write("s/src/pkg/inner/fast.cpython-311-x86_64-linux-gnu.so", "");
    assert_eq!(site.installs()[0].obstacle(&site.paths()), None, "set-up built it");
}

#[test]
fn other_installs_and_installed_packages_do_not_matter() {
    let site = Site::new();
    site.write("site/dist.pth", "@/elsewhere/src\nrelative\n\n@/s/src\n@/r/.venv/lib/site-packages/x\n");
    site.write("site/distutils-precedence.pth", "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; x = 'local'");
    site.write("r/.venv/pyvenv.cfg", "");
    assert_eq!(site.found(), []);
}

#[test]
fn a_directory_makes_its_packages_and_modules_importable() {
    let site = Site::new();
    site.write("site/dist.pth", "@/r/src\n");
    assert_eq!(site.installs()[0].top_level(&site.paths()), ["pkg", "single"]);
}
