//! A question, as a prompt.
//!
//! Owns which texts each question shows and how large they may be. The template says which parts there are; this file
//! says where each comes from. Refuses to gather anything: diffs, logs and the repository's context are handed in.
//!
//! Invariant: foreign text enters only as [`Part`]s, which quote it.

use fixpoint_vocabulary::ask::{About, Ask, Asking, Material, TaskMaterial, TaskQuestion};
use fixpoint_vocabulary::settings::{DecompositionLevel, ReflectionDepth, Strategy};
use serde_json::Value;

use crate::cut::{Keep, Part, PartKind, TokenBudget, grants};
use crate::schema::schema_for;
use crate::template::{Values, fill};
use crate::templates::{ASKING, MANNER, REPAIR, TASK_FIELDS, instructions, template};
use crate::tokens::estimate_tokens;
use crate::words;

/// Texts that were gathered for a question. Credentials must have been taken out of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given<'g> {
    /// The repository, as the planner is shown it.
    pub context: &'g str,
    /// What the task, or the whole, changed.
    pub diff: &'g str,
    /// The end of what the agent said; of one that tells its words in no way of its own, of what it printed.
    pub words: &'g str,
}

/// What is sent to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Instructions, the same for all questions to a role.
    pub system: String,
    /// The question.
    pub user: String,
    /// A short name for the form of the answer.
    pub form_name: &'static str,
    /// The JSON Schema of the answer.
    pub schema: Value,
}

impl Prompt {
    /// Tokens of the whole, about.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(&self.system)
            + estimate_tokens(&self.user)
            + estimate_tokens(&self.schema.to_string())
    }
}

const fn part(name: &'static str, heading: &'static str, rank: u8, share: u64) -> PartKind {
    PartKind { name, heading, rank, share, keep: Keep::Beginning }
}

/// Every foreign text a prompt may hold.
pub(crate) const PARTS: [PartKind; 21] = [
    part("problem", "What was wrong with it", 0, 5),
    part("goal", "The user's goal", 1, 15),
    part("task", "The task", 1, 12),
    part("outcomes_of_checks", "What the checks showed", 2, 3),
    part("tasks", "The plan's tasks", 2, 12),
    part("outcomes", "The tasks and what became of them", 2, 15),
    part("issues", "Issues held against it", 2, 5),
    part("suggestions", "Suggestions", 3, 4),
    part("remarks", "Remarks of people", 3, 5),
    part("understanding", "What is wanted, as understood", 3, 3),
    part("failures", "What fails", 3, 5),
    part("previous", "The judge's last words", 3, 3),
    part("tools", "Tools", 3, 2),
    part("checks", "The project's own checks", 3, 2),
    part("result", "What came of it", 2, 10),
    part("outside", "Changed outside the scope", 4, 2),
    PartKind { keep: Keep::Hunks, ..part("diff", "The diff", 4, 15) },
    part("actions", "Its actions", 5, 3),
    PartKind { keep: Keep::End, ..part("words", "The end of what the agent said", 5, 3) },
    part("context", "The repository", 6, 3),
    part("draft", "Draft", 7, 1),
];

/// The last answer to the same question, for the model to mend.
const LAST_ANSWER: PartKind = part("last_answer", "Your last answer", 6, 5);

/// The names of our own words in templates.
#[cfg(test)]
pub(crate) const OWN: [&str; 20] = [
    "manner",
    "asking",
    "task_fields",
    "repair",
    "last_answer",
    "max_tasks",
    "chain_of_thought",
    "hierarchical",
    "simple",
    "detailed",
    "moderate",
    "minimal",
    "nobody_there",
    "states_assumptions",
    "decides_itself",
    "ask_acceptance",
    "ask_worth",
    "shallow",
    "not_shallow",
    "deep",
];

/// The prompt for a question.
pub fn render(ask: &Ask, given: &Given<'_>, budget: TokenBudget) -> Prompt {
    let material = &ask.material;
    let prompt = Prompt {
        system: instructions(ask.about.role()).trim_end().to_string(),
        user: String::new(),
        form_name: ask.about.name(),
        schema: schema_for(&ask.about, material.manner.strategy),
    };
    let parts = parts(ask, given);
    let hints = words::hints(material.task.iter().chain(&material.outcomes));
    let write = |quotations: Vec<String>| {
        let mut values = own_values(&ask.about, material);
        values.extend(parts.iter().map(Part::name).zip(quotations));
        values.insert("repair", fill(REPAIR, &values));
        tidied(&fill(template(&ask.about), &values))
    };
    let frame = estimate_tokens(&write(parts.iter().map(Part::frame).collect()));
    let mut available = budget.get().saturating_sub(prompt.tokens() + frame);
    loop {
        let granted = grants(&parts, available);
        let quotations = parts.iter().zip(granted).map(|(part, granted)| part.quotation(granted, &hints));
        let written = Prompt { user: write(quotations.collect()), ..prompt.clone() };
        let excess = written.tokens().saturating_sub(budget.get());
        if excess == 0 || available == 0 {
            return written;
        }
        // Parts add up by estimate, so this is not expected; but a prompt that is too large would be refused.
        available = available.saturating_sub(excess.max(available / 16));
    }
}

