//! What our own part of the prompts costs, counted by real tokenizers over a fixed set of goals.
//!
//! Owns the limits: 2000 tokens for planning, 500 for one reflection, 10000 for a whole simple task. Our own part is
//! everything but what others wrote: instructions, schemas, headings, fences and the list of tools. Prints a table, and
//! fails where a limit is exceeded or the estimate is off.

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a bench reads its goals and prints"
)]
#![expect(clippy::expect_used, reason = "a bench that cannot read its samples cannot measure")]

use std::path::PathBuf;
use std::process::ExitCode;

use fixpoint_prompts::{Attachments, Prompt, TokenBudget, estimate_tokens, instructions, render, schema_of};
use fixpoint_vocabulary::ask::{
    Ask, CheckOutcome, Material, PersonPresence, QuestionKind, Remark, Role, TaskMaterial, TaskQuestion,
};
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::settings::{DecompositionLevel, ReflectionDepth, Strategy};
use fixpoint_vocabulary::work::CommitId;
use fixpoint_vocabulary::{Redacted, Redactor, TaskState};
use tiktoken_rs::CoreBPE;

const PLANNING: usize = 2000;
const REFLECTION: usize = 500;
const TASK: usize = 10_000;
/// The estimate must be between these multiples of the larger count, for every sample of twenty tokens or more.
const LEAST: f64 = 0.95;
const MOST: f64 = 1.5;

struct Tokenizers(Vec<CoreBPE>);

impl Tokenizers {
    /// The larger of the counts.
    fn count(&self, text: &str) -> usize {
        self.0.iter().map(|tokenizer| tokenizer.encode_ordinary(text).len()).max().unwrap_or(0)
    }

    /// Our own part of a prompt: all of it except the texts of others it contains.
    fn own(&self, prompt: &Prompt, foreign: &[String]) -> usize {
        let all =
            self.count(&prompt.system) + self.count(&prompt.user) + self.count(&prompt.schema.to_string());
        let shown = foreign.iter().filter(|text| prompt.user.contains(text.trim()));
        all.saturating_sub(shown.map(|text| self.count(text)).sum())
    }
}

fn samples(directory: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches").join(directory);
    let entries = std::fs::read_dir(path).expect("the samples are beside the bench");
    let mut samples: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a sample").path())
        .map(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (name, std::fs::read_to_string(path).expect("a sample is text"))
        })
        .collect();
    samples.sort();
    samples
}

/// A prompt about a goal with something in every section, so that all headings and fences are counted.
fn asked(about: QuestionKind, goal: &str, (strategy, level): (Strategy, DecompositionLevel)) -> Prompt {
    let tools =
        ["read_file", "search", "edit_file", "write_file", "run_command", "fetch_issue", "list_files", "ask"];
    let mut ask = Ask::new(about);
    ask.material = Material {
        goal: Redactor::default().redact(goal),
        tools: tools.iter().map(ToString::to_string).collect(),
        person: PersonPresence::Unavailable,
        max_tasks: 100,
        understanding: Some(GoalUnderstanding::default()),
        tasks: vec![task()],
        task: Some(material()),
        outcomes: vec![material()],
        remarks: vec![Remark { by: word(), text: word() }],
        issues: vec!["-".to_string()],
        suggestions: vec!["-".to_string()],
        checks: vec!["-".to_string()],
        actions: order(),
        ..Material::default()
    };
    (ask.material.style.strategy, ask.material.style.level) = (strategy, level);
    ask.material.style.depth = ReflectionDepth::Deep;
    let attachments = Attachments { context: "-", diff: "-", agent_text: "-", ..Attachments::default() };
    render(&ask, &attachments, TokenBudget::new(64_000)).expect("a short goal fits")
}

fn task() -> Subtask {
    serde_json::from_value(serde_json::json!({"id": "t", "description": "-", "acceptance": ["-"]}))
        .expect("a task")
}

fn word() -> Redacted {
    Redactor::default().redact("-")
}

fn order() -> ActionPlan {
    ActionPlan { execution_order: vec!["t".into()], actions: vec![] }
}

fn material() -> TaskMaterial {
    TaskMaterial {
        task: task(),
        state: TaskState::Running,
        attempts: 1,
        failures: vec![],
        outside: vec![],
        checks: vec![CheckOutcome { command: "-".to_string(), outcome: "-".to_string() }],
        reason: word(),
        missing: vec![],
        last_attempt: None,
        commits: None,
    }
}

fn judge_task() -> QuestionKind {
    let commit = || CommitId(String::new());
    let question = TaskQuestion::Acceptance;
    QuestionKind::JudgeTask { task: "t".into(), commit: commit(), origin: commit(), question, sample: 1 }
}

