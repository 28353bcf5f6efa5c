//! The person at the terminal, or nobody.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_consult::Person;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::ask::{PersonAnswer, PersonAsk, PersonAskKind, Remark};

use crate::display::Speaker;
use crate::output::harmless;

/// Between two looks at whether a stop was asked for.
const PAUSE: Duration = Duration::from_millis(100);

/// Nobody: runs at night, in CI, with `--non-interactive`.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Person for Nobody {
    fn ask(&self, _: &PersonAsk, _: &Cancel) -> PersonAnswer {
        PersonAnswer::Nobody
    }
}

/// Whoever sits at the terminal.
#[derive(Debug)]
pub(crate) struct AtTerminal {
    speaker: Speaker,
    redactor: Redactor,
    name: String,
}

impl AtTerminal {
    pub(crate) const fn new(speaker: Speaker, redactor: Redactor, name: String) -> Self {
        Self { speaker, redactor, name }
    }
}

impl Person for AtTerminal {
    fn ask(&self, ask: &PersonAsk, cancel: &Cancel) -> PersonAnswer {
        let Some(typed) = typed() else { return PersonAnswer::Nobody };
        // One question at a time, and its time begins when it is put.
        let lines = typed.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + Duration::from_secs(u64::from(ask.within));
        forget(&lines);
        let by = self.redactor.redact(&self.name);
        self.speaker.say(&harmless(ask.about.as_str()));
        match ask.kind {
            PersonAskKind::Approval => {
                self.speaker.say("Agree? [y/N]");
                match next(&lines, until, cancel) {
                    Some(line) if matches!(line.trim().to_lowercase().as_str(), "y" | "yes" | "はい") => {
                        PersonAnswer::Approved { by }
                    }
                    Some(_) => PersonAnswer::Refused { by },
                    None => PersonAnswer::Nobody,
                }
            }
            PersonAskKind::Clarification => {
                let mut said = Vec::new();
                for question in &ask.questions {
                    self.speaker
                        .say(&format!("? {} (an empty line: you decide)", harmless(question.as_str())));
                    let Some(line) = next(&lines, until, cancel) else { break };
                    if !line.trim().is_empty() {
                        let text = self.redactor.redact(&format!("{question} — {}", line.trim()));
                        said.push(Remark { by: by.clone(), text });
                    }
                }
                if said.is_empty() { PersonAnswer::Nobody } else { PersonAnswer::Said(said) }
            }
        }
    }
}

/// What is typed, read by one thread for the whole process: a read of a terminal cannot be called off, and a second
/// reader would lose the line that the first one waits for.
fn typed() -> Option<&'static Mutex<Receiver<String>>> {
    static TYPED: OnceLock<Option<Mutex<Receiver<String>>>> = OnceLock::new();
    TYPED.get_or_init(|| File::open("/dev/tty").ok().map(|terminal| Mutex::new(lines_of(terminal)))).as_ref()
}

/// What was typed before a question was put answers nothing.
fn forget(lines: &Receiver<String>) {
    loop {
        match lines.try_recv() {
            Ok(_) => {}
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
        }
    }
}

/// Lines as they are typed.
fn lines_of(terminal: File) -> Receiver<String> {
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

fn next(lines: &Receiver<String>, until: Instant, cancel: &Cancel) -> Option<String> {
    while !cancel.is_asked() && Instant::now() < until {
        match lines.recv_timeout(PAUSE) {
            Ok(line) => return Some(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}
