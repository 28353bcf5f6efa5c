//! Building the prompt of a question.
//!
//! Owns which sections each question has and how large they may be. The template names the sections; this file says where
//! their text comes from. Refuses to gather anything: diffs, agent output and the repository's context are passed in.
//!
//! Invariants: text of others enters only as a [`Section`], which quotes it; what a person wrote is complete.

use fixpoint_vocabulary::ask::{Ask, Material, PersonPresence, QuestionKind, TaskMaterial, TaskQuestion};
use fixpoint_vocabulary::settings::{DecompositionLevel, ReflectionDepth, Strategy};
use serde_json::Value;

use crate::budget::{Overflow, PromptTooLarge, Section, SectionKind, TokenBudget, allocate};
use crate::omission::Omission;
use crate::schema::schema_for;
use crate::section_text;
use crate::template::{Values, fill};
use crate::templates::{NO_QUESTIONS, REPAIR, STRATEGY, TASK_FIELDS, instructions, template};
use crate::tokens::estimate_tokens;

/// Texts that were gathered for a question. Credentials must already be removed from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attachments<'a> {
    /// A description of the repository.
    pub context: &'a str,
    /// What the task, or the whole run, changed.
    pub diff: &'a str,
    /// Lines of the diff that are not in `diff`, since it was too large to be read.
    pub diff_lines_omitted: u64,
    /// The end of the agent's messages; for agents without structured output, of everything it printed.
    pub agent_text: &'a str,
}

/// What is sent to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The instructions, the same for all questions to a role.
    pub system: String,
    /// The question.
    pub user: String,
    /// A short name for the format of the answer.
    pub format_name: &'static str,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// What was left out to stay within the budget.
    pub omissions: Vec<Omission>,
}

impl Prompt {
    /// The estimated tokens of the whole prompt.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(&self.system)
            + estimate_tokens(&self.user)
            + estimate_tokens(&self.schema.to_string())
    }
}

const fn section(name: &'static str, heading: &'static str, priority: u8, min_share: u64) -> SectionKind {
    SectionKind { name, heading, priority, min_share, overflow: Overflow::KeepStart }
}

/// Text that a person wrote.
const fn from_person(name: &'static str, heading: &'static str) -> SectionKind {
    SectionKind { name, heading, priority: 0, min_share: 0, overflow: Overflow::Reject }
}

/// Every section a prompt may have.
pub(crate) const SECTIONS: [SectionKind; 21] = [
    from_person("goal", "The user's goal"),
    from_person("remarks", "User remarks"),
    section("problem", "Why it was rejected", 0, 5),
    section("task", "The task", 1, 12),
    section("check_results", "Check results", 2, 3),
    section("tasks", "The plan's tasks", 2, 12),
    section("task_results", "The tasks and their results", 2, 15),
    section("issues", "Issues", 2, 5),
    section("result", "Result", 2, 10),
    section("suggestions", "Suggestions", 3, 4),
    section("understanding", "The goal as understood", 3, 3),
    section("failures", "Failures", 3, 5),
    section("last_judgement", "The last judgement", 3, 3),
    section("tools", "Tools", 3, 2),
    section("checks", "The project's checks", 3, 2),
    section("out_of_scope", "Changed outside the scope", 4, 2),
    SectionKind { overflow: Overflow::KeepHunks, ..section("diff", "The diff", 4, 15) },
    section("actions", "Planned actions", 5, 3),
    SectionKind { overflow: Overflow::KeepEnd, ..section("agent_text", "End of the agent's output", 5, 3) },
    section("context", "The repository", 6, 3),
    section("draft", "Draft", 7, 1),
];

/// The rejected answer to the same question, for the model to correct.
const LAST_ANSWER: SectionKind = section("last_answer", "Your last answer", 6, 5);

/// The placeholders for our own words.
#[cfg(test)]
pub(crate) const OWN: &str = "strategy no_questions task_fields repair last_answer max_tasks chain_of_thought hierarchical \
                              simple detailed moderate minimal nobody_to_ask states_assumptions decides_itself \
                              ask_acceptance ask_worth shallow not_shallow deep";

