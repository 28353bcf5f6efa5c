//! What is a credential because of where it stands: private key blocks, addresses, headers of requests, `.netrc` entries.

use crate::prelude::*;
use core::ops::Range;

use super::{from, run_length};

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";
const KEY_DASHES: &str = "-----";
/// More than any private key has.
const LONGEST_KEY: usize = 64 << 10;
const LONGEST_LABEL: usize = 64;
/// Every search from a mark on ends after so many bytes, so that no text takes longer than its length allows.
const LONGEST: usize = 2048;
const LONGEST_NAME: usize = 24;

/// Parameters of an address whose values are credentials end like this.
const PARAMETERS: [&str; 8] =
    ["token", "secret", "password", "passwd", "api_key", "apikey", "signature", "sig"];
/// Headers whose whole value is a credential.
const HEADERS: [&str; 8] = [
    "x-api-key",
    "api-key",
    "private-token",
    "x-auth-token",
    "x-goog-api-key",
    "x-vault-token",
    "job-token",
    "deploy-token",
];
const SCHEMES: [&str; 6] = ["basic", "bearer", "token", "apikey", "negotiate", "digest"];
/// How far before a password the rest of its `.netrc` entry is.
const NETRC_BYTES: usize = 300;

type Spans = Vec<Range<usize>>;

pub(super) fn find(text: &str, spans: &mut Spans) {
    private_keys(text, spans);
    let mut parameters_done = 0;
    for (at, separator) in text.match_indices("://") {
        let at = at + separator.len();
        let authority = authority(text, at, spans);
        // An address in an address has the same end.
        if authority >= parameters_done {
            parameters_done = parameters(text, authority, spans);
        }
    }
    for name in ["uthorization", "UTHORIZATION"] {
        for (at, name) in text.match_indices(name) {
            spans.extend(authorization(text, at + name.len()));
        }
    }
    for (at, name) in text.match_indices("earer ") {
        let token = token(text, at + name.len());
        spans.extend(Some(token).filter(|token| token.len() >= 16 && is_random(text, token)));
    }
    for ending in ["-key", "-Key", "-KEY", "-token", "-Token", "-TOKEN"] {
        for (at, ending) in text.match_indices(ending) {
            spans.extend(header(text, at + ending.len()));
        }
    }
    for (at, word) in text.match_indices("password") {
        spans.extend(netrc_entry(text, at, at + word.len()));
    }
}

/// Blocks from `-----BEGIN … PRIVATE KEY…-----` to the end line. One without an end line goes as far as it looks like one.
fn private_keys(text: &str, spans: &mut Spans) {
    let mut done = 0;
    for (start, begin) in text.match_indices(KEY_BEGIN) {
        let label_start = start + begin.len();
        let label = run_length(from(text, label_start), |byte| byte != b'-').min(LONGEST_LABEL);
        let body = label_start + label + KEY_DASHES.len();
        let label = text.get(label_start..label_start + label).unwrap_or_default();
        let Some(rest) = text.get(body..).filter(|_| start >= done && label.contains("PRIVATE KEY")) else {
            continue;
        };
        let rest = beginning(rest, LONGEST_KEY);
        // Dashes end the key; if those are not of its end line, it has none.
        let end = rest
            .find(KEY_DASHES)
            .filter(|length| rest.get(*length..).is_some_and(|ending| ending.starts_with(KEY_END)));
        let end = end.and_then(|length| {
            let label = length + KEY_END.len();
            Some(body + label + rest.get(label..)?.find(KEY_DASHES)? + KEY_DASHES.len())
        });
        done = end.unwrap_or_else(|| body + key_lines(rest));
        spans.push(start..done);
    }
}

/// At most so many bytes of a text.
fn beginning(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

/// The length of the lines that can belong to a key.
fn key_lines(text: &str) -> usize {
    let is_of_key = |line: &&str| {
        let line = line.trim();
        let is_base64 = line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\\-".contains(&byte));
        is_base64
            || ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"].iter().any(|head| line.starts_with(head))
    };
    // In JSON it is all one line, which ends with a quote.
    let first = text.split(['"', '\'']).next().unwrap_or_default();
    first.split_inclusive('\n').take_while(is_of_key).map(str::len).sum()
}

fn is_of_address(byte: u8) -> bool {
    byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | 0x7f)
}

/// The password before the host of an address, from behind `://`. Returns where the host ends.
fn authority(text: &str, at: usize, spans: &mut Spans) -> usize {
    let end = at + run_length(within(text, at), |byte| is_of_address(byte) && !b"/?#".contains(&byte));
    if let Some((person, _)) = text.get(at..end).and_then(|part| part.rsplit_once('@')) {
        let person_end = at + person.len();
        match person.split_once(':') {
            Some((_, password)) if is_placeholder(password) => {}
            Some((name, _)) => spans.push(at + name.len() + 1..person_end),
            None if person.len() >= 16 && person.bytes().any(|byte| byte.is_ascii_digit()) => {
                spans.push(at..person_end);
            }
            None => {}
        }
    }
    end
}

