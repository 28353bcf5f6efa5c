//! What a person asks for reaches the agent completely, or is rejected with the limit and the size.

use std::fs;

use super::lab::{Lab, both};
use crate::process::Ended;

const LIMIT: usize = 256 << 10;

fn rejected(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    let message = ended.stderr.lines().last().unwrap_or_default();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

/// A text of this size in which every line is different.
fn text_of(bytes: usize) -> String {
    let lines = (0..bytes / 10 + 1).map(|n| format!("wish {n:>5}\n"));
    lines.flat_map(String::into_bytes).take(bytes).map(char::from).collect()
}

fn with_file(lab: &Lab, arguments: &[&str], text: &str) -> Ended {
    let file = lab.beside("text.md");
    fs::write(&file, text).expect("written");
    let file = file.to_string_lossy().into_owned();
    let arguments: Vec<&str> =
        arguments.iter().map(|word| if *word == "FILE" { &*file } else { *word }).collect();
    lab.call(&arguments)
}

#[test]
fn a_prompt_over_the_limit_is_rejected() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let too_long = text_of(LIMIT + 1);
        let words = ["the prompt has 262,145 bytes", "the limit is 262,144", "shorten it"];
        let until = ["loop", "--until", "sh ./check.sh"];
        let by_file = [&until[..], &["--prompt-file", "FILE", "--", "true"]].concat();
        rejected(&with_file(lab, &by_file, &too_long), &words);
        let by_stdin = [&until[..], &["--prompt-file", "-", "--", "true"]].concat();
        rejected(&lab.run(&mut lab.binary(&by_stdin), too_long.as_bytes()), &words);
        let goal = ["run", "--no-plan", "--until", "sh ./check.sh", "--file", "FILE", "--", "true"];
        rejected(&with_file(lab, &goal, &too_long), &["the goal has 262,145 bytes", "the limit is 262,144"]);
        let latin1 = lab.beside("latin1.md");
        fs::write(&latin1, b"caf\xe9").expect("written");
        let latin1 = latin1.to_string_lossy().into_owned();
        let ended = lab.call(&[&until[..], &["--prompt-file", &latin1, "--", "true"]].concat());
        rejected(&ended, &["the prompt is not valid UTF-8 (at byte 3)"]);
        assert!(lab.call(&["list"]).stdout.is_empty(), "a run was recorded");
    });
}

/// Catches a prompt that is cut on its way to the agent.
#[test]
fn a_prompt_within_the_limit_arrives_completely() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let text = text_of(LIMIT);
        let kept = lab.beside("received");
        let agent = lab.agent(&format!("cat > '{}'; echo ok > src/a", kept.display()));
        let command = ["loop", "--json", "--until", "sh ./check.sh", "--prompt-file", "FILE", "--", &agent];
        let ended = with_file(lab, &command, &text);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let received = fs::read_to_string(kept).expect("received");
        assert!(received.contains(text.trim_end()), "{} bytes", received.len());
    });
}

/// Catches remarks that are cut, or dropped because there are many.
#[test]
fn remarks_over_the_limit_are_rejected_and_others_arrive_completely() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let kept = lab.beside("received");
        let script = format!("cat > '{}'; echo x >> notes", kept.display());
        lab.looping(&["--until", "sh ./check.sh", "--budget", "attempts=1"], &script);
        let long = text_of(33 << 10);
        let words = ["--say has 67,584 bytes", "earlier remarks on this run have 0", "the limit is 65,536"];
        rejected(&lab.call(&["resume", "--say", &long, "--say", &long]), &words);
        let remarks: Vec<String> = (0..12).map(|n| format!("remark {n}: {}", text_of(5000))).collect();
        let mut arguments = vec!["--budget", "attempts=+1"];
        arguments.extend(remarks.iter().flat_map(|remark| ["--say", remark.as_str()]));
        lab.resume(&arguments);
        let received = fs::read_to_string(&kept).expect("received");
        assert!(
            remarks.iter().all(|remark| received.contains(remark.trim_end())),
            "{} bytes",
            received.len()
        );
        let ended = lab.call(&["resume", "--budget", "attempts=+1", "--say", &text_of(9000)]);
        rejected(&ended, &["--say has 9,000 bytes", "the limit is 65,536"]);
    });
}
