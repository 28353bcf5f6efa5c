//! Reads an answer into a document.
//!
//! Owns how lenient reading is. Prose, code fences and a byte order mark around the object, an array around it, camelCase
//! names, choices in any case, trailing commas, line breaks in strings and unknown fields are accepted. Of several objects
//! the **last** that matches counts, since models think aloud before they answer; but where an earlier object says yes and
//! the last says no, or a later object was meant as the answer and cannot be read, there is no answer. Objects inside
//! objects are never considered: `{"plan": {…}}` is not a plan, and an example quoted inside a broken answer is not the
//! answer.
//!
//! Refuses to guess: a missing verdict, a wrong type or a document of another phase is an [`AnswerError`] that says where,
//! what was expected and what was found, so that the model can correct its answer.
//!
//! Invariant: no input causes a panic, and the time grows linearly with the length of the input.

mod find;
mod matching;
mod rules;

use std::sync::OnceLock;

use fixpoint_vocabulary::ask::QuestionKind;
use fixpoint_vocabulary::documents::{
    Document, JudgeAnswer, PlanJudgement, PlanningDocument, ReflectionDocument, WholeJudgement,
};
use fixpoint_vocabulary::grouped;
use fixpoint_vocabulary::settings::limits::MAX_SUBTASKS;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::find::Found;
use self::matching::Matcher;
use crate::schema::complete;

/// The longest answer that is read, in bytes.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;
/// The deepest nesting of objects and arrays.
pub const MAX_ANSWER_DEPTH: usize = 64;
/// The most JSON objects in an answer.
pub const MAX_ANSWER_OBJECTS: usize = 200;
/// The most tasks in an answer: as many as any run may have.
pub const MAX_ANSWER_TASKS: usize = MAX_SUBTASKS.max as usize;

/// Why an answer is not the requested document, written for the model that must answer again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("the answer is too large: it has {0}")]
    TooLarge(String),
    #[error("the answer contains no JSON object")]
    NoObject,
    #[error("the answer ends in the middle of the JSON object: it was cut off, make it shorter")]
    CutOff,
    #[error("the JSON is malformed: {0}")]
    Malformed(String),
    #[error("the answer contains JSON objects that contradict each other: give only one")]
    Contradiction,
    #[error("{path}: expected {expected}, found {found}")]
    Mismatch {
        /// Such as `task_decomposition.subtasks[2].id`.
        path: String,
        expected: String,
        /// Shortened.
        found: String,
    },
}

/// The document in an answer.
///
/// # Errors
///
/// An [`AnswerError`] where the answer contains no document of the requested kind.
pub fn read(about: &QuestionKind, answer: &str) -> Result<Document, AnswerError> {
    if answer.len() > MAX_ANSWER_BYTES {
        let (bytes, max) = (grouped(answer.len() as u64), grouped(MAX_ANSWER_BYTES as u64));
        return Err(AnswerError::TooLarge(format!("{bytes} bytes, the limit is {max}")));
    }
    let mut best: Option<Document> = None;
    let mut error: Option<AnswerError> = None;
    for found in find::objects(answer) {
        match found {
            Found::Broken(broken) => error = Some(broken),
            Found::Object(object) => match document_of(about, object) {
                Ok(document) => {
                    if best
                        .as_ref()
                        .is_some_and(|earlier| rules::verdict(earlier) != rules::verdict(&document))
                    {
                        return Err(AnswerError::Contradiction);
                    }
                    (best, error) = (Some(document), None);
                }
                Err(Rejected::Attempt(mismatch)) => error = Some(mismatch),
                // Something unrelated, such as a configuration file that the prose quotes.
                Err(Rejected::Unrelated(mismatch)) if best.is_none() => error = Some(mismatch),
                Err(Rejected::Unrelated(_)) => {}
            },
        }
    }
    match (error, best) {
        (Some(error), _) => Err(error),
        (None, Some(document)) => Ok(document),
        (None, None) => Err(AnswerError::NoObject),
    }
}

/// Why an object is not the answer.
enum Rejected {
    /// It was meant as the answer: it has some of the fields.
    Attempt(AnswerError),
    /// It has none of the fields.
    Unrelated(AnswerError),
}

fn document_of(about: &QuestionKind, object: Value) -> Result<Document, Rejected> {
    static PLANNING: OnceLock<Matcher> = OnceLock::new();
    static PLAN: OnceLock<Matcher> = OnceLock::new();
    static TASK: OnceLock<Matcher> = OnceLock::new();
    static WHOLE: OnceLock<Matcher> = OnceLock::new();
    static REFLECTION: OnceLock<Matcher> = OnceLock::new();
    let document = match about {
        QuestionKind::Plan
        | QuestionKind::Understand
        | QuestionKind::Decompose
        | QuestionKind::Order
        | QuestionKind::Refine { .. }
        | QuestionKind::ReplanTask { .. } => {
            typed::<PlanningDocument>(&PLANNING, object).map(Document::Planning)
        }
        QuestionKind::JudgePlan { .. } => typed::<PlanJudgement>(&PLAN, object).map(Document::PlanJudgement),
        QuestionKind::JudgeTask { .. } => typed::<JudgeAnswer>(&TASK, object).map(Document::TaskJudgement),
        QuestionKind::JudgeWhole { .. } => {
            typed::<WholeJudgement>(&WHOLE, object).map(Document::WholeJudgement)
        }
        QuestionKind::Reflect { .. } => {
            typed::<ReflectionDocument>(&REFLECTION, object).map(Document::Reflection)
        }
    }?;
    rules::check(about, &document).map_err(Rejected::Attempt)?;
    Ok(document)
}

fn typed<T: JsonSchema + DeserializeOwned>(
    matcher: &OnceLock<Matcher>,
    object: Value,
) -> Result<T, Rejected> {
    let matcher = matcher.get_or_init(|| Matcher::new(complete::<T>()));
    let rejected: fn(AnswerError) -> Rejected =
        if matcher.has_field_of(&object) { Rejected::Attempt } else { Rejected::Unrelated };
    let canonical = matcher.canonical(object).map_err(rejected)?;
    // The schema was checked, so this fails only where a type requires more than its schema says.
    serde_json::from_value(canonical).map_err(|error| {
        rejected(AnswerError::Mismatch {
            path: "the object".to_string(),
            expected: "a document of this kind".to_string(),
            found: error.to_string(),
        })
    })
}
