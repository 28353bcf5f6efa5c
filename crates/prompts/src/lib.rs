//! Prompts for models, and reading their answers.
//!
//! Owns the prompts (Markdown templates, compiled in), the quoting of everything others wrote, the token budget of a
//! prompt, the JSON Schemas of answers, and the reading of answers into documents. Refuses to call a model, to decide
//! anything, and to read files, the clock or the environment: a prompt is a pure function of the question and its material.
//!
//! Invariants: no quoted text can leave its fence; no prompt is larger than its budget, unless that is smaller than
//! [`TokenBudget::MIN`]; what a person wrote is complete; no answer causes a panic; a missing verdict is never a yes.

mod answer;
mod budget;
mod diff;
mod omission;
mod quote;
mod render;
mod schema;
mod section_text;
mod template;
mod templates;
mod tokens;

pub use answer::{
    AnswerError, MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH, MAX_ANSWER_OBJECTS, MAX_ANSWER_TASKS, read,
};
pub use budget::{PromptTooLarge, TokenBudget};
pub use omission::{Omission, Unit, left_out};
pub use render::{Attachments, Prompt, render};
pub use schema::{schema_for, schema_of};
pub use templates::{instructions, prompt_version};
pub use tokens::{TokenMeter, estimate_tokens};
