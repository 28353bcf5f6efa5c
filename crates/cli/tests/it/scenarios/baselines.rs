//! What was so before: known failures, flaky ones, hidden ones, and checks that prove nothing.

use super::lab::both;
use crate::process::has;

/// A guard in TAP beside the goal: `old` fails always, the rest is told by files.
const GUARD: &str = "\
echo 'ok 1 - fine'
if [ -f src/old ]; then echo 'not ok 2 - old'; echo '  # long ago'; else echo 'ok 2 - old'; fi
exit 1
";

#[test]
fn what_failed_before_is_known() {
    both(|lab| {
        lab.put("guard.sh", GUARD);
        lab.put("src/old", "broken");
        lab.goal();
        let checks = ["--until", "sh ./goal.sh", "--check", "sh ./guard.sh"];
        let outcome = lab.looping(&checks, "echo ok > goal");
        assert_eq!(outcome.end(), (0, "done", "done"));
        assert_eq!(outcome.last("known"), ["old"]);
        assert!(outcome.json["known_at_base"].as_array().is_some_and(|known| known.contains(&"old".into())));
        assert!(lab.explained(&outcome).contains("1 known (old)"));
    });
}

#[test]
fn what_was_flaky_before_is_flaky() {
    both(|lab| {
        let counter = lab.beside("turns");
        // Fails every other time, wherever it runs.
        lab.put(
            "guard.sh",
            &format!(
                "echo x >> '{0}'; n=$(wc -l < '{0}'); echo 'ok 1 - fine'\n\
                 if [ $((n % 2)) = 1 ]; then echo 'not ok 2 - moody'; exit 1; fi; echo 'ok 2 - moody'",
                counter.display()
            ),
        );
        lab.goal();
        let checks = ["--until", "sh ./goal.sh", "--check", "sh ./guard.sh"];
        let outcome = lab.looping(&checks, "echo ok > goal");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.json["flaky_at_base"][0], "moody");
        assert_eq!(outcome.last("flaky"), ["moody"]);
        assert!(outcome.last("known").is_empty() && outcome.last("newly_flaky").is_empty());
    });
}

#[test]
fn what_is_newly_flaky_blocks() {
    both(|lab| {
        let counter = lab.beside("turns");
        lab.put("src/calm.sh", "true");
        lab.put(
            "guard.sh",
            "echo 'ok 1 - fine'; if sh src/calm.sh; then echo 'ok 2 - calm'; else echo 'not ok 2 - calm'; exit 1; fi",
        );
        lab.goal();
        let agent = format!(
            "rm -f {0}; echo ok > goal; echo \"# $FIXPOINT_ATTEMPT\" > src/calm.sh
             echo 'echo x >> {0}; test $(($(wc -l < {0}) % 2)) = 0' >> src/calm.sh",
            counter.display()
        );
        let checks = ["--until", "sh ./goal.sh", "--check", "sh ./guard.sh", "--max-iterations", "2"];
        let outcome = lab.looping(&checks, &agent);
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!((outcome.last("newly_flaky"), outcome.failures(2, "test")), (vec!["calm"], vec!["calm"]));
        assert!(lab.explained(&outcome).contains("1 newly flaky (calm)"));
        // Who does not mind says so.
        let mut tolerant = checks.to_vec();
        tolerant.extend(["--set", "baseline.newly_flaky=allow"]);
        let outcome = lab.looping(&tolerant, &agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.last("newly_flaky"), ["calm"]);
    });
}

const WORKSPACE: &str = "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n";

fn member(name: &str, value: u32) -> (String, String, String) {
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let source = format!(
        "pub fn value() -> u32 {{ {value} }}\n#[test]\nfn {name}_works() {{ assert_eq!(value(), 1) }}\n\
         #[test]\nfn {name}_fine() {{}}\n"
    );
    (name.to_string(), manifest, source)
}

/// Cargo stops at the first crate that fails, so what fails in the second shows only when the first is mended.
#[test]
fn what_another_failure_hid_is_not_new() {
    both(|lab| {
        lab.put("Cargo.toml", WORKSPACE);
        for (name, manifest, source) in [member("a", 2), member("b", 3)] {
            lab.put(&format!("{name}/Cargo.toml"), &manifest);
            lab.put(&format!("{name}/src/lib.rs"), &source);
        }
        lab.put(".gitignore", "target\nCargo.lock\n");
        lab.commit("two crates");
        let checks = ["--until", "cargo test -q -p a --offline", "--check", "cargo test --offline"];
        let outcome = lab.looping(&checks, "sed -i 's/{ 2 }/{ 1 }/' a/src/lib.rs");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.last("known"), ["b b_works"], "{:?}", outcome.json["known_at_base"]);
    });
}

