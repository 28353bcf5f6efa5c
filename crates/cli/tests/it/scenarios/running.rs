//! How agents run: what they are told and see, and that they end, with everything they started.

use std::fs;
use std::time::Duration;

use super::lab::{Lab, both, processes_with};

fn mark(lab: &Lab) -> String {
    let directory = lab.beside("x");
    let name = directory.parent().and_then(|parent| parent.file_name()).expect("a name");
    format!("mark{}", name.to_string_lossy())
}

#[test]
fn an_agent_that_hangs_is_ended() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let mark = mark(lab);
        let agent = format!("echo half > src/half; sh -c 'sleep 700; : {mark}'; : {mark}");
        let limits = ["--until", "sh ./check.sh", "--attempt-timeout", "1", "--max-iterations", "1"];
        let outcome = lab.looping(&limits, &agent);
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.iterations()[0]["agent_end"], "timed_out");
        assert!(lab.explained(&outcome).contains("stopped by its time limit"));
        assert_eq!(processes_with(&mark), [0; 0]);
        let limits = ["--until", "sh ./check.sh", "--silence-timeout", "1", "--max-iterations", "1"];
        let outcome = lab.looping(&limits, &agent);
        assert_eq!(outcome.iterations()[0]["agent_end"], "timed_out");
        assert_eq!(processes_with(&mark), [0; 0]);
    });
}

#[test]
fn an_agent_that_leaves_daemons_leaves_nothing() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let mark = mark(lab);
        let daemons = format!(
            "setsid sh -c 'sleep 700; : {mark}' >/dev/null 2>&1 &
             (setsid sh -c '(trap \"\" HUP TERM; sleep 700; : {mark}) & exit' >/dev/null 2>&1 &)
             (sh -c 'trap \"\" TERM INT; while :; do sleep 700; done; : {mark}' &) & echo ok > src/a"
        );
        let outcome = lab.until_checked(&daemons);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(processes_with(&mark), [0; 0]);
        // So does a check.
        let check = format!("setsid sh -c 'sleep 700; : {mark}' & sh ./check.sh");
        let outcome = lab.looping(&["--until", &check], "echo ok > src/a");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(processes_with(&mark), [0; 0]);
    });
}

/// The most memory of any process this one waited for, in KiB.
fn most_memory(lab: &Lab, arguments: &[&str]) -> (i32, u64) {
    let mut child = lab.binary(arguments).stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let mut most = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(now.unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("it is ours") {
            return (ended.code().expect("it was not killed"), most);
        }
        // The kernel keeps the highest mark, so looking now and then is enough.
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn an_agent_that_prints_without_end_costs_no_memory() {
    let lab = Lab::new(super::lab::Place::Below);
    lab.sources(&[("a", "broken")]);
    let agent = lab
        .agent("yes 'all work and no play' | head -c 5000000; head -c 195000000 /dev/zero; echo ok > src/a");
    let (code, most) = most_memory(&lab, &["--quiet", "loop", "--until", "sh ./check.sh", "--", &agent]);
    assert_eq!(code, 0);
    assert!(most > 1000 && most < 60_000, "{most} KiB");
    let logs = lab.json(0, &["logs", "--attempt", "1", "--agent", "--json"]);
    let kept = fs::metadata(logs["path"].as_str().expect("a path")).expect("kept").len();
    assert!(kept < 40_000_000, "{kept} bytes");
}

#[test]
fn how_the_prompt_is_delivered() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let keep = lab.beside("told");
        let script = lab.agent(&format!(
            "{{ echo \"arguments: $#\"; for a in \"$@\"; do echo \"[$a]\"; done; echo \"stdin: [$(cat)]\"; \
             echo \"file: [$(cat \"$FIXPOINT_PROMPT_FILE\")]\"; pwd; }} > '{}'; echo ok > src/a",
            keep.display()
        ));
        let told = |words: &[&str]| {
            let mut arguments = vec![
                "loop",
                "--json",
                "--until",
                "sh ./check.sh",
                "--prompt",
                "Mend a; $(x) {prompt}",
                "--",
                script.as_str(),
            ];
            arguments.extend(words);
            let outcome = lab.outcome(&mut lab.binary(&arguments), b"this is not the prompt");
            assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
            fs::read_to_string(&keep).expect("told")
        };
        let by_stdin = told(&["--flag", "two words"]);
        assert!(
            by_stdin.contains("arguments: 2\n[--flag]\n[two words]\nstdin: [# Task\n\nMend a; $(x) {prompt}"),
            "{by_stdin}"
        );
        assert!(by_stdin.trim_end().ends_with(lab.prefix().trim_end_matches('/')), "{by_stdin}");
        let by_argument = told(&["-p", "{prompt}"]);
        assert!(by_argument.contains("[# Task\n\nMend a; $(x) {prompt}"), "{by_argument}");
        assert!(by_argument.contains("stdin: []"), "{by_argument}");
        let by_file = told(&["--file={prompt_file}"]);
        assert!(by_file.contains(".md]\nstdin: []\nfile: [# Task\n\nMend a;"), "{by_file}");
        assert!(by_file.contains("not ok") || by_file.contains("broken"), "it is told what fails: {by_file}");
    });
}

