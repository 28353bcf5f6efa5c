//! What a demo adds to a run: a person whose answers are scripted, and explanations of what happens.

use std::sync::Arc;

use fixpoint_consult::Person;
use fixpoint_engine::Record;
use fixpoint_ports::Cancel;
use fixpoint_runs::RunView;
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::ask::{PersonAnswer, PersonQuestion, PersonQuestionKind, Remark};

use crate::display::Speaker;
use crate::terminal_text::harmless;

pub(crate) trait DemoScript: std::fmt::Debug + Send + Sync {
    /// The answer to a question, by its number from 0.
    fn answer(&self, number: usize) -> Option<&str>;

    /// The name of the scripted person.
    fn person(&self) -> &str;

    /// Lines that explain what was just recorded; `view` is the run after it.
    fn comment(&self, record: &Record, view: RunView<'_>) -> Vec<String>;
}

#[derive(Debug)]
pub(crate) struct ScriptedPerson {
    pub(crate) speaker: Speaker,
    pub(crate) redactor: Redactor,
    pub(crate) script: Arc<dyn DemoScript>,
}

impl Person for ScriptedPerson {
    fn ask(&self, ask: &PersonQuestion, _: &Cancel) -> PersonAnswer {
        match ask.kind {
            // A script never approves anything.
            PersonQuestionKind::Approval => PersonAnswer::Nobody,
            PersonQuestionKind::Clarification => {
                self.speaker.say(&harmless(ask.about.as_str()));
                let by = self.redactor.redact(self.script.person());
                let answered = ask.questions.iter().enumerate().filter_map(|(number, question)| {
                    let answer = self.script.answer(number)?;
                    self.speaker.say(&format!("? {}", harmless(question.as_str())));
                    self.speaker.say(&format!("  {by}: {answer}"));
                    let text = self.redactor.redact(&format!("{question} — {answer}"));
                    Some(Remark { by: by.clone(), text })
                });
                let said: Vec<Remark> = answered.collect();
                if said.is_empty() { PersonAnswer::Nobody } else { PersonAnswer::Said(said) }
            }
        }
    }
}
