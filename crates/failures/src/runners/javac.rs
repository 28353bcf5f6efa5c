//! What javac prints below an error: the source line, a caret, and details such as the symbol that is missing.
//!
//! Owns these lines. The details are part of what identifies an error: "cannot find symbol" alone says nothing. The first
//! line of an error is read in `diagnostics.rs`.

use crate::collector::append;
use crate::fingerprint::FingerprintParts;
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Below {
    next: Next,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    #[default]
    Source,
    Caret,
    Details,
}

impl Below {
    /// Whether the line belongs to the error.
    pub(crate) fn line(&mut self, line: &str, draft: &mut FingerprintParts) -> bool {
        match self.next {
            Next::Source if line.has(": error: ") || line.has(": warning: ") => false,
            Next::Source if line.starts_with("  ") && is_detail(line) => {
                self.next = Next::Details;
                detail(line, draft);
                true
            }
            Next::Source => {
                self.next = Next::Caret;
                draft.source.push_str(line.trim());
                true
            }
            Next::Caret => {
                self.next = Next::Details;
                line.trim() == "^"
            }
            Next::Details => {
                let is_own = line.starts_with("  ") && !line.trim().is_empty();
                if is_own {
                    detail(line, draft);
                }
                is_own
            }
        }
    }
}

/// `  symbol:   method alpha()`
fn is_detail(line: &str) -> bool {
    ["symbol:", "location:", "required:", "found:", "reason:"]
        .iter()
        .any(|word| line.trim_start().starts_with(word))
}

fn detail(line: &str, draft: &mut FingerprintParts) {
    let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
    append(&mut draft.message, &text);
    append(&mut draft.source, &text);
}
