//! Estimated token counts, where the endpoint reported none.
//!
//! Owns a rule of thumb that overestimates, since budgets are enforced with it. Refuses to be exact: that needs the
//! tokenizer of the model.

use fixpoint_ports::{AnswerFormat, Message, ModelRequest};

/// Tokens around each message or tool.
const OVERHEAD: u64 = 6;

/// Two tokens for seven bytes of ASCII; one for three bytes of anything else, which is one Japanese character.
pub(crate) fn tokens_of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = (text.len() as u64).saturating_sub(ascii);
    (ascii * 2).div_ceil(7) + other.div_ceil(3)
}

pub(crate) fn tokens_of_request(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(|message| match message {
        Message::User(text) => tokens_of(text),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| {
                OVERHEAD
                    + tokens_of(&call.id)
                    + tokens_of(&call.name)
                    + tokens_of(&call.arguments.to_string())
            });
            tokens_of(text) + calls.sum::<u64>()
        }
        Message::ToolResult { call, text, .. } => tokens_of(call) + tokens_of(text),
    });
    let tools = request.tools.iter().map(|tool| {
        tokens_of(&tool.name) + tokens_of(&tool.description) + tokens_of(&tool.parameters.to_string())
    });
    let format = match &request.format {
        AnswerFormat::Text => 0,
        AnswerFormat::Json { schema, .. } => OVERHEAD + tokens_of(&schema.to_string()),
    };
    OVERHEAD
        + tokens_of(&request.system)
        + messages.map(|tokens| tokens + OVERHEAD).sum::<u64>()
        + tools.map(|tokens| tokens + OVERHEAD).sum::<u64>()
        + format
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_a_little_too_high() {
        // The second number is what the tokenizer of a current model counts.
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
