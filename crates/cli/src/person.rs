//! Asks the person at the terminal; without a terminal, every question stays unanswered.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_consult::Person;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::ask::{PersonAnswer, PersonQuestion, PersonQuestionKind, Remark};
use fixpoint_vocabulary::{Lang, Redactor};

use crate::display::Speaker;
use crate::language::say;
use crate::terminal_text::harmless;

/// How often a wait checks for a stop.
const POLL: Duration = Duration::from_millis(100);

/// For runs in CI and with `--non-interactive`.
#[derive(Debug)]
pub(crate) struct NoPerson;

impl Person for NoPerson {
    fn ask(&self, _: &PersonQuestion, _: &Cancel) -> PersonAnswer {
        PersonAnswer::Nobody
    }
}

/// The person at the terminal.
#[derive(Debug)]
pub(crate) struct TerminalPerson {
    pub(crate) speaker: Speaker,
    pub(crate) redactor: Redactor,
    pub(crate) name: String,
    pub(crate) lang: Lang,
}

impl Person for TerminalPerson {
    fn ask(&self, ask: &PersonQuestion, cancel: &Cancel) -> PersonAnswer {
        let Some(terminal) = terminal_lines() else { return PersonAnswer::Nobody };
        // One question at a time; its time starts when it is shown.
        let lines = terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + Duration::from_secs(u64::from(ask.within));
        // Lines typed before the question was shown do not answer it.
        while lines.try_recv().is_ok() {}
        let by = self.redactor.redact(&self.name);
        self.speaker.say(&harmless(ask.about.as_str()));
        match ask.kind {
            PersonQuestionKind::Approval => {
                self.speaker.say(&say(self.lang, "Do you agree? [y/N]", "承認しますか？ [y/N]"));
                match next_line(&lines, until, cancel) {
                    Some(line) if matches!(line.trim().to_lowercase().as_str(), "y" | "yes" | "はい") => {
                        PersonAnswer::Approved { by }
                    }
                    Some(_) => PersonAnswer::Refused { by },
                    None => PersonAnswer::Nobody,
                }
            }
            PersonQuestionKind::Clarification => {
                let mut remarks = Vec::new();
                for question in &ask.questions {
                    let question_text = harmless(question.as_str());
                    self.speaker.say(&say(
                        self.lang,
                        format!("? {question_text} (press Enter to let the planner decide)"),
                        format!("? {question_text}（Enter だけを押すと計画者に任せます）"),
                    ));
                    let Some(line) = next_line(&lines, until, cancel) else { break };
                    if !line.trim().is_empty() {
                        let text = self.redactor.redact(&format!("{question} — {}", line.trim()));
                        remarks.push(Remark { by: by.clone(), text });
                    }
                }
                if remarks.is_empty() { PersonAnswer::Nobody } else { PersonAnswer::Said(remarks) }
            }
        }
    }
}

/// The lines typed at the terminal. One thread reads them for the whole process: reading a terminal cannot be cancelled,
/// and a second reader would lose the line that the first one waits for.
fn terminal_lines() -> Option<&'static Mutex<Receiver<String>>> {
    static LINES: OnceLock<Option<Mutex<Receiver<String>>>> = OnceLock::new();
    LINES
        .get_or_init(|| File::open("/dev/tty").ok().map(|terminal| Mutex::new(read_lines(terminal))))
        .as_ref()
}

fn read_lines(terminal: File) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(terminal).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn next_line(lines: &Receiver<String>, until: Instant, cancel: &Cancel) -> Option<String> {
    while !cancel.is_asked() && Instant::now() < until {
        match lines.recv_timeout(POLL) {
            Ok(line) => return Some(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}
