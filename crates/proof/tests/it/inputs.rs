//! Files that a check reads, loads or finds, and that decide; and what it reads in order to test it.

use fixpoint_proof::ChangeKind::{Added, Modified};
use fixpoint_proof::{Extent, MemoryTree};

use crate::classification::judged;
use crate::taken::{Row, check_rows};

pub(crate) fn check(files: &[(&str, &str)], rows: &[(&str, &str, &str, char)]) {
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(name, command, path, expected)| {
            let is_there = files.iter().any(|(file, _)| file == path);
            let kind = if is_there { Modified } else { Added };
            (*name, *command, files, &[] as &[&str], (*path, kind), "changed\n", *expected)
        })
        .collect();
    check_rows(&rows);
}

#[test]
fn scripts_on_the_input() {
    let files: &[(&str, &str)] = &[
        ("ci/smoke", "from calc import add\nif add(1, 2) != 3: raise SystemExit(1)\n"),
        ("ci/steps", "[ \"$(sh ./add.sh 1 2)\" = 3 ]\n"),
        ("add.sh", "echo 1\n"),
        ("app.py", "print(1)\n"),
        ("numbers.txt", "1\n"),
        ("verify/sum_ok.py", "assert True\n"),
        ("verify/readme.txt", ""),
        ("src/a.py", "x = 1\n"),
    ];
    let finds = "find verify -name '*_ok.py' | xargs -n1 python";
    check(
        files,
        &[
            ("redirected", "python - < ci/smoke", "ci/smoke", 'D'),
            ("redirected into a shell", "sh < ci/steps", "ci/steps", 'D'),
            ("piped", "cat ci/steps | sh", "ci/steps", 'D'),
            ("piped with options", "cat ci/steps | bash -eu", "ci/steps", 'D'),
            ("what is judged", "cat app.py | python - | grep 3", "app.py", '.'),
            ("input of the product", "sh add.sh < numbers.txt | grep 3", "numbers.txt", '.'),
            ("found", finds, "verify/sum_ok.py", 'D'),
            ("found when added", finds, "verify/more_ok.py", 'D'),
            ("not found", finds, "verify/readme.txt", '.'),
            ("executed", "find verify -name '*.py' -exec python {} \\;", "verify/sum_ok.py", 'D'),
            ("compiled", "find src -name '*.py' | xargs python -m py_compile", "src/a.py", '.'),
            ("looked at", "find . -name '*.sh' | xargs -n1 sh -n", "add.sh", '.'),
        ],
    );
}

#[test]
fn lists_and_rules_that_a_check_reads() {
    let files: &[(&str, &str)] = &[
        ("ci/args", "-q\n"),
        ("ci/list", "tests/test_a.py\n"),
        ("ci/rule", "sum == 3\n"),
        ("ci/accept", "3\n"),
        ("ci/judge.py", "import sys\nrule = open(\"ci/rule\").read()\npage = open('page.txt').read()\n"),
        ("ci/all.sh", "mapfile -t files < ci/list\nwhile read -r t; do pytest \"$t\"; done < ci/args\n"),
        ("Makefile", "ARGS := $(shell cat ci/args)\ntest:\n\tpytest $(ARGS)\n"),
        ("lint.sh", "echo x\n"),
        ("lint-ignore", "zzz\n"),
        ("ci.yml", "script: python3 check.py\n"),
        ("answer", "41\n"),
        ("page.txt", "x\n"),
        ("settings.json", "{}\n"),
        ("app.py", "print(1)\n"),
        ("tests/test_a.py", "import app\n"),
    ];
    check(
        files,
        &[
            ("arguments", "pytest @ci/args", "ci/args", 'D'),
            ("a module's arguments", "python -m pytest @ci/args", "ci/args", 'D'),
            ("printed into the command", "pytest $(cat ci/args)", "ci/args", 'D'),
            ("read into the command", "pytest $(< ci/args)", "ci/args", 'D'),
            ("variables", "env $(cat ci/args) pytest", "ci/args", 'D'),
            ("a list", "xargs pytest < ci/list", "ci/list", 'D'),
            ("a list that is piped", "cat ci/list | xargs -n1 pytest", "ci/list", 'D'),
            ("a loop over a list", "for t in $(cat ci/list); do pytest $t; done", "ci/list", 'D'),
            ("of make", "make test", "ci/args", 'D'),
            ("read by a script", "bash ci/all.sh", "ci/list", 'D'),
            ("read line by line", "bash ci/all.sh", "ci/args", 'D'),
            ("given to a judge", "python app.py | python ci/judge.py ci/accept", "ci/accept", 'D'),
            ("read by a judge", "python app.py | python ci/judge.py", "ci/rule", 'D'),
            ("patterns", "bash -c '! sh lint.sh | grep -v -f lint-ignore'", "lint-ignore", 'D'),
            ("patterns behind options", "! sh lint.sh | grep -vFf lint-ignore", "lint-ignore", 'D'),
            ("a part of a file as a command", "sh -c \"$(sed -n s/^script:.//p ci.yml)\"", "ci.yml", 'D'),
            ("a part that is evaluated", "eval \"$(grep '^script:' ci.yml | cut -d: -f2-)\"", "ci.yml", 'D'),
            ("a part that is the command", "$(awk -F': ' '/^script/{print $2}' ci.yml)", "ci.yml", 'D'),
            ("a part that is piped", "grep '^script:' ci.yml | cut -d: -f2- | sh", "ci.yml", 'D'),
            ("a part of a list", "grep -v '^#' ci/list | while read t; do pytest $t; done", "ci/list", 'D'),
            ("arguments out of a file", "pytest $(grep -v '^#' ci/args)", "ci/args", 'D'),
            ("a part that is kept and run", "c=$(sed -n s/^script:.//p ci.yml); sh -c \"$c\"", "ci.yml", 'D'),
            ("a part that is compared", "test \"$(sed -n 1p answer)\" = 42", "answer", '.'),
            ("a part that is given", "python app.py $(head -1 answer) | grep 3", "answer", '.'),
            (
                "a part that is kept",
                "v=$(grep x settings.json); python app.py $v | grep 3",
                "settings.json",
                '.',
            ),
            ("what is compared", "test \"$(cat answer)\" = 42", "answer", '.'),
            ("what is read and compared", "[ \"$(< answer)\" = 42 ]", "answer", '.'),
            ("what is looked at", "grep -q 42 answer", "answer", '.'),
            ("what a judge looks at", "python app.py | python ci/judge.py", "page.txt", '.'),
            ("settings of the product", "python app.py settings.json | grep 3", "settings.json", '.'),
            ("what a script is given to check", "python ci/judge.py settings.json", "settings.json", '.'),
        ],
    );
}

