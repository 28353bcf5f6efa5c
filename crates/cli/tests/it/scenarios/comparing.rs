//! `fixpoint check`: the working tree beside a commit.

use std::fs::OpenOptions;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::lab::{Lab, Place, both, wait_for};

const FILES: [(&str, &str); 4] = [("fine", "ok"), ("old", "broken"), ("other", "ok"), ("gone", "ok")];

#[test]
fn what_is_new_known_and_vanished() {
    both(|lab| {
        lab.sources(&FILES);
        let check = ["check", "--json", "--check", "sh ./check.sh"];
        let same = lab.json(0, &check);
        assert_eq!(
            (&same["ok"], &same["changed"], &same["known"]),
            (&json!(true), &json!(false), &json!(["old"]))
        );
        lab.put("src/fine", "broken now\n");
        std::fs::remove_file(lab.here().join("src/gone")).expect("there");
        let worse = lab.json(3, &check);
        assert_eq!(
            (&worse["ok"], &worse["known"], &worse["vanished"]),
            (&json!(false), &json!(["old"]), &json!(["gone"])),
            "{worse}"
        );
        assert_eq!(
            (&worse["new"][0]["test"], worse["new"].as_array().map(Vec::len)),
            (&json!("fine"), Some(1)),
            "{worse}"
        );
        let text = lab.call(&check[..1].iter().chain(&check[2..]).copied().collect::<Vec<_>>());
        assert_eq!(text.code, 3);
        for line in [
            "1 new, 1 known, 0 flaky, 1 vanished (compared with HEAD)",
            "new: fine",
            "vanished: gone",
            "known: old",
        ] {
            assert!(text.stdout.contains(line), "{line}:\n{}", text.stdout);
        }
        lab.put("src/fine", "ok\n");
        lab.put("src/gone", "ok\n");
        lab.put("src/other", "ok\nbut different\n");
        let better = lab.json(0, &check);
        assert_eq!(
            (&better["ok"], &better["changed"], &better["known"]),
            (&json!(true), &json!(true), &json!(["old"]))
        );
        assert!(lab.call(&["list"]).stdout.is_empty(), "a comparison is no run");
    });
}

/// Catches a kind of failure that is told by how a name begins: a check named `vanished` was not counted as new.
#[test]
fn a_check_or_a_test_may_have_any_name() {
    both(|lab| {
        lab.sources(&[("fine", "ok"), ("vanished: x", "ok")]);
        lab.put("answer", "42\n");
        lab.commit("an answer");
        lab.put("answer", "not yet\n");
        lab.put("src/vanished: x", "broken now\n");
        let new = |told: &serde_json::Value, key: &str| -> Vec<String> {
            let new = told["new"].as_array().expect("a list").iter();
            new.map(|failure| failure[key].as_str().unwrap_or_default().to_string()).collect()
        };
        for name in ["vanished", "timeout", "scope", "judge", "weakened"] {
            let command = format!("grep -qx 42 '{}'", lab.path("answer"));
            let checks = format!("checks=[{{name: {name}, command: {command}}}]");
            let told = lab.json(3, &["check", "--json", "--set", &checks]);
            let fingerprints = new(&told, "fingerprint");
            assert!(fingerprints.len() == 1 && fingerprints[0].starts_with(name), "{name}: {told}");
            assert_eq!(told["vanished"], json!([]), "{name}: {told}");
        }
        let told = lab.json(3, &["check", "--json", "--check", "sh ./check.sh"]);
        assert_eq!(
            (new(&told, "test"), &told["vanished"]),
            (vec!["vanished: x".into()], &json!([])),
            "{told}"
        );
    });
}

