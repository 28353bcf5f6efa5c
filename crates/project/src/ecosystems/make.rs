//! Make and CMake: the last resort.
//!
//! A `test` target becomes a check only if nothing else was found: usually it runs the same tests. CMake is only noted,
//! since nothing says where its build directory is and how it is generated.

use fixpoint_vocabulary::Text;

use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// In the order in which make looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const CMAKE: &str = "CMakeLists.txt";

/// For the root only, after every other ecosystem and directory.
pub(crate) fn detect(root: &ProjectDirectory<'_>, findings: &mut Findings) {
    if let Some(makefile) = root.first(&MAKEFILES)
        && root.text(makefile, findings).is_some_and(|text| text.lines().any(is_test_rule))
    {
        if findings.has_tests() {
            findings.skip(root, &format!("{makefile} `test`"), unused());
        } else {
            findings.test(root, "make", "make test", None, &[makefile]);
        }
    }
    if root.exists(CMAKE) && root.text(CMAKE, findings).is_some_and(|text| uses_ctest(&text)) {
        findings.note(ctest());
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

fn unused() -> Text {
    Text::new(
        "it may run the same tests as the other checks",
        "他のチェックと同じテストを実行する可能性があるため",
    )
}

fn ctest() -> Text {
    Text::new(
        "CMakeLists.txt defines tests. Add a check that configures, builds and tests the project, such as \
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