/// The parameters of an address, from behind its host. Returns where the address ends.
fn parameters(text: &str, at: usize, spans: &mut Spans) -> usize {
    let end = at + run_length(within(text, at), is_of_address);
    let rest = text.get(at..end).unwrap_or_default();
    let Some(question) = rest.find('?') else { return end };
    let mut start = at + question + 1;
    for parameter in rest.get(question + 1..).unwrap_or_default().split(['&', ';', '#']) {
        if let Some((name, value)) = parameter.split_once('=') {
            let name_lower = name.to_ascii_lowercase();
            let is_secret = PARAMETERS.iter().any(|ending| name_lower.ends_with(ending));
            if is_secret && value.len() >= 8 && !is_placeholder(value) {
                spans.push(start + name.len() + 1..start + parameter.len());
            }
        }
        start += parameter.len() + 1;
    }
    end
}

/// A variable or a mask instead of a password.
fn is_placeholder(password: &str) -> bool {
    password.is_empty()
        || password.starts_with(['$', '{', '[', '<', '%'])
        || password.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}

/// What stands between the name of a header and its value; `None` if it is not followed by one.
fn header_value(text: &str, at: usize) -> Option<usize> {
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ');
    let separator = at + run_length(from(text, at), is_quote);
    from(text, separator).first().filter(|byte| matches!(byte, b':' | b'='))?;
    Some(separator + 1 + run_length(from(text, separator + 1), is_quote))
}

fn authorization(text: &str, at: usize) -> Option<Range<usize>> {
    let value = header_value(text, at)?;
    let scheme_length = run_length(from(text, value), |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let scheme = text.get(value..value + scheme_length)?.to_ascii_lowercase();
    let after = value + scheme_length;
    if from(text, after).first() == Some(&b' ') {
        let start = after + run_length(from(text, after), |byte| byte == b' ');
        if scheme == "digest" || scheme.starts_with("aws4-") {
            let is_of_line = |byte: u8| !matches!(byte, b'\n' | b'\r' | b'\'' | b'\\');
            return Some(start..start + run_length(within(text, start), is_of_line));
        }
        let token = token(text, start);
        let is_known = SCHEMES.contains(&scheme.as_str());
        return Some(token)
            .filter(|token| is_known && (token.len() >= 20 || (token.len() >= 6 && is_random(text, token))));
    }
    Some(token(text, value)).filter(|token| token.len() >= 12 && is_random(text, token))
}

/// The value of a header whose name ends at a place.
fn header(text: &str, end: usize) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..end)?;
    let is_name = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let length = before.iter().rev().take(LONGEST_NAME).take_while(is_name).count();
    let name = text.get(end - length..end)?.to_ascii_lowercase();
    if !HEADERS.contains(&name.trim_start_matches('-')) {
        return None;
    }
    let token = token(text, header_value(text, end)?);
    Some(token).filter(|token| token.len() >= 8 && is_random(text, token))
}

/// The password of an entry such as `machine host login name password secret`, also over several lines.
fn netrc_entry(text: &str, at: usize, end: usize) -> Option<Range<usize>> {
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    let is_begun = at == 0 || text.as_bytes().get(at.checked_sub(1)?).is_some_and(|byte| is_space(*byte));
    let gap = run_length(from(text, end), is_space);
    if !is_begun || gap == 0 {
        return None;
    }
    let start = end + gap;
    let password = start..start + run_length(from(text, start), |byte| !is_space(byte));
    if password.is_empty() {
        return None;
    }
    let mut from_there = at.saturating_sub(NETRC_BYTES);
    while !text.is_char_boundary(from_there) {
        from_there += 1;
    }
    let before = text.get(from_there..at)?;
    let has = |wanted: &str| before.split_whitespace().any(|word| word == wanted);
    let is_entry = (has("machine") || has("default")) && has("login");
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_alone = line.trim().is_empty()
        && text.get(password.end..)?.lines().next().is_none_or(|rest| rest.trim().is_empty());
    (is_entry || (is_alone && is_random(text, &password))).then_some(password)
}

/// The letters that a credential in a header consists of.
fn token(text: &str, start: usize) -> Range<usize> {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:%".contains(&byte);
    start..start + run_length(within(text, start), is_of_token)
}

/// What follows a place, as far as a search goes.
fn within(text: &str, at: usize) -> &[u8] {
    let bytes = from(text, at);
    bytes.get(..LONGEST).unwrap_or(bytes)
}

/// Whether it is no ordinary word: it has a digit, capitals inside, or signs that words do not have.
fn is_random(text: &str, span: &Range<usize>) -> bool {
    let word = text.get(span.clone()).unwrap_or_default();
    let has_sign = word.bytes().any(|byte| byte.is_ascii_digit() || b"=+%$!#^&*".contains(&byte));
    let has_lower = word.bytes().any(|byte| byte.is_ascii_lowercase());
    has_sign || (has_lower && word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()))
}