const PYTHON: &str = "\
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(open('src/a').read(), 'ok\\n')
    def test_b(self): self.assertEqual(open('src/b').read(), 'ok\\n')
    def test_c(self): pass
";

/// The same with Python, told to stop at the first failure: one failure would be all it shows.
#[test]
fn a_runner_told_to_stop_early_hides_nothing() {
    if !crate::process::has("python3") {
        return;
    }
    both(|lab| {
        lab.sources(&[("a", "broken"), ("b", "broken")]);
        lab.put("test_it.py", PYTHON);
        lab.goal();
        let checks = ["--until", "sh ./goal.sh", "--check", "python3 -B -m unittest -f"];
        let outcome = lab.looping(&checks, "echo ok > goal; echo ok > src/a");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.last("known"), ["test_it.T.test_b"]);
    });
}

#[test]
fn a_check_that_hangs_has_failed() {
    both(|lab| {
        lab.put("guard.sh", "echo 'ok 1 - fine'; [ -f hang ] && sleep 600; echo 'ok 2 - late'");
        lab.goal();
        let checks = [
            "--until",
            "sh ./goal.sh",
            "--check",
            "sh ./guard.sh",
            "--check-timeout",
            "1",
            "--max-iterations",
            "1",
        ];
        let outcome = lab.looping(&checks, "echo ok > goal; touch hang");
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.failures(1, "fingerprint"), ["timeout:sh ./guard.sh"]);
        assert!(lab.explained(&outcome).contains("`sh ./guard.sh` did not end within 1 s"));
    });
}

#[test]
fn packages_that_are_not_installed() {
    both(|lab| {
        // A shell stands for npm here: what it cannot find is the program packages would have brought.
        lab.put(
            "package.json",
            "{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"1\"}}",
        );
        lab.put(".gitignore", "node_modules\n");
        lab.commit("no packages");
        lab.put("node_modules/.bin/jest", "exit 0");
        for check in ["PATH=\"$PWD/node_modules/.bin:$PATH\" && jest", "sh node_modules/.bin/jest"] {
            let outcome = lab.looping(&["--check", check], "touch started");
            assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"), "{check} {:?}", outcome.json);
            let told = lab.explained(&outcome);
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains("workspace.setup") && told.contains("fixpoint init"), "{told}");
            assert!(outcome.iterations().is_empty());
        }
    });
}

#[test]
fn a_check_that_does_not_exist() {
    both(|lab| {
        for arguments in [["--until", "no-such-program --flag"], ["--check", "no-such-program --flag"]] {
            let outcome = lab.looping(&arguments, "touch started");
            assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"));
            assert!(lab.explained(&outcome).contains("no-such-program"));
        }
    });
}

/// A target that has the name of a directory is never made, so a check of it passes without running anything.
#[test]
fn a_check_that_makes_nothing_proves_nothing() {
    if !has("make") {
        return;
    }
    both(|lab| {
        lab.put("test/run.sh", "exit 1");
        lab.put("Makefile", "test:\n\tsh test/run.sh\nnone:\n");
        lab.goal();
        for (flag, target, why) in [
            ("--until", "test", "the directory `test` has the name of the target"),
            ("--check", "test", "the directory `test` has the name of the target"),
            ("--until", "none", "found nothing to do"),
        ] {
            let command = format!("make {target}");
            let outcome = lab.looping(&[flag, &command], "echo ok > goal");
            assert_eq!(
                outcome.end(),
                (7, "failed", "baseline_unusable"),
                "{flag} {target}: {:?}",
                outcome.json
            );
            let explained = lab.explained(&outcome);
            assert!(explained.contains("ran nothing"), "{explained}");
            assert!(explained.split_whitespace().collect::<Vec<_>>().join(" ").contains(why), "{explained}");
        }
        // What is made already may be all that a guard asks for.
        let outcome = lab.looping(&["--until", "sh ./goal.sh", "--check", "make none"], "echo ok > goal");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
    });
}
