//! An answer, read into a document.
//!
//! Owns how lenient reading is. Prose, fences and a byte order mark around the object, an array around it, camelCase
//! names, choices in any case, commas too many, line breaks in texts and fields nobody asked for are put up with. Of
//! several objects the **last** that fits counts, since models think aloud before they answer; but where an earlier one
//! says yes and the last says no, or something that was meant as an answer comes after it and cannot be read, there is
//! no answer. Objects within objects are never looked at: `{"plan": {…}}` is not a plan, and an example that is quoted
//! inside a broken answer is not the answer.
//!
//! Refuses to guess: a missing verdict, a wrong type or a document of another phase is a [`Problem`] that says where,
//! what was expected and what was found, in words a model can mend its answer by.
//!
//! Invariant: no input makes it panic, and its time grows with the length of the input.

mod find;
mod rules;
mod shape;

use std::sync::OnceLock;

use fixpoint_vocabulary::ask::About;
use fixpoint_vocabulary::documents::{
    Document, JudgeAnswer, PlanJudgement, PlanningDocument, ReflectionDocument, WholeJudgement,
};
use fixpoint_vocabulary::settings::limits::MAX_SUBTASKS;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::find::Found;
use self::shape::Shape;
use crate::schema::whole;

/// Bytes of an answer, at most.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Objects and arrays within each other, at most.
pub const MAX_ANSWER_DEPTH: usize = 64;
/// Objects in an answer that are looked at, at most.
pub const MAX_ANSWER_OBJECTS: usize = 200;
/// Tasks in an answer, at most: as many as any run may have.
pub const MAX_ANSWER_TASKS: usize = MAX_SUBTASKS.max as usize;

/// Why an answer is no document, in words for whoever must answer again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is too long to be looked at.
    #[error("the answer has {bytes} bytes, at most {MAX_ANSWER_BYTES} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// There is no object in it.
    #[error("the answer holds no JSON object")]
    NoObject,
    /// The object does not end.
    #[error("the answer ends in the middle of the JSON object: it was cut off, make it shorter")]
    CutOff,
    /// Too much within each other.
    #[error("the JSON object is nested deeper than {MAX_ANSWER_DEPTH} levels")]
    TooDeep,
    /// More objects than anybody answers with.
    #[error("the answer holds more than {MAX_ANSWER_OBJECTS} JSON objects: give only one")]
    TooManyObjects,
    /// More tasks than any run may have.
    #[error("the answer has {tasks} tasks, at most {MAX_ANSWER_TASKS} are read")]
    TooManyTasks {
        /// Their number.
        tasks: usize,
    },
    /// It is not JSON.
    #[error("the object is no well-formed JSON: {problem}")]
    Malformed {
        /// What the parser says.
        problem: String,
    },
    /// An array of several objects.
    #[error("expected one JSON object, found an array of {objects}")]
    Several {
        /// How many.
        objects: usize,
    },
    /// Several objects that fit and do not agree.
    #[error("the answer holds several objects that contradict each other: give only one")]
    Contradiction,
    /// Something in it is not what it should be.
    #[error("{path}: expected {expected}, found {found}")]
    Misfit {
        /// Where, as `task_decomposition.subtasks[2].id`.
        path: String,
        /// What should be there.
        expected: String,
        /// What is there, cut short.
        found: String,
    },
}

/// The document in an answer.
///
/// # Errors
///
/// A [`Problem`] where there is none of the form the question asks for.
pub fn read(about: &About, answer: &str) -> Result<Document, Problem> {
    if answer.len() > MAX_ANSWER_BYTES {
        return Err(Problem::TooLong { bytes: answer.len() });
    }
    let mut best: Option<Document> = None;
    let mut problem: Option<Problem> = None;
    for found in find::objects(answer) {
        match found {
            Found::Broken(broken) => problem = Some(broken),
            Found::Object(object) => match fitted(about, object) {
                Ok(document) => {
                    if best
                        .as_ref()
                        .is_some_and(|earlier| rules::verdict(earlier) != rules::verdict(&document))
                    {
                        return Err(Problem::Contradiction);
                    }
                    (best, problem) = (Some(document), None);
                }
                Err(Misfit::Meant(misfit)) => problem = Some(misfit),
                // Something else altogether, such as a piece of configuration the prose mentions.
                Err(Misfit::Unrelated(misfit)) if best.is_none() => problem = Some(misfit),
                Err(Misfit::Unrelated(_)) => {}
            },
        }
    }
    match (problem, best) {
        (Some(problem), _) => Err(problem),
        (None, Some(document)) => Ok(document),
        (None, None) => Err(Problem::NoObject),
    }
}

/// Why an object is not the answer.
enum Misfit {
    /// It was meant to be: it has some of the fields.
    Meant(Problem),
    /// It has none of them.
    Unrelated(Problem),
}

fn fitted(about: &About, object: Value) -> Result<Document, Misfit> {
    static PLANNING: OnceLock<Shape> = OnceLock::new();
    static PLAN: OnceLock<Shape> = OnceLock::new();
    static TASK: OnceLock<Shape> = OnceLock::new();
    static WHOLE: OnceLock<Shape> = OnceLock::new();
    static REFLECTION: OnceLock<Shape> = OnceLock::new();
    let document = match about {
        About::Plan
        | About::Understand
        | About::Decompose
        | About::Order
        | About::Refine { .. }
        | About::ReplanTask { .. } => typed::<PlanningDocument>(&PLANNING, object).map(Document::Planning),
        About::JudgePlan { .. } => typed::<PlanJudgement>(&PLAN, object).map(Document::PlanJudgement),
        About::JudgeTask { .. } => typed::<JudgeAnswer>(&TASK, object).map(Document::TaskJudgement),
        About::JudgeWhole { .. } => typed::<WholeJudgement>(&WHOLE, object).map(Document::WholeJudgement),
        About::Reflect { .. } => typed::<ReflectionDocument>(&REFLECTION, object).map(Document::Reflection),
    }?;
    rules::check(about, &document).map_err(Misfit::Meant)?;
    Ok(document)
}

fn typed<T: JsonSchema + DeserializeOwned>(shape: &OnceLock<Shape>, object: Value) -> Result<T, Misfit> {
    let shape = shape.get_or_init(|| Shape::of(whole::<T>()));
    let misfit: fn(Problem) -> Misfit =
        if shape.has_field_of(&object) { Misfit::Meant } else { Misfit::Unrelated };
    let canonical = shape.canonical(object).map_err(misfit)?;
    // The shape was checked, so this fails only where a type asks for more than its schema says.
    serde_json::from_value(canonical).map_err(|error| {
        misfit(Problem::Misfit {
            path: "the object".to_string(),
            expected: "a document of this form".to_string(),
            found: error.to_string(),
        })
    })
}