/// The prompt for a question.
///
/// # Errors
///
/// [`PromptTooLarge`] where the goal and the remarks do not fit into the budget.
pub fn render(
    ask: &Ask,
    attachments: &Attachments<'_>,
    budget: TokenBudget,
) -> Result<Prompt, PromptTooLarge> {
    let material = &ask.material;
    let prompt = Prompt {
        system: instructions(ask.about.role()).trim_end().to_string(),
        user: String::new(),
        format_name: ask.about.name(),
        schema: schema_for(&ask.about, material.style.strategy),
        omissions: Vec::new(),
    };
    let sections = sections(ask, attachments);
    let hints = section_text::hints(material.task.iter().chain(&material.outcomes));
    let write = |quoted: Vec<String>| {
        let mut values = own_values(&ask.about, material);
        values.extend(sections.iter().map(Section::name).zip(quoted));
        values.insert("repair", fill(REPAIR, &values));
        without_blank_lines(&fill(template(&ask.about), &values))
    };
    let frame = estimate_tokens(&write(sections.iter().map(Section::frame).collect()));
    let mut room = budget.get().saturating_sub(prompt.tokens() + frame);
    loop {
        let allocated = allocate(&sections, room).map_err(|tokens| PromptTooLarge {
            tokens,
            room,
            budget: budget.get(),
        })?;
        let quoted = sections.iter().zip(allocated).map(|(section, tokens)| section.quoted(tokens, &hints));
        let (texts, omissions): (Vec<String>, Vec<Option<Omission>>) =
            quoted.map(|quoted| (quoted.text, quoted.omission)).unzip();
        let omissions = omissions.into_iter().flatten().collect();
        let written = Prompt { user: write(texts), omissions, ..prompt.clone() };
        let excess = written.tokens().saturating_sub(budget.get());
        if excess == 0 || room == 0 {
            return Ok(written);
        }
        // The estimates of the sections add up, so this is not expected; but a prompt over the budget would be refused.
        room = room.saturating_sub(excess.max(room / 16));
    }
}

/// Without the blank lines that absent sections leave.
fn without_blank_lines(text: &str) -> String {
    // Quoted text may contain blank lines of its own, so only the text before the first section is changed.
    let (own, rest) = match text.find("(data only") {
        Some(at) => text.split_at_checked(at).unwrap_or((text, "")),
        None => (text, ""),
    };
    let mut own = own.to_string();
    while own.contains("\n\n\n") {
        own = own.replace("\n\n\n", "\n\n");
    }
    format!("{own}{}", rest.trim_end())
}

fn own_values(about: &QuestionKind, material: &Material) -> Values {
    let style = &material.style;
    let mut values = Values::from([
        ("task_fields", TASK_FIELDS.trim_end().to_string()),
        ("max_tasks", material.max_tasks.max(1).to_string()),
    ]);
    let mut enable = |name: &'static str| values.insert(name, "yes".to_string());
    match style.strategy {
        Strategy::ChainOfThought => enable("chain_of_thought"),
        Strategy::Hierarchical => enable("hierarchical"),
        Strategy::Simple => enable("simple"),
    };
    match style.level {
        DecompositionLevel::Detailed => enable("detailed"),
        DecompositionLevel::Moderate => enable("moderate"),
        DecompositionLevel::Minimal => enable("minimal"),
    };
    match material.person {
        PersonPresence::Available => {}
        PersonPresence::Unavailable => {
            enable("nobody_to_ask");
        }
    }
    match style.depth {
        ReflectionDepth::Shallow => enable("shallow"),
        ReflectionDepth::Moderate => enable("not_shallow"),
        ReflectionDepth::Deep => {
            enable("deep");
            enable("not_shallow")
        }
    };
    match about {
        QuestionKind::Plan | QuestionKind::Understand => enable("states_assumptions"),
        // These answers have no `goal_understanding` that could hold assumptions.
        QuestionKind::Decompose
        | QuestionKind::Order
        | QuestionKind::Refine { .. }
        | QuestionKind::ReplanTask { .. } => enable("decides_itself"),
        QuestionKind::JudgeTask { question: TaskQuestion::Acceptance, .. } => enable("ask_acceptance"),
        QuestionKind::JudgeTask { question: TaskQuestion::WorthGoingOn, .. } => enable("ask_worth"),
        QuestionKind::JudgePlan { .. } | QuestionKind::JudgeWhole { .. } | QuestionKind::Reflect { .. } => {
            None
        }
    };
    for (name, template) in [("strategy", STRATEGY), ("no_questions", NO_QUESTIONS)] {
        let filled = fill(template, &values).trim().to_string();
        values.insert(name, filled);
    }
    values
}

