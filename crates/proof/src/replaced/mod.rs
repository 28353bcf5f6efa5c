//! Product code that replaces assertions, parts of a test runner, or what the language itself provides to tests.
//!
//! Owns which parts count, and what changes them: an assignment, a call that changes its first argument, a class that is opened
//! again. Refuses names that are put together when the code runs. Invariant: what the base does already is not gained.

mod javascript;
mod python;
mod ruby;
mod star;

pub(crate) use star::{is_star_imported, star_name};

use crate::inline::is_javascript;

/// What a source replaces and did not replace before. `is_used` tells whether tests have all of some words.
pub(crate) fn gained(
    ending: &str,
    base: &str,
    now: &str,
    is_used: &dyn Fn(&[&str]) -> bool,
) -> Option<String> {
    let found = |text: &str| match ending {
        "py" => python::replaced(text, is_used),
        "rb" => ruby::replaced(text, is_used),
        ending if is_javascript(ending) => javascript::replaced(text, is_used),
        _ => Vec::new(),
    };
    let (before, after) = (found(base), found(now));
    let count = |list: &[String], what: &String| list.iter().filter(|other| *other == what).count();
    let gained = after.iter().find(|what| count(&after, what) > count(&before, what))?;
    Some(format!("replaces `{gained}`, which tests use"))
}
