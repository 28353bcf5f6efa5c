//! Answering one question of a run: a call of a model, a question to a person, or a look at the plan cache.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fixpoint_ports::{
    AnswerFormat, Cancel, CommitId, DiffStyle, Message, Model, ModelError, ModelFailure, ModelReply,
    ModelRequest, StopReason, Workspaces,
};
use fixpoint_prompts::{
    Attachments, Omission, Prompt, PromptTooLarge, TokenBudget, Unit, left_out, read, render,
};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::ask::{
    Ask, ModelAnswer, ParsedAnswer, PersonAnswer, PersonQuestion, QuestionKind, Role, SavedPlan,
};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::work::{CachedPlanMatch, CommandEnd, CommandId, CommandResult};

use crate::context::repository_context;
use crate::plan_cache::{PlanCache, PlanKey};

/// How much of an unreadable answer is recorded, for the model to correct and for people to read. In bytes.
const MAX_RECORDED_ANSWER: usize = 16 << 10;
/// How much of the agent's output a model may see, from its end. In bytes.
const MAX_AGENT_TEXT: u64 = 24 << 10;
/// How much of a diff is read, in bytes.
const MAX_DIFF: usize = 4 << 20;
/// The repository's description may take this fraction of the prompt.
const CONTEXT_FRACTION: u64 = 4;

pub type ModelsByRole = BTreeMap<Role, Arc<dyn Model>>;

/// Somebody who can answer questions.
pub trait Person: Send + Sync {
    /// Waits for the answer as long as the question allows.
    fn ask(&self, ask: &PersonQuestion, cancel: &Cancel) -> PersonAnswer;
}

/// What happens while a model is asked.
#[derive(Debug, Clone, Copy)]
pub enum AskProgress<'a> {
    Started(&'a AskStarted<'a>),
    /// A piece of the answer, as it streams in.
    Text(&'a str),
}

/// A question that is being sent.
#[derive(Debug)]
pub struct AskStarted<'a> {
    pub about: &'a QuestionKind,
    pub model: &'a str,
    /// The estimated tokens of the prompt.
    pub tokens: u64,
    /// What was left out of the prompt to stay within `models.max_prompt_tokens`.
    pub omissions: &'a [Omission],
}

/// Executes the commands of a run that are questions or concern the plan cache.
pub struct QuestionHandler {
    pub spec: RunSpec,
    pub models: ModelsByRole,
    pub workspaces: Arc<dyn Workspaces>,
    pub person: Arc<dyn Person>,
    pub plan_cache: PlanCache,
    pub redactor: Redactor,
    /// The file with what the agent of an attempt said.
    pub agent_text_file: Box<dyn Fn(CommandId) -> PathBuf + Send + Sync>,
    /// The directory in which prompts are stored.
    pub prompts: PathBuf,
    pub on_progress: Box<dyn Fn(AskProgress<'_>) + Send + Sync>,
    /// Descriptions of the repository, by commit.
    pub contexts: Mutex<BTreeMap<CommitId, Arc<str>>>,
}

impl std::fmt::Debug for QuestionHandler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("QuestionHandler")
            .field("plan_cache", &self.plan_cache)
            .finish_non_exhaustive()
    }
}

