//! One question, from the record to the record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fixpoint_ports::{
    AnswerFormat, Cancel, CommitId, DiffStyle, Message, Model, ModelError, ModelFailure, ModelReply,
    ModelRequest, StopReason, Workspaces,
};
use fixpoint_prompts::{Given, Prompt, TokenBudget, read, render};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::ask::{About, Ask, Draft, ModelAnswer, PersonAnswer, PersonAsk, Reading, Role};
use fixpoint_vocabulary::brief::Brief;
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::work::{CommandEnd, CommandId, CommandResult, Recalled};

use crate::context::repository_context;
use crate::memory::{PlanKey, PlanMemory};

/// Of an answer that cannot be read, so much is kept for the model to mend and for people to look at.
const KEPT_ANSWER: usize = 16 << 10;
/// The end of what an agent said that a model may be shown.
const WORDS_SHOWN: u64 = 24 << 10;
/// A larger diff is cut before it is even looked at.
const LARGEST_DIFF: usize = 4 << 20;
/// The share of a prompt that the repository may take.
const CONTEXT_SHARE: u64 = 4;

/// The models of the roles.
pub type Advisers = BTreeMap<Role, Arc<dyn Model>>;

/// Somebody who can be asked.
pub trait Person: Send + Sync {
    /// Asks, and waits as long as the question says.
    fn ask(&self, ask: &PersonAsk, cancel: &Cancel) -> PersonAnswer;
}

/// What is heard of a question while it is under way.
#[derive(Debug, Clone, Copy)]
pub enum Hearing<'a> {
    /// It was put.
    Asked(&'a Asked<'a>),
    /// Words of the answer, as they come.
    Words(&'a str),
}

/// A question that was put.
#[derive(Debug)]
pub struct Asked<'a> {
    /// What about.
    pub about: &'a About,
    /// The model.
    pub model: &'a str,
    /// Tokens of the prompt, about.
    pub tokens: u64,
}

