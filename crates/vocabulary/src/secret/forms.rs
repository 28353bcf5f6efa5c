//! How the value of a secret may be written: as it is, in base64, percent-encoded, or as a JSON string.

use crate::prelude::*;
use core::ops::Range;

use super::{SHORTEST_SECRET, from, run_length};

/// A line of a secret with several lines is searched for by itself if it is as long as this.
const SHORTEST_LINE: usize = 16;

/// Letters of base64 before and after a secret that are removed with it.
const LONGEST_REST: usize = 1024;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// Part of a text in base64, whose other letters depend on the secret too.
    Base64,
}

impl Form {
    /// What is removed where this form was found.
    pub(super) fn span(self, text: &str, found: Range<usize>) -> Range<usize> {
        match self {
            Self::Plain => found,
            Self::Base64 => {
                let before = text.as_bytes().get(..found.start).unwrap_or_default();
                let before =
                    before.iter().rev().take(LONGEST_REST).take_while(|byte| is_base64(**byte)).count();
                let after = from(text, found.end);
                let after = after.get(..LONGEST_REST).unwrap_or(after);
                let after = run_length(after, |byte| is_base64(byte) || byte == b'=');
                found.start - before..found.end + after
            }
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// All forms of a secret.
pub(super) fn forms(secret: &str) -> Vec<(String, Form)> {
    let mut forms = Vec::from([(secret.to_string(), Form::Plain)]);
    let mut plain = |form: String| {
        if form.len() >= SHORTEST_SECRET {
            forms.push((form, Form::Plain));
        }
    };
    // What is printed line by line is redacted line by line.
    let trimmed = secret.trim();
    plain(trimmed.to_string());
    let lines = trimmed.lines().map(str::trim).filter(|_| trimmed.contains('\n'));
    for line in lines.filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----")) {
        plain(line.to_string());
    }
    plain(json(secret));
    for keeps in ["", "!*'()"] {
        let upper = percent_encoded(secret, keeps);
        plain(lower_escapes(&upper));
        plain(upper.replace("%20", "+"));
        plain(upper);
    }
    for alphabet in [STANDARD, URL_SAFE] {
        forms.extend((0..3).map(|offset| (base64(secret.as_bytes(), offset, alphabet), Form::Base64)));
    }
    forms
}

/// The letters of base64 that depend on nothing but the secret, where so many bytes (modulo 3) are before it.
fn base64(secret: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let bytes: Vec<u8> = core::iter::repeat_n(0, offset).chain(secret.iter().copied()).collect();
    let all = bytes.len() * 8 / 6;
    let letter = |number: usize| {
        let (byte, bit) = (number * 6 / 8, number * 6 % 8);
        let high = u16::from(bytes.get(byte).copied().unwrap_or(0)) << 8;
        let both = high | u16::from(bytes.get(byte + 1).copied().unwrap_or(0));
        let six = both >> (10 - bit) & 0x3f;
        char::from(alphabet.get(usize::from(six)).copied().unwrap_or(b'A'))
    };
    ((offset * 8).div_ceil(6)..all).map(letter).collect()
}

fn percent_encoded(secret: &str, keeps: &str) -> String {
    let mut encoded = String::new();
    for byte in secret.bytes() {
        let letter = char::from(byte);
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') || keeps.contains(letter)
        {
            encoded.push(letter);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// With the escapes in lower case.
fn lower_escapes(encoded: &str) -> String {
    let mut lower = String::with_capacity(encoded.len());
    let mut left = 0_u8;
    for letter in encoded.chars() {
        lower.push(if left > 0 { letter.to_ascii_lowercase() } else { letter });
        left = if letter == '%' { 2 } else { left.saturating_sub(1) };
    }
    lower
}

/// As it stands in a JSON string.
fn json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_string()
}
