//! Tokens of a text, where nobody counted them.
//!
//! Owns a rule of thumb that errs upwards, since a budget is kept by it. Refuses to be exact: that takes the tokeniser
//! of the very model.

use fixpoint_ports::{AnswerForm, Message, ModelRequest};
use fixpoint_vocabulary::usage::{Counted, Usage};

/// Tokens that frame a message or a tool.
const FRAME: u64 = 6;

/// About how many tokens a text has: two for seven bytes of ASCII, one for three bytes of anything else, which is a
/// character of Japanese.
pub fn tokens_of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = (text.len() as u64).saturating_sub(ascii);
    (ascii * 2).div_ceil(7) + other.div_ceil(3)
}

/// About how many tokens a request has.
pub fn tokens_of_request(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(|message| match message {
        Message::User(text) => tokens_of(text),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| {
                FRAME + tokens_of(&call.id) + tokens_of(&call.name) + tokens_of(&call.arguments.to_string())
            });
            tokens_of(text) + calls.sum::<u64>()
        }
        Message::ToolResult { call, text, .. } => tokens_of(call) + tokens_of(text),
    });
    let tools = request.tools.iter().map(|tool| {
        tokens_of(&tool.name) + tokens_of(&tool.description) + tokens_of(&tool.parameters.to_string())
    });
    let form = match &request.form {
        AnswerForm::Text => 0,
        AnswerForm::Json { schema, .. } => FRAME + tokens_of(&schema.to_string()),
    };
    FRAME
        + tokens_of(&request.system)
        + messages.map(|tokens| tokens + FRAME).sum::<u64>()
        + tools.map(|tokens| tokens + FRAME).sum::<u64>()
        + form
}

/// What one request uses at most, as far as can be told beforehand: what a budget reserves.
pub fn worst_case(request: &ModelRequest) -> Usage {
    Usage {
        calls: 1,
        input_tokens: tokens_of_request(request),
        output_tokens: u64::from(request.max_output_tokens),
        counted: Counted::Estimated,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_errs_upwards_by_little() {
        // The second number is what a tokeniser of a current model gives.
        for (text, counted) in [
            ("", 0),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("fn main() { println!(\"{}\", 1 + 1); }", 14),
            ("速い茶色の狐がのろまな犬を飛び越える。", 17),
        ] {
            let estimated = tokens_of(text);
            assert!(estimated >= counted.min(10) && estimated <= counted * 2, "{text}: {estimated}");
        }
    }
}