#[test]
fn what_is_flaky_and_newly_flaky() {
    both(|lab| {
        let (old, new) = (lab.beside("old"), lab.beside("new"));
        let turn = |file: &std::path::Path| {
            format!("echo x >> '{0}'; [ $(($(wc -l < '{0}') % 2)) = 0 ]", file.display())
        };
        lab.put("src/moody.sh", &turn(&old));
        lab.put("src/calm.sh", "true");
        lab.put(
            "check.sh",
            "echo 1..3; echo ok 1 - fine; s=0; n=1; for f in src/*.sh; do n=$((n + 1))
             if sh $f; then echo \"ok $n - $f\"; else echo \"not ok $n - $f\"; s=1; fi; done; exit $s",
        );
        lab.commit("moody");
        lab.put("src/calm.sh", &turn(&new));
        let check = ["check", "--json", "--check", "sh ./check.sh"];
        let told = lab.json(3, &check);
        assert_eq!(
            (&told["flaky"], &told["newly_flaky"]),
            (&json!(["src/moody.sh"]), &json!(["src/calm.sh"])),
            "{told}"
        );
    });
}

#[test]
fn scope_base_and_checks_that_cannot_run() {
    both(|lab| {
        lab.sources(&FILES);
        lab.put("src/old", "ok\n");
        let allowed = lab.path("tests/**");
        let check = ["check", "--json", "--check", "sh ./check.sh"];
        let told = lab.json(3, &[&check[..], &["--allow", &allowed]].concat());
        assert_eq!(told["scope_violations"], json!([lab.path("src/old")]), "{told}");
        lab.commit("mended");
        let told = lab.json(0, &[&check[..], &["--base", "HEAD~1"]].concat());
        assert_eq!((&told["changed"], &told["known"]), (&json!(true), &json!([])), "{told}");
        let told = lab.json(7, &["check", "--json", "--check", "no-such-program"]);
        assert_eq!(told["cause"], "baseline_unusable");
        assert!(told["evidence"].to_string().contains("no-such-program"), "{told}");
        assert_eq!(lab.git(&["for-each-ref", "refs/fixpoint"]), "", "no comparison is kept");
    });
}

/// Catches an exit code that depends on who reads the output.
#[test]
fn the_exit_code_is_the_same_whoever_reads_the_output() {
    let lab = Lab::new(Place::Root);
    lab.sources(&FILES);
    lab.put("src/fine", "broken now\n");
    let check = || lab.binary(&["-q", "check", "--check", "sh ./check.sh"]);
    let mut closed = check().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(closed.stdout.take());
    let closed = closed.wait_with_output().expect("it ends");
    assert_eq!((closed.status.code(), closed.stderr.as_slice()), (Some(3), b"".as_slice()));
    let full = OpenOptions::new().write(true).open("/dev/full").expect("opened");
    let full = check().stdout(full).output().expect("it ends");
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(3), "{said}");
    assert!(said.starts_with("fixpoint: cannot write the result: "), "{said}");
}

/// Catches advice about a run: a comparison stores none, and its files are gone when it ends.
#[test]
fn a_comparison_that_fails_names_no_run_and_no_file() {
    let lab = Lab::new(Place::Root);
    lab.sources(&FILES);
    let set_up = "workspace.setup=[\"echo the reason; exit 3\"]";
    let failed = lab.call(&["check", "--set", set_up, "--check", "sh ./check.sh"]);
    assert_eq!(failed.code, 7, "{}", failed.stderr);
    assert!(failed.stdout.contains("failed with exit code 3\n"), "{}", failed.stdout);
    assert!(failed.stdout.contains("the reason\n"), "{}", failed.stdout);
    let started = lab.beside("started");
    let slow = format!("echo x > '{}'; sleep 600", started.display());
    let mut command = lab.binary(&["check", "--check", &slow]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    wait_for("the check", || started.exists());
    let pid = i32::try_from(child.id()).expect("a number");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("sent");
    let stopped = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(stopped.stdout).expect("text");
    assert_eq!((stopped.status.code(), said.as_str()), (Some(130), "Stopped; nothing was compared.\n"));
    for word in ["fixpoint resume", "fixpoint logs", ".log"] {
        assert!(!failed.stdout.contains(word), "{word}: {}", failed.stdout);
    }
}