/// The strategy the size of a goal leads to, as with `planning.auto_adjust_level`.
fn strategy(goal: &str) -> (Strategy, DecompositionLevel) {
    match estimate_tokens(goal) {
        0..=100 => (Strategy::Simple, DecompositionLevel::Minimal),
        101..=500 => (Strategy::ChainOfThought, DecompositionLevel::Moderate),
        _ => (Strategy::ChainOfThought, DecompositionLevel::Detailed),
    }
}

fn main() -> ExitCode {
    let tokenizers = [tiktoken_rs::cl100k_base(), tiktoken_rs::o200k_base()];
    let tokenizers =
        Tokenizers(tokenizers.into_iter().map(|one| one.expect("tables are built in")).collect());
    let agent = samples("samples").into_iter().find(|(name, _)| name == "agent.md").map(|(_, text)| text);
    let agent =
        tokenizers.count(&agent.expect("the agent's prompt")) + tokenizers.count(instructions(Role::Worker));
    let mut missed = false;
    println!(
        "our own tokens, the larger count of cl100k_base and o200k_base (limits {PLANNING}, {PLANNING}, {REFLECTION}, {TASK})"
    );
    println!(
        "{:<24} {:>6} {:>9} {:>12} {:>11} {:>11}",
        "goal", "tokens", "one call", "three calls", "reflection", "whole task"
    );
    let goals = samples("goals");
    for (name, goal) in &goals {
        let json = |value: serde_json::Result<String>| value.expect("documents are JSON");
        let documents = [
            json(serde_json::to_string(&task())),
            json(serde_json::to_string(&order())),
            json(serde_json::to_string(&GoalUnderstanding::default())),
        ];
        let foreign: Vec<String> = documents.into_iter().chain([goal.clone()]).collect();
        let own = |about: QuestionKind, style| tokenizers.own(&asked(about, goal, style), &foreign);
        let size = strategy(goal);
        // The larger of the strategy its size leads to and the one with the largest schema.
        let levels = (Strategy::Hierarchical, size.1);
        let once = own(QuestionKind::Plan, size).max(own(QuestionKind::Plan, levels));
        let three = |style| -> usize {
            [QuestionKind::Understand, QuestionKind::Decompose, QuestionKind::Order]
                .map(|about| own(about, style))
                .iter()
                .sum()
        };
        let separate = three(size).max(three(levels));
        let reflection = own(QuestionKind::Reflect { task: "t".into() }, size);
        let whole =
            QuestionKind::JudgeWhole { commit: CommitId(String::new()), origin: CommitId(String::new()) };
        let judged = own(QuestionKind::JudgePlan { revision: 0, sample: 1 }, size)
            + own(judge_task(), size)
            + own(whole, size);
        let all = once.max(separate) + judged + agent;
        println!(
            "{name:<24} {:>6} {once:>9} {separate:>12} {reflection:>11} {all:>11}",
            tokenizers.count(goal)
        );
        missed |= once > PLANNING || separate > PLANNING || reflection > REFLECTION || all > TASK;
    }
    assert!(goals.len() >= 20, "the set of goals is fixed");
    missed |= estimates(&tokenizers, goals);
    if missed {
        println!("LIMIT EXCEEDED");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// How far the estimate is from the tokenizers; whether it is off.
fn estimates(tokenizers: &Tokenizers, goals: Vec<(String, String)>) -> bool {
    let mut texts = samples("samples");
    texts.extend(goals);
    texts.push(("instructions".to_string(), instructions(Role::Planner).to_string()));
    texts.push(("schema".to_string(), schema_of(&QuestionKind::Plan).to_string()));
    texts.push(("source".to_string(), include_str!("../src/render.rs").to_string()));
    println!("\nthe estimate (between {LEAST} and {MOST} times the larger count)");
    println!("{:<24} {:>8} {:>8} {:>8} {:>6}", "text", "cl100k", "o200k", "estimate", "ratio");
    let mut is_off = false;
    for (name, text) in texts {
        let counts: Vec<usize> = tokenizers.0.iter().map(|one| one.encode_ordinary(&text).len()).collect();
        let (count, estimate) = (tokenizers.count(&text), estimate_tokens(&text));
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let ratio = estimate as f64 / count as f64;
        // For a few words, one token more or less is a large share and does not matter.
        is_off |= count >= 20 && !(LEAST..=MOST).contains(&ratio);
        println!(
            "{name:<24} {:>8} {:>8} {estimate:>8} {ratio:>6.2}",
            counts.first().copied().unwrap_or(0),
            counts.last().copied().unwrap_or(0)
        );
    }
    is_off
}
