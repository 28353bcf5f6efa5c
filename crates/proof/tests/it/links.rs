//! Files that a check or a test reaches through a symbolic link, and links that lead elsewhere.

use fixpoint_proof::ChangeKind::{Added, Deleted, Modified, TypeChanged};
use fixpoint_proof::MemoryTree;

use crate::classification::{judged, letter};

#[test]
fn tests_behind_a_link() {
    let mut base = MemoryTree::new([
        ("quality/sums", "[ \"$(sh ./add.sh 1 2)\" = 3 ]\n"),
        ("quality/more/deep", "true\n"),
        ("docs/sums", "text\n"),
        ("suites/v1/more", "true\n"),
        ("add.sh", "echo $(($1 - $2))\n"),
        ("shared/rows.txt", "1\n"),
        ("shared/calc.py", "x = 1\n"),
        ("shared/both.txt", "1\n"),
        ("app.py", "open('both.txt')\n"),
        ("suite/a.test.js", ""),
    ]);
    base.insert_link("tests", "quality");
    base.insert_link("again", "tests");
    base.insert_link("spec", "current");
    base.insert_link("current", "suites/v1");
    base.insert_link("suite/rows", "../shared");
    base.insert_link("test/rows", "../shared");
    base.insert_link("loop", "loop");
    base.insert_link("notes", "docs");
    for (path, kind, expected) in [
        ("quality/sums", Modified, 'T'),
        ("quality/sums", Deleted, 'T'),
        ("quality/more/deep", Modified, 'T'),
        ("quality/another", Added, 'T'),
        ("suites/v1/more", Modified, 'T'),
        ("shared/rows.txt", Modified, 'T'),
        ("shared/calc.py", Modified, '.'),
        ("shared/both.txt", Modified, '.'),
        ("docs/sums", Modified, '.'),
        ("add.sh", Modified, '.'),
    ] {
        let mut result = base.clone();
        match kind {
            Deleted => result.remove(path),
            Added | Modified | TypeChanged => result.insert(path, b"true\n"),
        }
        let command = "for f in tests/*; do sh $f || exit 1; done";
        let found = judged(&base, &result, command, "", &[], (path, kind));
        assert_eq!(letter(found.as_ref()), expected, "{path} {kind:?}: {found:?}");
    }
}

#[test]
fn links_on_the_way_to_what_a_check_loads() {
    let mut base = MemoryTree::new([
        ("kit-v1/same.sh", "same() { [ \"$1\" = \"$2\" ] || exit 1; }\n"),
        ("kit-v2/same.sh", "same() { :; }\n"),
        ("lib-v1/calc.py", "x = 1\n"),
        ("eq-v1/__init__.py", "def same(a, b): pass\n"),
        ("tests/run.sh", ". ./kit/same.sh\nsame \"$(sh ./add.sh 1 2)\" 3\n"),
        ("tests/test_a.py", "from eq import same\nfrom lib.calc import x\n"),
        ("app.py", "from lib.calc import x\n"),
        ("add.sh", "echo 1\n"),
    ]);
    for (link, target) in [("kit", "kit-v1"), ("lib", "lib-v1"), ("eq", "eq-v1"), ("site", "web")] {
        base.insert_link(link, target);
    }
    for (path, command, expected) in [
        ("kit", "sh tests/run.sh", 'D'),
        ("kit-v1/same.sh", "sh tests/run.sh", 'D'),
        ("eq", "pytest", 'D'),
        ("lib", "pytest", '.'),
        ("site", "sh tests/run.sh", '.'),
        ("lib-v1/calc.py", "pytest", '.'),
    ] {
        let mut result = base.clone();
        match path.contains('/') {
            true => result.insert(path, b"same() { :; }\n"),
            false => result.insert_link(path, "kit-v2"),
        }
        let found = judged(&base, &result, command, "", &[], (path, Modified));
        assert_eq!(letter(found.as_ref()), expected, "{path}: {found:?}");
    }
}