fn sections(ask: &Ask, attachments: &Attachments<'_>) -> Vec<Section> {
    let template = template(&ask.about);
    let is_shown = |kind: &&SectionKind| {
        template.contains(&format!("{{{{{}}}}}", kind.name)) && !is_hidden(kind.name, ask)
    };
    let omitted = |kind: &SectionKind| if kind.name == "diff" { attachments.diff_lines_omitted } else { 0 };
    let mut sections: Vec<Section> = SECTIONS
        .iter()
        .filter(is_shown)
        .map(|kind| (kind, text_of(kind.name, ask, attachments)))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(kind, text)| Section::new(*kind, &text).with_omitted(omitted(kind)))
        .collect();
    if let Some(repair) = &ask.repair {
        let problem = SECTIONS.iter().filter(|kind| kind.name == "problem");
        sections.extend(problem.map(|kind| Section::new(*kind, repair.problem.as_str())));
        sections.push(Section::new(LAST_ANSWER, repair.answer.as_str()));
    }
    sections
}

/// Sections that a reflection of less than full depth does not have.
fn is_hidden(name: &str, ask: &Ask) -> bool {
    let QuestionKind::Reflect { .. } = ask.about else { return false };
    match ask.material.style.depth {
        ReflectionDepth::Deep => false,
        ReflectionDepth::Moderate => ["diff", "agent_text", "tasks"].contains(&name),
        ReflectionDepth::Shallow => !["goal", "task", "remarks", "actions"].contains(&name),
    }
}

/// The text of a section; empty where it is left out.
fn text_of(name: &str, ask: &Ask, attachments: &Attachments<'_>) -> String {
    let material = &ask.material;
    let of_task = |text: fn(&TaskMaterial) -> String| material.task.as_ref().map(text).unwrap_or_default();
    let or_none = |text: String| if text.trim().is_empty() { section_text::NONE.to_string() } else { text };
    match name {
        "goal" => or_none(material.goal.to_string()),
        "remarks" => section_text::remarks(&material.remarks),
        "understanding" => section_text::understanding(material.understanding.as_ref()),
        "tasks" => or_none(section_text::tasks(&material.tasks)),
        "actions" => section_text::actions(&material.actions),
        "draft" => section_text::draft(material.draft.as_ref()),
        "issues" => or_none(section_text::list(&material.issues)),
        "suggestions" => or_none(section_text::list(&material.suggestions)),
        "tools" => section_text::names(&material.tools),
        "checks" => section_text::list(&material.checks),
        "task" if is_hidden("result", ask) => or_none(of_task(section_text::status)),
        "task" => or_none(of_task(section_text::task)),
        "failures" => of_task(|task| section_text::failures(&task.failures)),
        "out_of_scope" => of_task(|task| section_text::list(&task.outside)),
        "check_results" => of_task(|task| section_text::checks(&task.checks)),
        "last_judgement" => of_task(section_text::last_judgement),
        "result" => of_task(section_text::result),
        "task_results" => or_none(section_text::task_results(&material.outcomes)),
        "context" => attachments.context.to_string(),
        "diff" => {
            let is_judged =
                matches!(ask.about, QuestionKind::JudgeTask { .. } | QuestionKind::JudgeWhole { .. });
            if is_judged { or_none(attachments.diff.to_string()) } else { attachments.diff.to_string() }
        }
        "agent_text" => attachments.agent_text.to_string(),
        _ => String::new(),
    }
}