#[test]
fn imports_of_what_a_check_runs() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("tools/__init__.py", ""),
        ("tools/verify.py", "from calc import add\nfrom . import eq\neq.same(add(1, 2), 3)\n"),
        ("tools/eq.py", "def same(a, b):\n    if a != b: raise SystemExit(1)\n"),
        ("noxfile.py", "import nox\nfrom ci.sess import ARGS\nfrom calc import add\n"),
        ("ci/sess.py", "ARGS = []\n"),
    ];
    check(
        files,
        &[
            ("beside a module", "python -m tools.verify", "tools/eq.py", 'D'),
            ("what it tests", "python -m tools.verify", "calc.py", '.'),
            ("of nox", "nox -s tests", "ci/sess.py", 'D'),
            ("of nox as a module", "python -m nox -s tests", "ci/sess.py", 'D'),
            ("the product of nox", "nox -s tests", "calc.py", '.'),
            ("of another check", "pytest", "ci/sess.py", '.'),
        ],
    );
}

#[test]
fn helpers_of_bats_and_robot() {
    let files: &[(&str, &str)] = &[
        ("lib/calc.bash", "add() { echo $(($1 - $2)); }\n"),
        ("lib/equals.bash", "equals() { [ \"$1\" = \"$2\" ]; }\n"),
        (
            "test/a.bats",
            "load ../lib/equals\nload '../lib/calc'\n@test \"adds\" { equals \"$(add 1 2)\" 3; }\n",
        ),
        ("res/kw.resource", "*** Keywords ***\n"),
        ("atest/calc.robot", "*** Settings ***\nResource  ../res/kw.resource\n"),
    ];
    check(
        files,
        &[
            ("loaded by bats", "bats test", "lib/equals.bash", 'T'),
            ("tested by bats", "bats test", "lib/calc.bash", '.'),
            ("keywords", "robot atest", "res/kw.resource", 'T'),
            ("another kind of resource", "bats test", "res/kw.resource", '.'),
        ],
    );
}

#[test]
fn features_that_are_on_by_default() {
    let manifest = |features: &str| format!("[package]\nname = \"c\"\n\n[features]\n{features}");
    let base = MemoryTree::new([("Cargo.toml", manifest("default = []\nslow = []\n").as_str())]);
    for (name, features, expected) in [
        ("on", "default = [\"slow\"]\nslow = []\n", Some(Extent::Part)),
        ("added", "default = []\nslow = []\nfast = []\n", None),
        ("added and on", "default = [\"fast\"]\nslow = []\nfast = []\n", Some(Extent::Part)),
        ("more of one", "default = []\nslow = [\"dep:x\"]\n", None),
    ] {
        let result = MemoryTree::new([("Cargo.toml", manifest(features).as_str())]);
        let found = judged(&base, &result, "cargo test", "", &[], ("Cargo.toml", Modified));
        assert_eq!(found.as_ref().map(|change| change.part), expected, "{name}: {found:?}");
    }
}