/// Puts questions to models and people.
pub struct Consultant {
    /// What the run was asked to do.
    pub brief: Brief,
    /// The models.
    pub advisers: Advisers,
    /// The user's repository.
    pub workspaces: Arc<dyn Workspaces>,
    /// Who can be asked.
    pub person: Arc<dyn Person>,
    /// Plans of this repository.
    pub memory: PlanMemory,
    /// Takes credentials out.
    pub redactor: Redactor,
    /// Where it is written what the agent of an attempt said.
    pub words_of: Box<dyn Fn(CommandId) -> PathBuf + Send + Sync>,
    /// Where prompts are kept.
    pub prompts: PathBuf,
    /// Hears what happens.
    pub hearing: Box<dyn Fn(Hearing<'_>) + Send + Sync>,
    /// The repository as planners see it, by commit.
    pub seen: Mutex<BTreeMap<CommitId, Arc<str>>>,
}

impl std::fmt::Debug for Consultant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Consultant").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl Consultant {
    /// Executes a command that is a question or about cached plans; `None` where it is neither.
    pub fn perform(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> Option<CommandEnd> {
        let result = match &command.action {
            PreparedAction::Ask(ask) => return Some(self.ask(id, ask, cancel)),
            PreparedAction::AskPerson(ask) => CommandResult::Person(self.person.ask(ask, cancel)),
            PreparedAction::FindCachedPlan => CommandResult::Recalled(self.recall(command)),
            PreparedAction::StorePlan(plan) => {
                self.keep(command, plan.as_deref());
                CommandResult::Kept
            }
            PreparedAction::TakeBase
            | PreparedAction::RunChecks(_)
            | PreparedAction::RunAttempt(_)
            | PreparedAction::Graft(_)
            | PreparedAction::Merge(_)
            | PreparedAction::Deliver(_) => return None,
        };
        Some(CommandEnd::Completed(result))
    }

    fn ask(&self, id: CommandId, ask: &Ask, cancel: &Cancel) -> CommandEnd {
        let role = ask.about.role();
        let Some(model) = self.advisers.get(&role) else {
            let why = format!("no model plays the role `{}`; see `fixpoint doctor`", role.name());
            return self.unanswered("none", &why, Usage::default());
        };
        let prompt = self.prompt(ask);
        self.keep_prompt(id, &prompt);
        let settings = &self.brief.settings.models;
        let request = ModelRequest {
            system: prompt.system.clone(),
            messages: Vec::from([Message::User(prompt.user.clone())]),
            tools: Vec::new(),
            format: AnswerFormat::Json { name: prompt.form_name.to_string(), schema: prompt.schema.clone() },
            max_output_tokens: settings.max_output_tokens,
            deadline: self.deadline(&ask.about),
        };
        let asked = Asked { about: &ask.about, model: model.name(), tokens: prompt.tokens() };
        (self.hearing)(Hearing::Asked(&asked));
        let heard = &mut |words: &str| (self.hearing)(Hearing::Words(words));
        match model.ask(&request, cancel, heard) {
            Ok(reply) => CommandEnd::Completed(CommandResult::Answer(self.answer(ask, model.name(), &reply))),
            Err(ModelFailure { error: ModelError::Cancelled, .. }) => CommandEnd::Cancelled,
            Err(unanswered) => self.unanswered(model.name(), &unanswered.error.to_string(), unanswered.usage),
        }
    }

    fn deadline(&self, about: &About) -> Duration {
        let settings = &self.brief.settings;
        let own =
            if let About::ReplanTask { .. } = about { settings.replanning.timeout_seconds } else { u32::MAX };
        let seconds = settings.models.timeout.min(own);
        Duration::from_secs(u64::from(seconds))
    }

    fn unanswered(&self, model: &str, why: &str, usage: Usage) -> CommandEnd {
        CommandEnd::Completed(CommandResult::Answer(ModelAnswer {
            model: model.to_string(),
            usage,
            reading: Reading::Unanswered { why: self.redactor.redact(why) },
        }))
    }

    fn answer(&self, ask: &Ask, model: &str, reply: &ModelReply) -> ModelAnswer {
        let text = self.redactor.redact(&reply.text);
        let reading = match read(&ask.about, text.as_str()) {
            Ok(document) => Reading::Document(document),
            Err(problem) => {
                let cut_short = match reply.stop {
                    StopReason::Length => {
                        "the answer was cut short by its limit of tokens; answer more briefly. "
                    }
                    StopReason::Finished | StopReason::ToolCalls | StopReason::Declined => "",
                };
                Reading::Unreadable {
                    problem: self.redactor.redact(&format!("{cut_short}{problem}")),
                    text: self.redactor.redact(beginning(text.as_str(), KEPT_ANSWER)),
                }
            }
        };
        ModelAnswer { model: model.to_string(), usage: reply.usage, reading }
    }

    fn prompt(&self, ask: &Ask) -> Prompt {
        let most = u64::from(self.brief.settings.models.max_prompt_tokens);
        let context =
            if shows_repository(&ask.about) { self.context(ask, most / CONTEXT_SHARE) } else { None };
        let diff = self.diff(ask);
        let words = ask.material.task.as_ref().and_then(|task| task.last_attempt).map(|id| self.words(id));
        let given = Given {
            context: context.as_deref().unwrap_or_default(),
            diff: &diff,
            words: words.as_deref().unwrap_or_default(),
        };
        render(ask, &given, TokenBudget::new(most))
    }

    /// The repository as a planner sees it; looked at once for each commit.
    fn context(&self, ask: &Ask, tokens: u64) -> Option<Arc<str>> {
        let base = ask.material.base.as_ref()?;
        let seen = |seen: &Mutex<BTreeMap<CommitId, Arc<str>>>| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).get(base).cloned()
        };
        if let Some(known) = seen(&self.seen) {
            return Some(known);
        }
        let text = repository_context(&*self.workspaces, base, tokens);
        let text: Arc<str> = Arc::from(self.redactor.redact(&text).as_str());
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(base.clone(), Arc::clone(&text));
        Some(text)
    }

    /// What was changed, where the question is about that.
    fn diff(&self, ask: &Ask) -> String {
        let commits = match &ask.about {
            About::JudgeTask { commit, origin, .. } | About::JudgeWhole { commit, origin } => {
                Some((origin.clone(), commit.clone()))
            }
            About::ReplanTask { .. } | About::Reflect { .. } => {
                let task = ask.material.task.as_ref();
                task.and_then(|task| task.commits.clone()).map(|(commit, origin)| (origin, commit))
            }
            About::Plan
            | About::Understand
            | About::Decompose
            | About::Order
            | About::JudgePlan { .. }
            | About::Refine { .. } => None,
        };
        let Some((origin, commit)) = commits else { return String::new() };
        match self.workspaces.diff(&origin, &commit, DiffStyle::Patch) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(bytes.get(..LARGEST_DIFF).unwrap_or(&bytes)).into_owned();
                self.redactor.redact(&text).to_string()
            }
            // A judge that sees no diff must be told so, or it would take it for no change.
            Err(error) => format!("(the diff cannot be shown: {error})"),
        }
    }

    fn words(&self, id: CommandId) -> String {
        let text = tail(&(self.words_of)(id), WORDS_SHOWN).unwrap_or_default();
        self.redactor.redact(&text).to_string()
    }

    /// A prompt can be made again from the record, so that it cannot be kept ends nothing.
    fn keep_prompt(&self, id: CommandId, prompt: &Prompt) {
        let text = format!("{}\n\n---\n\n{}\n", prompt.system, prompt.user);
        if std::fs::create_dir_all(&self.prompts).is_ok() {
            drop(std::fs::write(self.prompts.join(format!("{id}.md")), text));
        }
    }

    fn recall(&self, command: &PreparedCommand) -> Recalled {
        match self.key(command) {
            Some(key) => self.memory.recall(&key, &self.brief.settings.planning.cache),
            None => Recalled::Nothing,
        }
    }

    fn keep(&self, command: &PreparedCommand, plan: Option<&Draft>) {
        if let (Some(key), Some(plan)) = (self.key(command), plan) {
            // A plan that cannot be kept is made again another time.
            drop(self.memory.keep(&key, plan, &self.brief.settings.planning.cache));
        }
    }

    fn key(&self, command: &PreparedCommand) -> Option<PlanKey> {
        let tree = command.tree.as_ref()?;
        Some(PlanKey {
            goal: self.brief.goal.clone(),
            tree: tree.to_string(),
            tools: command.tools.clone(),
            prompts: fixpoint_prompts::prompt_version().to_string(),
        })
    }
}

const fn shows_repository(about: &About) -> bool {
    match about {
        About::Plan
        | About::Understand
        | About::Decompose
        | About::Refine { .. }
        | About::JudgePlan { .. }
        | About::ReplanTask { .. } => true,
        About::Order | About::JudgeTask { .. } | About::JudgeWhole { .. } | About::Reflect { .. } => false,
    }
}

fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The last bytes of a file, as text.
fn tail(path: &Path, most: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
