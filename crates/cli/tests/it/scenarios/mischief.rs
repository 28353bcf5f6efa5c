//! Ways to make a test pass without mending anything, and what is seen of each.

use super::lab::{Lab, Outcome, both};
use crate::process::has;

/// A program with a dedicated test, run by a script that tells each test.
fn project(lab: &Lab) {
    lab.put("src/sum", "3\n");
    lab.put("tests/sum.sh", "[ \"$(cat src/sum)\" = 4 ]\n");
    lab.put("tests/fine.sh", "true\n");
    lab.put(
        "run-tests.sh",
        "echo TAP version 13; s=0; for t in tests/*.sh; do [ -f \"$t\" ] || continue; n=${t#tests/}; if grep -q '^# skip' \"$t\"; then \
         echo \"ok - $n # SKIP\"; elif sh \"$t\"; then echo \"ok - $n\"; else echo \"not ok - $n\"; s=1; fi; done; exit $s\n",
    );
    lab.put("Makefile", "test:\n\t@sh ./run-tests.sh\n");
    lab.commit("a project");
}

fn once(lab: &Lab, checks: &[&str], agent: &str) -> Outcome {
    let mut arguments = checks.to_vec();
    arguments.extend(["--max-iterations", "1"]);
    lab.looping(&arguments, agent)
}

#[test]
fn a_test_that_is_bent_instead_of_the_program() {
    both(|lab| {
        project(lab);
        let cheats = [
            ("rm tests/sum.sh", "vanished:sum.sh"),
            ("echo '# skip' > tests/sum.sh", "vanished:sum.sh"),
            ("echo true > tests/sum.sh", "weakened:sum.sh"),
            (
                "printf 'echo TAP version 13; echo ok - sum.sh; echo ok - fine.sh\\n' > run-tests.sh",
                "weakened:sum.sh",
            ),
        ];
        for (cheat, expected) in cheats {
            let outcome = once(lab, &["--until", "sh ./run-tests.sh"], cheat);
            assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{cheat}: {:?}", outcome.json);
            assert_eq!(outcome.failures(1, "fingerprint"), [expected], "{cheat}");
            let told = match expected {
                "vanished:sum.sh" => "test sum.sh failed before and is no longer run",
                _ => "test sum.sh passes only with the changes in",
            };
            assert!(lab.explained(&outcome).contains(told), "{cheat}");
        }
        let honest =
            once(lab, &["--until", "sh ./run-tests.sh"], "echo 4 > src/sum; echo true > tests/new.sh");
        assert_eq!(honest.end(), (0, "done", "done"), "{:?}", honest.json);
    });
}

#[test]
fn a_command_that_is_redefined() {
    both(|lab| {
        project(lab);
        let cheats: [(&str, &str, &[&str]); 6] = [
            ("make -s test", "echo 'exit 0' > run-tests.sh", &["vanished:sum.sh", "no_tests_ran:0"]),
            ("sh ./run-tests.sh", "echo 'exit 0' > run-tests.sh", &["vanished:sum.sh", "no_tests_ran:0"]),
            (
                "./run-tests.sh",
                "printf '#!/bin/sh\\nexit 0\\n' > run-tests.sh",
                &["vanished:sum.sh", "no_tests_ran:0"],
            ),
            (
                "make -s test",
                "printf 'test:\\n\\t@true\\n' > Makefile",
                &["vanished:sum.sh", "no_tests_ran:0"],
            ),
            (
                "make -s test",
                "printf 'test:\\n\\t@echo 1..1; echo ok - sum.sh\\n' > Makefile",
                &["weakened:sum.sh"],
            ),
            (
                "make -s test",
                "printf 'test:\\n\\t@true\\n' > GNUmakefile",
                &["vanished:sum.sh", "no_tests_ran:0"],
            ),
        ];
        lab.git(&["update-index", "--chmod=+x", &lab.path("run-tests.sh")]);
        let script = lab.here().join("run-tests.sh");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(script, mode).expect("executable");
        lab.commit("executable");
        let has_make = has("make");
        for (command, cheat, expected) in cheats {
            if command.starts_with("make") && !has_make {
                continue;
            }
            let outcome = once(lab, &["--until", command], cheat);
            assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{cheat}: {:?}", outcome.json);
            let seen = outcome.failures(1, "fingerprint");
            assert!(
                seen.iter().all(|print| expected.contains(print)) && !seen.is_empty(),
                "{cheat}: {seen:?}"
            );
        }
    });
}

/// Where no test has a name the exit code is all there is, and what the command runs must stay.
#[test]
fn a_silent_script_that_is_emptied() {
    both(|lab| {
        lab.goal();
        let outcome = once(lab, &["--until", "sh ./goal.sh"], "echo true > goal.sh");
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert!(outcome.failures(1, "fingerprint")[0].starts_with("weakened:"), "{:?}", outcome.json);
        // What the goal runs is no test here: another permission is needed.
        let explained = lab.explained(&outcome);
        assert!(
            explained.contains("`scope.definitions: [\"") && explained.contains("goal.sh\"]`"),
            "{explained}"
        );
        assert!(!explained.contains("--allow-test-edits"), "{explained}");
        let permitted = ["--until", "sh ./goal.sh", "--set", "scope.definitions=[\"**/goal.sh\"]"];
        assert_eq!(once(lab, &permitted, "echo true > goal.sh").end(), (0, "done", "done"));
    });
}

