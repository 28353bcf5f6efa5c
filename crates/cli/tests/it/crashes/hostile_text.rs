//! Names and texts that would control a terminal: nothing of them reaches one, whatever command shows them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::scene::{Scene, name_in};
use crate::process::skipped;

/// A window title, a screen that is erased, a control character of UTF-8, a carriage return, another direction, a bell.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31mred\u{9d}0;t\u{9c}over\rwritten\u{202e}drawkcab\u{200b}\u{8}\u{1b}Pq\u{1b}\\";

/// What the binary shows on a terminal.
fn on_terminal(scene: &Scene, words: &[&str]) -> Option<Vec<u8>> {
    let all = [&[env!("CARGO_BIN_EXE_fixpoint")], words].concat();
    let line = shlex::try_join(all).expect("no NUL");
    let mut command = Command::new("script");
    command.args(["-qefc", &format!("exec {line}"), "/dev/null"]).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("SHELL", "/bin/sh");
    // Colours are our own.
    command
        .env("NO_COLOR", "1")
        .env("TERM", "dumb")
        .env("HOME", scene.path("home"))
        .env("XDG_CONFIG_HOME", scene.path("home"));
    command.env("XDG_STATE_HOME", &scene.state).env("XDG_CACHE_HOME", &scene.cache);
    command.current_dir(scene.repository()).stdin(Stdio::null());
    match command.output() {
        Ok(ended) => Some(ended.stdout),
        Err(_) => {
            skipped("this test makes a terminal with `script` of util-linux, which is not there");
            None
        }
    }
}

/// What a terminal would obey in what was shown. The terminal itself ends each line with a carriage return.
fn obeyed(shown: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(shown).replace("\r\n", "\n");
    let is_hostile = |letter: &char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}')
    };
    text.lines()
        .filter(|line| line.chars().any(|letter| is_hostile(&letter)))
        .map(|line| format!("{line:?}"))
        .collect()
}

#[test]
fn nothing_that_a_terminal_obeys_reaches_it() {
    let scene = Scene::new();
    let agent = format!(
        "#!/bin/sh\nprintf '%s\\n' '{HOSTILE}'\nmkdir -p parts '{HOSTILE}'\nprintf '%s\\n' '{HOSTILE}' >'{HOSTILE}/file'\n\
         [ \"$FIXPOINT_ATTEMPT\" = 1 ] || touch parts/1 parts/2 parts/3\n"
    );
    scene.write("agent.sh", &agent);
    fs::set_permissions(scene.path("agent.sh"), fs::Permissions::from_mode(0o755)).expect("executable");
    scene.write(
        "repository/hostile.sh",
        &format!("printf '%s\\n' '1..1' 'not ok 1 - {HOSTILE}'\n[ -f parts/1 ]\n"),
    );
    let agent = scene.path("agent.sh").to_string_lossy().into_owned();
    let prompt = format!("goal {HOSTILE}");
    let until = ["loop", "--json", "--until", "sh hostile.sh; test -f parts/1", "--prompt", &prompt];
    let ended = scene.run(&[&until[..], &["--budget", "attempts=1", "--", &agent]].concat());
    let run = name_in(&ended);
    let mut commands: Vec<Vec<&str>> = ["status", "show", "explain", "history", "logs", "diff", "replay"]
        .iter()
        .map(|name| vec![*name])
        .collect();
    commands.extend(
        ["status", "show", "explain", "history", "logs", "diff"].iter().map(|name| vec![*name, "--json"]),
    );
    commands.extend([vec!["list"], vec!["list", "--json"], vec!["logs", "-f"], vec!["diff", "--stat"]]);
    commands.extend([vec!["rm", &run], vec!["gc", "--days", "0"], vec!["show", HOSTILE], vec![HOSTILE]]);
    commands.push(vec!["resume", "--budget", "attempts=+1"]);
    commands.extend([vec!["show"], vec!["apply"]]);
    for words in commands {
        let Some(shown) = on_terminal(&scene, &words) else { return };
        assert!(!shown.is_empty(), "{words:?}");
        let obeyed = obeyed(&shown);
        assert!(obeyed.is_empty(), "{words:?}:\n{}", obeyed.join("\n"));
    }
    // A file gets everything, a terminal nothing.
    let raw = scene.run(&["logs", "--raw", "--agent"]);
    assert!(raw.stdout.contains(HOSTILE), "{raw:?}");
    assert!(!scene.run(&["logs", "--agent"]).stdout.contains('\u{1b}'));
    let refused = on_terminal(&scene, &["logs", "--raw"]).expect("a terminal");
    assert!(String::from_utf8_lossy(&refused).contains("--raw > FILE"), "{refused:?}");
}
