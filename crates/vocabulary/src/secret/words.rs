//! Words that are credentials by the way they look: well-known prefixes, and JSON web tokens.
//!
//! Refuses everything without such a mark: hashes, UUIDs and file names have none.

use crate::prelude::*;
use core::ops::Range;

use super::{from, run_length};

/// A kind of credential: how it begins, and how many characters must follow.
struct Pattern {
    prefix: &'static str,
    at_least: usize,
    letters: Letters,
}

/// Which characters follow the prefix.
#[derive(Clone, Copy)]
enum Letters {
    /// Any that occur in credentials, with a digit among them, since words do not have one.
    WithDigit,
    /// Only letters and digits, with a digit among them.
    Alphanumeric,
    /// Only capitals and digits.
    Capitals,
}

const fn with_digit(prefix: &'static str, at_least: usize) -> Pattern {
    Pattern { prefix, at_least, letters: Letters::WithDigit }
}

const fn alphanumeric(prefix: &'static str, at_least: usize) -> Pattern {
    Pattern { prefix, at_least, letters: Letters::Alphanumeric }
}

const fn capitals(prefix: &'static str, at_least: usize) -> Pattern {
    Pattern { prefix, at_least, letters: Letters::Capitals }
}

const PATTERNS: [Pattern; 45] = [
    // Model providers.
    with_digit("sk-", 16),
    with_digit("sk_live_", 16),
    with_digit("sk_test_", 16),
    with_digit("rk_live_", 16),
    with_digit("xai-", 32),
    alphanumeric("gsk_", 32),
    alphanumeric("r8_", 32),
    with_digit("pplx-", 32),
    with_digit("tvly-", 24),
    alphanumeric("hf_", 30),
    // Forges.
    with_digit("ghp_", 16),
    with_digit("gho_", 16),
    with_digit("ghs_", 16),
    with_digit("ghu_", 16),
    with_digit("ghr_", 16),
    with_digit("github_pat_", 16),
    with_digit("glpat-", 16),
    with_digit("gldt-", 16),
    with_digit("glrt-", 16),
    with_digit("glptt-", 16),
    with_digit("glcbt-", 16),
    with_digit("gloas-", 16),
    with_digit("ATATT3x", 24),
    // Chat.
    with_digit("xoxb-", 16),
    with_digit("xoxp-", 16),
    with_digit("xoxa-", 16),
    with_digit("xoxr-", 16),
    with_digit("xoxs-", 16),
    with_digit("xoxe-", 16),
    with_digit("xapp-", 16),
    // Clouds.
    capitals("AKIA", 16),
    capitals("ASIA", 16),
    with_digit("AIza", 30),
    with_digit("dop_v1_", 32),
    with_digit("doo_v1_", 32),
    // Package registries.
    alphanumeric("npm_", 30),
    with_digit("pypi-", 50),
    with_digit("rubygems_", 32),
    with_digit("dckr_pat_", 16),
    // Others.
    with_digit("shpat_", 24),
    with_digit("shpss_", 24),
    with_digit("lin_api_", 24),
    with_digit("figd_", 24),
    with_digit("NRAK-", 20),
    with_digit("AGE-SECRET-KEY-1", 30),
];

/// The shortest parts of a JSON web token: header, content, signature.
const TOKEN_PARTS: [usize; 3] = [10, 8, 8];

/// What may be part of a credential.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Adds the words that look like credentials.
pub(super) fn find(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut before = 0;
    while let [first, rest @ ..] = from(text, at) {
        if !is_word(*first) {
            // The parameters of a colour are no part of the word that follows.
            at += if *first == 0x1b { 1 + control_sequence(rest) } else { 1 };
            before = *first;
            continue;
        }
        let length = run_length(from(text, at), is_word);
        let escaped = if before == b'\\' { escape_length(from(text, at)) } else { 0 };
        let found = [0, escaped].into_iter().find_map(|skipped| {
            let begin = at + skipped;
            let word = text.get(begin..at + length)?;
            let dotted = dotted_length(from(text, begin)).map(|length| begin..begin + length);
            dotted.or_else(|| is_credential(word).then_some(begin..at + length))
        });
        at = found.as_ref().map_or(at + length, |span| span.end.max(at + length));
        spans.extend(found);
        before = 0;
    }
}

/// The length of what follows an escape character: `[32m`.
fn control_sequence(rest: &[u8]) -> usize {
    let [b'[', parameters @ ..] = rest else { return 0 };
    run_length(parameters, |byte| matches!(byte, 0x20..=0x3f)) + 2
}

/// In JSON, `\n` and `\u001b` stand before a word as if they were part of it.
fn escape_length(word: &[u8]) -> usize {
    match word {
        [b'n' | b't' | b'r' | b'b' | b'f', ..] => 1,
        [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => 5,
        _ => 0,
    }
}

fn is_credential(word: &str) -> bool {
    let first = word.as_bytes().first();
    // Nearly every word begins like none of them.
    PATTERNS.iter().filter(|pattern| pattern.prefix.as_bytes().first() == first).any(|pattern| {
        let Some(rest) = word.strip_prefix(pattern.prefix) else { return false };
        let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
        rest.len() >= pattern.at_least
            && match pattern.letters {
                Letters::WithDigit => has_digit,
                Letters::Alphanumeric => has_digit && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                Letters::Capitals => {
                    rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                }
            }
    })
}

/// The length of a credential that consists of parts between dots.
fn dotted_length(bytes: &[u8]) -> Option<usize> {
    let parts: &[usize] = match bytes {
        [b'e', b'y', b'J', ..] => &TOKEN_PARTS,
        // Google and SendGrid.
        [b'y', b'a', b'2', b'9', b'.', ..] => &[4, 20],
        [b'S', b'G', b'.', ..] => &[2, 16, 16],
        _ => return None,
    };
    let mut at = 0;
    for (number, shortest) in parts.iter().enumerate() {
        if number > 0 {
            bytes.get(at).filter(|byte| **byte == b'.')?;
            at += 1;
        }
        let length = run_length(bytes.get(at..)?, is_word);
        if length < *shortest {
            return None;
        }
        at += length;
    }
    // An encrypted token has more parts.
    while let Some([b'.', next, ..]) = bytes.get(at..)
        && is_word(*next)
    {
        at += 1 + run_length(bytes.get(at + 1..)?, is_word);
    }
    Some(at)
}
