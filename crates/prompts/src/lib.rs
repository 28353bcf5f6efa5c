//! What models are asked, and what their answers say.
//!
//! Owns the prompts (Markdown templates, compiled in), the quotation of everything foreign as data, the cutting of
//! prompts to a budget of tokens, the JSON Schemas of answers, and the reading of answers into documents. Refuses to
//! ask anybody, to decide anything, and to look at a file, a clock or the environment: a prompt is a function of the
//! question and of what it is about.
//!
//! Invariants: no foreign text can leave its quotation; no prompt is larger than its budget, unless that is smaller
//! than [`TokenBudget::SMALLEST`]; nothing panics on any answer; a word that is missing from an answer is never a yes.

mod cut;
mod diff;
mod quote;
mod read;
mod render;
mod schema;
mod template;
mod templates;
mod tokens;
mod words;

pub use cut::TokenBudget;
pub use read::{MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH, MAX_ANSWER_OBJECTS, MAX_ANSWER_TASKS, Problem, read};
pub use render::{Given, Prompt, render};
pub use schema::{schema_for, schema_of};
pub use templates::{instructions, prompt_version};
pub use tokens::{Meter as TokenMeter, estimate_tokens};
