//! What the diagnosis says the agent did: the worst of it first, and nothing that is not so.

use super::lab::{Lab, Place};

/// Two tests that fail, one file that decides how they are run, and one out of scope.
fn project() -> Lab {
    let lab = Lab::new(Place::Root);
    for name in ["sum", "product"] {
        lab.put(&format!("src/{name}"), "3\n");
        lab.put(&format!("tests/{name}.sh"), &format!("[ \"$(cat src/{name})\" = 4 ]\n"));
    }
    lab.put("Makefile", "test:\n\t@sh ./run-tests.sh\n");
    lab.put("other", "as it was\n");
    lab.put(
        "run-tests.sh",
        "echo TAP version 13; s=0; for t in tests/*.sh; do n=${t#tests/}; if sh \"$t\"; then \
         echo \"ok - $n\"; else echo \"not ok - $n\"; s=1; fi; done; exit $s\n",
    );
    lab.commit("a project");
    lab
}

#[test]
fn the_diagnosis_says_first_what_was_done_to_the_checks() {
    let reverts = ["--set", "scope.on_violation=revert", "--allow", "src/**"];
    let rows: [(&str, &[&str], &str); 8] = [
        (
            "echo true > tests/sum.sh; echo true > tests/product.sh",
            &[],
            "changed tests (tests/product.sh, tests/sum.sh)",
        ),
        // The last attempt takes it back; it was done all the same.
        ("[ $FIXPOINT_ATTEMPT = 1 ] && rm tests/sum.sh || true", &[], "changed tests (tests/sum.sh)"),
        (
            "printf 'test:\\n\\t@true\\n' > Makefile",
            &[],
            "changed files that decide what the checks do (Makefile)",
        ),
        (":", &[], "changed nothing"),
        ("echo $FIXPOINT_ATTEMPT > other", &reverts, "changed only files out of scope (other)"),
        ("echo $FIXPOINT_ATTEMPT > other", &["--allow", "src/**"], "changed only files out of scope (other)"),
        ("echo $((FIXPOINT_ATTEMPT % 2)) > src/sum", &[], "repeated the changes of attempt"),
        ("echo $FIXPOINT_ATTEMPT >> src/sum", &[], "makes no more progress"),
    ];
    std::thread::scope(|scope| {
        for (agent, more, expected) in rows {
            scope.spawn(move || {
                let lab = project();
                let arguments = [&["--until", "make -s test", "--max-iterations", "6"], more].concat();
                let outcome = lab.looping(&arguments, agent);
                assert_ne!(outcome.end().0, 0, "{agent}: {}", outcome.json);
                let what = outcome.json["diagnosis"]["what"].as_str().expect("a sentence");
                assert!(what.contains(expected), "{agent}: {what}");
                let explained = lab.explained(&outcome).split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(explained.contains(expected), "{agent}: {explained}");
                // What is not so is said nowhere.
                let is_idle = expected == "changed nothing";
                for words in ["changed nothing", "may lack permission"] {
                    assert_eq!(explained.contains(words), is_idle, "{agent}: {words}: {explained}");
                }
                let is_changing = agent.contains("ATTEMPT >") && explained.contains("no change");
                assert!(!is_changing, "{agent}: {explained}");
                assert!(!explained.contains(": progress"), "{agent}: {explained}");
            });
        }
    });
}

#[test]
fn failures_that_are_only_exchanged_are_called_that() {
    let lab = project();
    lab.put("tests/sum.sh", "[ \"$(cat src/sum)\" != 3 ] && [ \"$(cat src/product)\" != 4 ]\n");
    lab.commit("tests of which only one can pass");
    let agent = "if [ \"$(cat src/product)\" = 4 ]; then echo 3 > src/product; else echo 4 > src/product; fi\n\
                 echo \"$FIXPOINT_ATTEMPT\" > src/sum";
    let outcome = lab.looping(&["--until", "sh ./run-tests.sh", "--max-iterations", "9"], agent);
    let what = outcome.json["diagnosis"]["what"].as_str().expect("a sentence");
    assert!(what.contains("replaces failures with other failures"), "{what}: {}", outcome.json);
}

#[test]
fn the_commit_that_is_delivered_says_what_was_asked_for_and_what_proves_it() {
    let lab = project();
    let mend = "echo 4 > src/sum; echo 4 > src/product; echo '# more' >> tests/sum.sh";
    let goal = "Make the sums right.\n\nThey should be four.";
    let checks = ["--until", "sh ./run-tests.sh", "--allow-test-edits"];
    let outcome = lab.looping(&[&["--prompt", goal][..], &checks].concat(), mend);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    let branch = format!("fixpoint/{}", outcome.run());
    assert_eq!(lab.git(&["rev-parse", &branch]).trim(), outcome.json["result"].as_str().expect("a commit"));
    let message = lab.git(&["log", "-1", "--format=%B", &branch]);
    let expected = format!(
        "Make the sums right.\n\nProof: what failed before passes now, and there are no new failures.\n\
         Changed with permission: tests/sum.sh (edited: run by run-tests.sh)\n\nFixpoint-Run: {}\n",
        outcome.run()
    );
    assert!(message.starts_with(&expected), "{message}");
}