#[test]
fn a_prompt_from_a_file_and_from_standard_input() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        fs::write(lab.beside("task.md"), "Mend it by file.").expect("written");
        let script = lab.agent("cat > src/prompt.txt; echo ok > src/a; echo ok > src/prompt.txt");
        for (file, input, expected) in [("-", "Mend it by pipe.", "by pipe"), ("task", "", "by file")] {
            let path = lab.beside("task.md").to_string_lossy().into_owned();
            let file = if file == "-" { "-" } else { &path };
            let mut command = lab.binary(&[
                "loop",
                "--json",
                "--until",
                "sh ./check.sh",
                "--prompt-file",
                file,
                "--",
                &script,
            ]);
            let outcome = lab.outcome(&mut command, input.as_bytes());
            assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
            let prompts = fs::read_dir(outcome.directory().join("prompts")).expect("prompts").flatten();
            let text: String = prompts.map(|entry| fs::read_to_string(entry.path()).expect("text")).collect();
            assert!(text.contains(expected), "{text}");
        }
    });
}

#[test]
fn what_of_the_environment_is_seen() {
    both(|lab| {
        lab.put("goal.sh", "env > seen-by-check; grep -qx ok goal");
        lab.goal();
        lab.put("goal.sh", "grep -qx ok goal && { [ -z \"$SESSION_TOKEN\" ] || [ -n \"$WANTED\" ]; }");
        lab.commit("no token");
        let keep = lab.beside("env");
        let script =
            lab.agent(&format!("env > '{}'; echo \"$SESSION_TOKEN\"; echo ok > goal", keep.display()));
        for named in [false, true] {
            let mut arguments = vec!["loop", "--json", "--until", "sh ./goal.sh"];
            arguments.extend(if named { &["--env", "SESSION_TOKEN", "--env", "WANTED"][..] } else { &[] });
            arguments.extend(["--", &script]);
            let mut command = lab.binary(&arguments);
            command
                .env("SESSION_TOKEN", "hunter2-hunter2")
                .env("WANTED", "yes")
                .env("AWS_SECRET_ACCESS_KEY", "abcdefghijkl");
            let outcome = lab.outcome(&mut command, b"");
            assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
            let seen = fs::read_to_string(&keep).expect("seen");
            assert_eq!(seen.contains("hunter2"), named, "{seen}");
            assert!(
                !seen.contains("AWS_SECRET") && seen.contains("PATH=") && seen.contains("FIXPOINT_ATTEMPT=1")
            );
            // What is seen is still no part of what is kept.
            let logs = lab.call(&["logs", "--agent"]).stdout;
            assert!(!logs.contains("hunter2"), "{logs}");
        }
    });
}
