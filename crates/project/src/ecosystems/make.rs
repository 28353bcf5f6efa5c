//! Make and CMake: the last resort.
//!
//! A `test` target is a check only where no other tests are: beside them it nearly always runs the same once more.
//! CMake is only noted, since it tests a build directory whose place and generator nobody wrote down.

use fixpoint_vocabulary::Text;

use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

/// In the order in which make looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const CMAKE: &str = "CMakeLists.txt";

/// Looks at the root, after every other ecosystem and every other place.
pub(crate) fn look(root: &Place<'_>, gathering: &mut Gathering) {
    if let Some(makefile) = root.first(&MAKEFILES)
        && root.text(makefile, gathering).is_some_and(|text| text.lines().any(is_test_rule))
    {
        if gathering.has_tests() {
            gathering.note(unused(makefile));
        } else {
            gathering.check(
                root,
                Proposal {
                    purpose: Purpose::Test,
                    ecosystem: "make",
                    command: "make test".to_string(),
                    runner: None,
                    because: vec![makefile.to_string()],
                },
            );
        }
    }
    if root.exists(CMAKE) && root.text(CMAKE, gathering).is_some_and(|text| uses_ctest(&text)) {
        gathering.note(ctest());
    }
}

/// Whether a line is a rule whose targets include `test`, and not a variable of that name.
fn is_test_rule(line: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let is_assignment = rest.trim_start_matches(':').starts_with('=') || targets.contains('=');
    let is_rule = !targets.starts_with(['\t', ' ', '#', '.']) && !is_assignment;
    is_rule && targets.split_whitespace().any(|target| target == "test")
}

fn uses_ctest(text: &str) -> bool {
    let lines = text.lines().map(|line| line.trim_start().to_ascii_lowercase());
    lines.into_iter().any(|line| {
        ["enable_testing", "add_test", "include(ctest"].iter().any(|command| line.starts_with(command))
    })
}

fn unused(makefile: &str) -> Text {
    Text::new(
        format!(
            "{makefile} has a target `test`, which is no check beside the others: it may run the same tests."
        ),
        format!(
            "{makefile} に `test` ターゲットがありますが、同じテストを実行する可能性があるためチェックにはしていません。"
        ),
    )
}

fn ctest() -> Text {
    Text::new(
        "CMakeLists.txt defines tests. Add a check that configures, builds and tests, such as \
         `cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure`.",
        "CMakeLists.txt にテストが定義されています。設定・ビルド・テストを行うチェックを追加してください。例: \
         `cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_from_a_variable_and_a_recipe() {
        let rules = ["test:", "test: build", "check test: build", "test :: a", "test:build"];
        let others = [
            "test := a",
            "test ::= a",
            "\ttest: a",
            "# test: a",
            ".PHONY: test",
            "tests: a",
            "test",
            "A = test: b",
        ];
        for line in rules {
            assert!(is_test_rule(line), "{line}");
        }
        for line in others {
            assert!(!is_test_rule(line), "{line}");
        }
    }
}
