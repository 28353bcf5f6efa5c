//! What a person asks for: typed, read from a file or from standard input, and within the size limits.
//!
//! Owns reading and the limits. Refuses to shorten: a text over a limit is an error that gives the limit and the size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use fixpoint_execute::{MAX_GOAL_BYTES, MAX_REMARKS_BYTES};
use fixpoint_prompts::{TokenBudget, estimate_tokens};
use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::grouped;

use crate::failure::Failure;

/// How much is read, so that the message about a large text can give its size.
const MAX_READ: u64 = 64 << 20;

const ADVICE: &str = "shorten it, and put logs and listings into files of the repository that it names";

/// The text of an argument, of a file (`-` for standard input), or nothing. `what` is its name in messages.
pub(crate) fn read(what: &str, typed: Option<&str>, file: Option<&Path>) -> Result<String, Failure> {
    let bytes = match (typed, file) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(path)) if path.as_os_str() == "-" => {
            bounded(std::io::stdin()).map_err(Failure::NoInput)?
        }
        (None, Some(path)) => File::open(path)
            .and_then(bounded)
            .map_err(|source| Failure::Unreadable { path: path.to_path_buf(), source })?,
        (None, None) => Vec::new(),
    };
    if bytes.len() > MAX_GOAL_BYTES {
        let size = if bytes.len() as u64 > MAX_READ {
            format!("more than {}", grouped(MAX_READ))
        } else {
            grouped(bytes.len() as u64)
        };
        let max = grouped(MAX_GOAL_BYTES as u64);
        return Err(Failure::BadInput(format!("{what} has {size} bytes, the limit is {max}; {ADVICE}")));
    }
    if let Some(position) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Failure::BadInput(format!("{what} contains a NUL character (at byte {position})")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Failure::BadInput(format!("{what} is not valid UTF-8 (at byte {position})"))
    })
}

/// One byte more than the limit, at most, so that it shows whether there is more.
fn bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_READ + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Rejects a goal that does not fit into the prompts of planners and judges.
pub(crate) fn check_goal_tokens(goal: &str, max_prompt_tokens: u32) -> Result<(), Failure> {
    let budget = TokenBudget::new(u64::from(max_prompt_tokens));
    let (tokens, max) = (estimate_tokens(goal), budget.max_goal_tokens());
    if tokens <= max {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "the goal has about {} tokens, the limit is {} with `models.max_prompt_tokens: {max_prompt_tokens}`; {ADVICE}, or \
         raise `models.max_prompt_tokens`",
        grouped(tokens),
        grouped(max)
    )))
}

/// Rejects remarks that do not fit into the prompts of agents, together with those that were made before.
pub(crate) fn check_remarks(before: &[Remark], new: &[String]) -> Result<(), Failure> {
    let old: usize = before.iter().map(|remark| remark.text.as_str().len()).sum();
    let added: usize = new.iter().map(String::len).sum();
    if added == 0 || old + added <= MAX_REMARKS_BYTES {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "--say has {} bytes and earlier remarks on this run have {}, the limit is {} together; shorten it, or start a new \
         run with a goal that says everything",
        grouped(added as u64),
        grouped(old as u64),
        grouped(MAX_REMARKS_BYTES as u64)
    )))
}

#[cfg(test)]
mod tests {
    use fixpoint_vocabulary::Redacted;

    use super::*;

    fn message(result: Result<(), Failure>) -> String {
        result.map_or_else(|failure| failure.to_string(), |()| "accepted".to_string())
    }

    #[test]
    fn a_goal_over_the_token_limit_is_rejected_with_both_sizes() {
        assert_eq!(message(check_goal_tokens(&"word ".repeat(500), 4000)), "accepted");
        let rejected = message(check_goal_tokens(&"word ".repeat(5000), 4000));
        assert!(rejected.starts_with("the goal has about 5,8"), "{rejected}");
        assert!(rejected.contains("the limit is 1,000 with `models.max_prompt_tokens: 4000`"), "{rejected}");
        assert_eq!(message(check_goal_tokens(&"word ".repeat(5000), 64_000)), "accepted");
    }

    #[test]
    fn remarks_count_together_with_earlier_ones() {
        let before = [Remark { by: Redacted::ours("ada"), text: Redacted::ours("short") }];
        let long = |bytes: usize| vec!["x".repeat(bytes)];
        assert_eq!(message(check_remarks(&before, &long(MAX_REMARKS_BYTES - 5))), "accepted");
        let rejected = message(check_remarks(&before, &long(MAX_REMARKS_BYTES)));
        assert!(
            rejected.starts_with("--say has 65,536 bytes and earlier remarks on this run have 5,"),
            "{rejected}"
        );
    }
}