impl QuestionHandler {
    /// Executes a command; `None` where it is not a question and does not concern the plan cache.
    pub fn perform(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> Option<CommandEnd> {
        let result = match &command.action {
            PreparedAction::Ask(ask) => return Some(self.ask(id, ask, cancel)),
            PreparedAction::AskPerson(ask) => CommandResult::Person(self.person.ask(ask, cancel)),
            PreparedAction::FindCachedPlan => CommandResult::CachedPlan(self.cached_plan(command)),
            PreparedAction::StorePlan(plan) => {
                self.store_plan(command, plan.as_deref());
                CommandResult::PlanStored
            }
            PreparedAction::TakeBase
            | PreparedAction::RunChecks(_)
            | PreparedAction::RunAttempt(_)
            | PreparedAction::RestorePaths(_)
            | PreparedAction::FindProtected(..)
            | PreparedAction::Merge(_)
            | PreparedAction::Deliver(_) => return None,
        };
        Some(CommandEnd::Completed(result))
    }

    fn ask(&self, id: CommandId, ask: &Ask, cancel: &Cancel) -> CommandEnd {
        let role = ask.about.role();
        let Some(model) = self.models.get(&role) else {
            let why = format!("there is no model for the role `{}`; see `fixpoint doctor`", role.name());
            return self.unanswered("none", &why, Usage::default());
        };
        let prompt = match self.prompt(ask) {
            Ok(prompt) => prompt,
            Err(error) => return self.unanswered(model.name(), &error.to_string(), Usage::default()),
        };
        self.store_prompt(id, &prompt);
        let settings = &self.spec.settings.models;
        let request = ModelRequest {
            system: prompt.system.clone(),
            messages: Vec::from([Message::User(prompt.user.clone())]),
            tools: Vec::new(),
            format: AnswerFormat::Json {
                name: prompt.format_name.to_string(),
                schema: prompt.schema.clone(),
            },
            max_output_tokens: settings.max_output_tokens,
            deadline: self.deadline(&ask.about),
        };
        let started = AskStarted {
            about: &ask.about,
            model: model.name(),
            tokens: prompt.tokens(),
            omissions: &prompt.omissions,
        };
        (self.on_progress)(AskProgress::Started(&started));
        let on_text = &mut |text: &str| (self.on_progress)(AskProgress::Text(text));
        match model.ask(&request, cancel, on_text) {
            Ok(reply) => CommandEnd::Completed(CommandResult::Answer(self.answer(ask, model.name(), &reply))),
            Err(ModelFailure { error: ModelError::Cancelled, .. }) => CommandEnd::Cancelled,
            Err(failure) => self.unanswered(model.name(), &failure.error.to_string(), failure.usage),
        }
    }

    fn deadline(&self, about: &QuestionKind) -> Duration {
        let settings = &self.spec.settings;
        let own = if let QuestionKind::ReplanTask { .. } = about {
            settings.replanning.timeout_seconds
        } else {
            u32::MAX
        };
        let seconds = settings.models.timeout.min(own);
        Duration::from_secs(u64::from(seconds))
    }

    fn unanswered(&self, model: &str, why: &str, usage: Usage) -> CommandEnd {
        CommandEnd::Completed(CommandResult::Answer(ModelAnswer {
            model: model.to_string(),
            usage,
            reading: ParsedAnswer::Unanswered { why: self.redactor.redact(why) },
        }))
    }

    fn answer(&self, ask: &Ask, model: &str, reply: &ModelReply) -> ModelAnswer {
        let text = self.redactor.redact(&reply.text);
        let reading = match read(&ask.about, text.as_str()) {
            Ok(document) => ParsedAnswer::Document(document),
            Err(error) => {
                let cut_off = match reply.stop {
                    StopReason::Length => "the answer was cut off by the token limit; answer more briefly. ",
                    StopReason::Finished | StopReason::ToolCalls | StopReason::Declined => "",
                };
                ParsedAnswer::Unreadable {
                    problem: self.redactor.redact(&format!("{cut_off}{error}")),
                    text: self.redactor.redact(&shortened(text.as_str(), MAX_RECORDED_ANSWER)),
                }
            }
        };
        ModelAnswer { model: model.to_string(), usage: reply.usage, reading }
    }

    fn prompt(&self, ask: &Ask) -> Result<Prompt, PromptTooLarge> {
        let max_tokens = u64::from(self.spec.settings.models.max_prompt_tokens);
        let context = if shows_repository(&ask.about) {
            self.context(ask, max_tokens / CONTEXT_FRACTION)
        } else {
            None
        };
        let (diff, diff_lines_omitted) = self.diff(ask);
        let agent_text =
            ask.material.task.as_ref().and_then(|task| task.last_attempt).map(|id| self.agent_text(id));
        let attachments = Attachments {
            context: context.as_deref().unwrap_or_default(),
            diff: &diff,
            diff_lines_omitted,
            agent_text: agent_text.as_deref().unwrap_or_default(),
        };
        render(ask, &attachments, TokenBudget::new(max_tokens))
    }

    /// The description of the repository, made once for each commit.
    fn context(&self, ask: &Ask, tokens: u64) -> Option<Arc<str>> {
        let base = ask.material.base.as_ref()?;
        let contexts = || self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = contexts().get(base) {
            return Some(Arc::clone(known));
        }
        let text = repository_context(&*self.workspaces, base, tokens);
        let text: Arc<str> = Arc::from(self.redactor.redact(&text).as_str());
        contexts().insert(base.clone(), Arc::clone(&text));
        Some(text)
    }

    /// The diff the question is about, and how many of its lines are missing because it is too large.
    fn diff(&self, ask: &Ask) -> (String, u64) {
        let commits = match &ask.about {
            QuestionKind::JudgeTask { commit, origin, .. } | QuestionKind::JudgeWhole { commit, origin } => {
                Some((origin.clone(), commit.clone()))
            }
            QuestionKind::ReplanTask { .. } | QuestionKind::Reflect { .. } => {
                let task = ask.material.task.as_ref();
                task.and_then(|task| task.commits.clone()).map(|(commit, origin)| (origin, commit))
            }
            QuestionKind::Plan
            | QuestionKind::Understand
            | QuestionKind::Decompose
            | QuestionKind::Order
            | QuestionKind::JudgePlan { .. }
            | QuestionKind::Refine { .. } => None,
        };
        let Some((origin, commit)) = commits else { return (String::new(), 0) };
        match self.workspaces.diff(&origin, &commit, DiffStyle::Patch) {
            Ok(bytes) => {
                let (read, rest) = bytes.split_at_checked(MAX_DIFF).unwrap_or((&bytes, &[]));
                let omitted = rest.iter().filter(|byte| **byte == b'\n').count() as u64;
                (self.redactor.redact(&String::from_utf8_lossy(read)).to_string(), omitted)
            }
            // A judge that sees no diff would otherwise conclude that nothing was changed.
            Err(error) => (format!("(the diff could not be made: {error})"), 0),
        }
    }

    fn agent_text(&self, id: CommandId) -> String {
        let text = tail(&(self.agent_text_file)(id), MAX_AGENT_TEXT).unwrap_or_default();
        self.redactor.redact(&text).to_string()
    }

    /// A prompt can be made again from the journal, so an error here is not fatal.
    fn store_prompt(&self, id: CommandId, prompt: &Prompt) {
        let text = format!("{}\n\n---\n\n{}\n", prompt.system, prompt.user);
        if std::fs::create_dir_all(&self.prompts).is_ok() {
            drop(std::fs::write(self.prompts.join(format!("{id}.md")), text));
        }
    }

    fn cached_plan(&self, command: &PreparedCommand) -> CachedPlanMatch {
        match self.plan_key(command) {
            Some(key) => self.plan_cache.find(&key, &self.spec.settings.planning.cache),
            None => CachedPlanMatch::Nothing,
        }
    }

    fn store_plan(&self, command: &PreparedCommand, plan: Option<&SavedPlan>) {
        if let (Some(key), Some(plan)) = (self.plan_key(command), plan) {
            // A plan that could not be cached is made again next time.
            drop(self.plan_cache.store(&key, plan, &self.spec.settings.planning.cache));
        }
    }

    fn plan_key(&self, command: &PreparedCommand) -> Option<PlanKey> {
        let tree = command.tree.as_ref()?;
        Some(PlanKey {
            goal: self.spec.goal.clone(),
            tree: tree.to_string(),
            tools: command.tools.clone(),
            prompts: fixpoint_prompts::prompt_version().to_string(),
        })
    }
}

const fn shows_repository(about: &QuestionKind) -> bool {
    match about {
        QuestionKind::Plan
        | QuestionKind::Understand
        | QuestionKind::Decompose
        | QuestionKind::Refine { .. }
        | QuestionKind::JudgePlan { .. }
        | QuestionKind::ReplanTask { .. } => true,
        QuestionKind::Order
        | QuestionKind::JudgeTask { .. }
        | QuestionKind::JudgeWhole { .. }
        | QuestionKind::Reflect { .. } => false,
    }
}

/// The start of a text, with a note about the rest.
fn shortened(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let (start, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!("{start}\n{}", left_out(rest.chars().count() as u64, Unit::Characters))
}

/// The last bytes of a file from the start of a line, with a note about what comes before.
fn tail(path: &Path, max: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(max);
    let (mut before, mut bytes) = (Vec::new(), Vec::new());
    file.by_ref().take(skipped).read_to_end(&mut before)?;
    file.take(max).read_to_end(&mut bytes)?;
    if skipped == 0 {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let lines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
    // The first line is incomplete; it counts as left out, unless it is the only one.
    let (rest, lines) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if end + 1 < bytes.len() => (bytes.get(end + 1..).unwrap_or_default(), lines + 1),
        Some(_) | None => (bytes.as_slice(), lines),
    };
    let note = if lines == 0 { left_out(skipped, Unit::Characters) } else { left_out(lines, Unit::Lines) };
    Ok(format!("{note}\n{}", String::from_utf8_lossy(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(content: &str, max: u64) -> String {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("output.log");
        std::fs::write(&file, content).unwrap();
        tail(&file, max).unwrap()
    }

    #[test]
    fn a_tail_says_how_much_comes_before_it() {
        for (name, content, max, expected) in [
            ("complete", "one\ntwo\n", 8, "one\ntwo\n"),
            ("cut between lines", "one\ntwo\nthree\n", 10, "[… 2 lines left out …]\nthree\n"),
            ("cut inside a line", "one\ntwo\nthree\n", 7, "[… 2 lines left out …]\nthree\n"),
            ("one long line", "abcdefgh", 3, "[… 5 characters left out …]\nfgh"),
        ] {
            assert_eq!(tail_of(content, max), expected, "{name}");
        }
    }

    #[test]
    fn a_shortened_answer_says_how_much_is_missing() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("aé日本", 4), "aé\n[… 2 characters left out …]");
    }
}