/// Without the empty lines that absent sections leave.
fn tidied(text: &str) -> String {
    // Quotations may hold empty lines of their own, so only what stands before the first of them is looked at.
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

fn own_values(about: &About, material: &Material) -> Values {
    let manner = &material.manner;
    let mut values = Values::from([
        ("task_fields", TASK_FIELDS.trim_end().to_string()),
        ("max_tasks", material.max_tasks.max(1).to_string()),
    ]);
    let mut say = |name: &'static str| values.insert(name, "yes".to_string());
    match manner.strategy {
        Strategy::ChainOfThought => say("chain_of_thought"),
        Strategy::Hierarchical => say("hierarchical"),
        Strategy::Simple => say("simple"),
    };
    match manner.level {
        DecompositionLevel::Detailed => say("detailed"),
        DecompositionLevel::Moderate => say("moderate"),
        DecompositionLevel::Minimal => say("minimal"),
    };
    match material.asking {
        Asking::Possible => {}
        Asking::NobodyThere => {
            say("nobody_there");
        }
    }
    match manner.depth {
        ReflectionDepth::Shallow => say("shallow"),
        ReflectionDepth::Moderate => say("not_shallow"),
        ReflectionDepth::Deep => {
            say("deep");
            say("not_shallow")
        }
    };
    match about {
        About::Plan | About::Understand => say("states_assumptions"),
        // There is no understanding in these answers that could hold them.
        About::Decompose | About::Order | About::Refine { .. } | About::ReplanTask { .. } => {
            say("decides_itself")
        }
        About::JudgeTask { question: TaskQuestion::Acceptance, .. } => say("ask_acceptance"),
        About::JudgeTask { question: TaskQuestion::WorthGoingOn, .. } => say("ask_worth"),
        About::JudgePlan { .. } | About::JudgeWhole { .. } | About::Reflect { .. } => None,
    };
    for (name, template) in [("manner", MANNER), ("asking", ASKING)] {
        let filled = fill(template, &values).trim().to_string();
        values.insert(name, filled);
    }
    values
}

fn parts(ask: &Ask, given: &Given<'_>) -> Vec<Part> {
    let template = template(&ask.about);
    let shown =
        |kind: &&PartKind| template.contains(&format!("{{{{{}}}}}", kind.name)) && !hidden(kind.name, ask);
    let mut parts: Vec<Part> = PARTS
        .iter()
        .filter(shown)
        .map(|kind| (kind, text_of(kind.name, ask, given)))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(kind, text)| Part::new(*kind, &text))
        .collect();
    if let Some(repair) = &ask.repair {
        let problem = PARTS.iter().filter(|kind| kind.name == "problem");
        parts.extend(problem.map(|kind| Part::new(*kind, repair.problem.as_str())));
        parts.push(Part::new(LAST_ANSWER, repair.answer.as_str()));
    }
    parts
}

/// What looking back at less than full depth is not shown.
fn hidden(name: &str, ask: &Ask) -> bool {
    let About::Reflect { .. } = ask.about else { return false };
    match ask.material.manner.depth {
        ReflectionDepth::Deep => false,
        ReflectionDepth::Moderate => ["diff", "words", "tasks"].contains(&name),
        ReflectionDepth::Shallow => !["goal", "task", "remarks", "actions"].contains(&name),
    }
}

/// The text of a part; empty where there is nothing to show.
fn text_of(name: &str, ask: &Ask, given: &Given<'_>) -> String {
    let material = &ask.material;
    let of_task = |text: fn(&TaskMaterial) -> String| material.task.as_ref().map(text).unwrap_or_default();
    let or_none = |text: String| if text.trim().is_empty() { words::NONE.to_string() } else { text };
    match name {
        "goal" => or_none(material.goal.to_string()),
        "remarks" => words::remarks(&material.remarks),
        "understanding" => words::understanding(material.understanding.as_ref()),
        "tasks" => or_none(words::tasks(&material.tasks)),
        "actions" => words::actions(&material.actions),
        "draft" => words::draft(material.draft.as_ref()),
        "issues" => or_none(words::list(&material.issues)),
        "suggestions" => or_none(words::list(&material.suggestions)),
        "tools" => words::names(&material.tools),
        "checks" => words::list(&material.checks),
        "task" if hidden("result", ask) => or_none(of_task(words::status)),
        "task" => or_none(of_task(words::task)),
        "failures" => of_task(|task| words::failures(&task.failures)),
        "outside" => of_task(|task| words::list(&task.outside)),
        "outcomes_of_checks" => of_task(|task| words::checks(&task.checks)),
        "previous" => of_task(words::previous),
        "result" => of_task(words::result),
        "outcomes" => or_none(words::outcomes(&material.outcomes)),
        "context" => given.context.to_string(),
        "diff" => {
            let is_judged = matches!(ask.about, About::JudgeTask { .. } | About::JudgeWhole { .. });
            if is_judged { or_none(given.diff.to_string()) } else { given.diff.to_string() }
        }
        "words" => given.words.to_string(),
        _ => String::new(),
    }
}
