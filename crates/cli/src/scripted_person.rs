//! What a demonstration adds to a run: somebody whose answers are scripted, and a voice that says what happens.

use std::sync::Arc;

use fixpoint_consult::Person;
use fixpoint_engine::Record;
use fixpoint_ports::Cancel;
use fixpoint_runs::RunView;
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::ask::{PersonAnswer, PersonAsk, PersonAskKind, Remark};

use crate::display::Speaker;
use crate::output::harmless;

/// What a demonstration adds to a run.
pub(crate) trait DemoScript: std::fmt::Debug + Send + Sync {
    /// What the scripted person answers to the question of this number, from 0.
    fn answer(&self, number: usize) -> Option<&str>;

    /// What the scripted person is called.
    fn person(&self) -> &str;

    /// What is said when something was recorded, in lines; `view` is the run after it.
    fn comment(&self, record: &Record, view: RunView<'_>) -> Vec<String>;
}

/// A person whose answers are scripted, and who is shown as that.
#[derive(Debug)]
pub(crate) struct ScriptedPerson {
    pub(crate) speaker: Speaker,
    pub(crate) redactor: Redactor,
    pub(crate) script: Arc<dyn DemoScript>,
}

impl Person for ScriptedPerson {
    fn ask(&self, ask: &PersonAsk, _: &Cancel) -> PersonAnswer {
        match ask.kind {
            // No script agrees to anything.
            PersonAskKind::Approval => PersonAnswer::Nobody,
            PersonAskKind::Clarification => {
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