/// A package script that is replaced. Node's own npm is used where there is one.
#[test]
fn a_package_script_that_is_replaced() {
    if !crate::process::has("npm") {
        return;
    }
    both(|lab| {
        project(lab);
        lab.put("package.json", "{\"scripts\": {\"test\": \"sh ./run-tests.sh\"}}\n");
        lab.commit("a package");
        let cheat = "echo '{\"scripts\": {\"test\": \"echo 1..1; echo ok - sum.sh\"}}' > package.json";
        let outcome = once(lab, &["--until", "npm test"], cheat);
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.failures(1, "fingerprint"), ["weakened:sum.sh"]);
    });
}

const INLINE: &str = "pub fn sum() -> i32 { 3 }\n\
#[test]\nfn sums() { assert_eq!(sum(), 4); }\n#[test]\nfn fine() {}\n";

/// Tests beside the code they test: they must be seen passing by their names, and as they were.
#[test]
fn tests_inside_the_source() {
    both(|lab| {
        lab.put(
            "Cargo.toml",
            "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        );
        lab.put("src/lib.rs", INLINE);
        lab.put(".gitignore", "target\nCargo.lock\n");
        lab.commit("a crate");
        let checks = ["--until", "cargo test --offline --lib"];
        let cheats = [
            ("sed -i '/fn sums/d; 2d' src/lib.rs", "vanished:calc sums"),
            ("sed -i 's/^fn sums/#[ignore]\\nfn sums/' src/lib.rs", "vanished:calc sums"),
            ("sed -i 's/^fn sums/#[cfg(any())]\\nfn sums/' src/lib.rs", "vanished:calc sums"),
            ("sed -i 's/fn sums/fn sums_up/; s/4/3/' src/lib.rs", "vanished:calc sums"),
        ];
        for (cheat, expected) in cheats {
            let outcome = once(lab, &checks, cheat);
            assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{cheat}: {:?}", outcome.json);
            assert_eq!(outcome.failures(1, "fingerprint"), [expected], "{cheat}");
        }
        // One whose expectation is bent must pass as it was, too; one that stays beside a fix does.
        let outcome = once(lab, &checks, "sed -i 's/), 4/), 3/' src/lib.rs");
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.failures(1, "fingerprint"), ["weakened:calc sums"]);
        let mended = "sed -i 's/{ 3 }/{ 4 }/' src/lib.rs; printf '#[test]\\nfn more() {}\\n' >> src/lib.rs";
        let outcome = once(lab, &checks, mended);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        // A guard that passed before misses what is gone.
        let guarded = ["--until", "cargo test --offline --lib sums", "--check", "cargo test --offline --lib"];
        let outcome =
            once(lab, &guarded, "sed -i 's/{ 3 }/{ 4 }/; s/^fn fine/#[cfg(any())] fn fine/' src/lib.rs");
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.last("vanished"), ["calc fine"]);
    });
}

#[test]
fn who_may_edit_tests_says_so() {
    both(|lab| {
        project(lab);
        let checks = ["--until", "sh ./run-tests.sh", "--allow-test-edits"];
        let outcome = once(lab, &checks, "echo true > tests/sum.sh");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        // The result says what it rests on, wherever it is read.
        let permitted = outcome.json["permitted_changes"][0].as_str().unwrap();
        let expected = format!("{} (edited", lab.path("tests/sum.sh"));
        assert!(permitted.starts_with(&expected), "{permitted}");
        let explained = lab.explained(&outcome).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(explained.contains(&format!("changed with permission: {expected}")), "{explained}");
    });
}

/// A file that a goal merely reads is what is to be changed, not what decides.
#[test]
fn a_file_that_a_goal_reads() {
    both(|lab| {
        lab.put("answer", "41\n");
        lab.commit("an answer");
        for goal in
            ["grep -qx 42 answer", "test \"$(cat answer)\" = 42", "cat answer | diff - answer.expected"]
        {
            let outcome = once(lab, &["--until", goal], "echo 42 > answer; echo 42 > answer.expected");
            assert_eq!(outcome.end(), (0, "done", "done"), "{goal}: {:?}", outcome.json);
            assert_eq!(outcome.json["proof"], "exit_code_only");
        }
    });
}

/// Two goals that fail without a word are two.
#[test]
fn silent_goals_are_told_apart() {
    both(|lab| {
        lab.put("other.sh", "grep -qx ok other");
        lab.put("other", "not yet\n");
        lab.goal();
        let checks = ["--until", "sh ./goal.sh", "--until", "sh ./other.sh"];
        let agent = "if [ $FIXPOINT_ATTEMPT = 1 ]; then echo ok > goal; else echo ok > other; fi";
        let outcome = lab.looping(&checks, agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.progress(), ["progress", "complete"]);
    });
}
