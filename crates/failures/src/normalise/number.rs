//! Numbers and words that look random: what they are, and what replaces them.
//!
//! Owns the shapes of durations, times, addresses, hashes, UUIDs and plain numbers. The caller says whether a number
//! stays.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Keep,
    /// Replaced with `#`.
    Drop,
}

/// A longer number is a time, a size or an identifier.
const MAX_KEPT_DIGITS: usize = 9;

/// The replacement of the number at the start of `rest`, and its length.
pub(crate) fn at(rest: &str, seen: Seen, is_counter: bool) -> (String, usize) {
    if let Some(length) = uuid(rest) {
        return ("<uuid>".into(), length);
    }
    if let Some(length) = timestamp(rest) {
        return ("<time>".into(), length);
    }
    if let Some(length) = address(rest) {
        return ("<address>".into(), length);
    }
    let run = prefix(rest, |byte| byte.is_ascii_alphanumeric());
    if is_hash(run) {
        return ("<hash>".into(), run.len());
    }
    if let Some(length) = internet_address(rest) {
        let kept = rest.get(..length).unwrap_or_default();
        let port = prefix(
            rest.get(length..).and_then(|behind| behind.strip_prefix(':')).unwrap_or_default(),
            |byte| byte.is_ascii_digit(),
        );
        let shown = if seen == Seen::Keep { kept } else { "<ip>" };
        return match port.len() {
            0 => (shown.into(), length),
            digits => (format!("{shown}:#"), length + 1 + digits),
        };
    }
    let length = plain(rest);
    if let Some(unit) = duration_unit(rest.get(length..).unwrap_or_default()) {
        let mut length = length + unit;
        // Go writes compound durations: 1m2.5s.
        while rest.get(length..).is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_digit())) {
            let behind = rest.get(length..).unwrap_or_default();
            let number = plain(behind);
            let Some(unit) = duration_unit(behind.get(number..).unwrap_or_default()) else { break };
            length += number + unit;
        }
        return ("<duration>".into(), length);
    }
    let digits = rest.get(..length).unwrap_or_default();
    match seen {
        Seen::Keep if !is_counter && digits.len() < MAX_KEPT_DIGITS => (digits.into(), length),
        Seen::Keep | Seen::Drop => ("#".into(), length),
    }
}

/// The replacement of a word that looks random, and its length in `rest`. `run` is the word.
pub(crate) fn random(rest: &str, run: &str) -> Option<(&'static str, usize)> {
    if run.len() < 7 {
        return None;
    }
    if let Some(length) = uuid(rest) {
        return Some(("<uuid>", length));
    }
    if is_hash(run) {
        return Some(("<hash>", run.len()));
    }
    let is_temporary = run.get(3..).is_some_and(is_random_suffix) && run.starts_with("tmp");
    (is_temporary || is_random_id(run)).then_some(("<id>", run.len()))
}

/// Whether letters and digits look like the end of a temporary name, such as `k3x_9a0b` or `XyZ12a`.
pub(crate) fn is_random_suffix(suffix: &str) -> bool {
    let has = |test: fn(&u8) -> bool| suffix.bytes().any(|byte| test(&byte));
    suffix.len() >= 5
        && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && (has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// Long, and switching between letters and digits as no name does.
fn is_random_id(run: &str) -> bool {
    if run.len() < 16 || run.contains('_') {
        return false;
    }
    let kinds: Vec<bool> = run.bytes().map(|byte| byte.is_ascii_digit()).collect();
    kinds.windows(2).filter(|pair| pair.first() != pair.last()).count() >= 4
}

fn is_hash(run: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    run.len() >= 7 && run.bytes().all(is_hex) && digits > 0 && digits < run.len() && !is_exponent(run)
}

/// `1e100000` and `12e5` are numbers.
fn is_exponent(run: &str) -> bool {
    run.split_once('e').is_some_and(|(base, power)| {
        [base, power].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    }) && run.len() < 12
}

fn uuid(rest: &str) -> Option<usize> {
    let candidate = rest.get(..36)?;
    let mut lengths = candidate.split('-').map(str::len);
    let shaped = [8, 4, 4, 4, 12].iter().all(|length| lengths.next() == Some(*length));
    let is_hex = candidate.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (shaped && is_hex && !continues(rest, 36)).then_some(36)
}

/// `0x` and at least six digits.
fn address(rest: &str) -> Option<usize> {
    let digits = prefix(rest.strip_prefix("0x")?, |byte| byte.is_ascii_hexdigit());
    (digits.len() >= 6).then_some(2 + digits.len())
}

fn internet_address(rest: &str) -> Option<usize> {
    let run = prefix(rest, |byte| byte.is_ascii_digit() || byte == b'.').trim_end_matches('.');
    let mut parts = 0;
    for part in run.split('.') {
        parts += 1;
        if part.parse::<u8>().is_err() {
            return None;
        }
    }
    (parts == 4).then_some(run.len())
}

/// A date with or without a time, or a time of day with seconds.
fn timestamp(rest: &str) -> Option<usize> {
    let mut length = 0;
    if let Some(date) = shape(rest, "0000-00-00").or_else(|| shape(rest, "0000/00/00")) {
        length = date;
        let behind = rest.get(date..).unwrap_or_default();
        let Some(time) = behind.strip_prefix(['T', ' ', '_']).and_then(clock) else { return Some(length) };
        length += 1 + time;
    } else {
        length += clock(rest)?;
    }
    let behind = rest.get(length..).unwrap_or_default();
    let zone = ["Z", "+00:00", " UTC", " GMT"]
        .iter()
        .find_map(|zone| behind.starts_with(zone).then_some(zone.len()));
    length += zone.or_else(|| shape(behind, " +0000")).or_else(|| shape(behind, "+00:00")).unwrap_or(0);
    // Go prints its zone twice and a monotonic reading behind it.
    for tail in [" UTC", " m=+"] {
        if rest.get(length..).is_some_and(|behind| behind.starts_with(tail)) {
            length += tail.len();
            length +=
                prefix(rest.get(length..).unwrap_or_default(), |b| b.is_ascii_digit() || b == b'.').len();
        }
    }
    Some(length)
}

fn clock(rest: &str) -> Option<usize> {
    let clock = shape(rest, "00:00:00").or_else(|| shape(rest, "0:00:00"))?;
    let behind = rest.get(clock..).unwrap_or_default();
    let fraction =
        behind.strip_prefix(['.', ',']).map_or("", |digits| prefix(digits, |byte| byte.is_ascii_digit()));
    Some(if fraction.is_empty() { clock } else { clock + 1 + fraction.len() })
}

/// The length of `pattern` if the text begins with it; `0` matches any digit and `+` either sign.
fn shape(rest: &str, pattern: &str) -> Option<usize> {
    let matches = |(byte, expected): (u8, u8)| match expected {
        b'0' => byte.is_ascii_digit(),
        b'+' => matches!(byte, b'+' | b'-'),
        _ => byte == expected,
    };
    let fits = rest.len() >= pattern.len() && rest.bytes().zip(pattern.bytes()).all(matches);
    (fits && !rest.get(pattern.len()..)?.starts_with(|c: char| c.is_ascii_digit())).then_some(pattern.len())
}

/// The length of a plain number: digits, groups, a fraction, an exponent, or a short hexadecimal one.
fn plain(rest: &str) -> usize {
    if let Some(digits) = rest.strip_prefix("0x") {
        let digits = prefix(digits, |byte| byte.is_ascii_hexdigit());
        if !digits.is_empty() {
            return 2 + digits.len();
        }
    }
    let mut length = prefix(rest, |byte| byte.is_ascii_digit() || byte == b'_').len();
    while let Some(part) = rest.get(length..).and_then(|behind| behind.strip_prefix('.')) {
        let digits = prefix(part, |byte| byte.is_ascii_digit());
        if digits.is_empty() {
            break;
        }
        length += 1 + digits.len();
    }
    let exponent = rest.get(length..).and_then(|behind| behind.strip_prefix(['e', 'E']));
    if let Some(exponent) = exponent {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let digits = prefix(exponent.get(sign..).unwrap_or_default(), |byte| byte.is_ascii_digit());
        if !digits.is_empty() {
            length += 1 + sign + digits.len();
        }
    }
    length
}

/// The length of a unit of time after a number, with the blank before it.
fn duration_unit(behind: &str) -> Option<usize> {
    const CLOSE: [&str; 7] = ["ns", "us", "µs", "μs", "ms", "m", "h"];
    const APART: [&str; 19] = [
        "milliseconds",
        "millisecond",
        "microseconds",
        "microsecond",
        "nanoseconds",
        "nanosecond",
        "seconds",
        "second",
        "minutes",
        "minute",
        "hours",
        "hour",
        "secs",
        "sec",
        "mins",
        "min",
        "ms",
        "µs",
        "s",
    ];
    let (blank, apart) = behind.strip_prefix(' ').map_or((0, behind), |apart| (1, apart));
    let found = APART.iter().find(|unit| apart.starts_with(**unit) && !continues(apart, unit.len()));
    if let Some(unit) = found {
        return Some(blank + unit.len());
    }
    let follows = |unit: &&&str| {
        let behind_unit = behind.get(unit.len()..).unwrap_or_default();
        !behind_unit.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    CLOSE.iter().find(|unit| behind.starts_with(**unit) && follows(unit)).map(|unit| unit.len())
}

fn continues(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

fn prefix(text: &str, test: impl Fn(u8) -> bool) -> &str {
    let length = text.bytes().take_while(|byte| test(*byte)).count();
    text.get(..length).unwrap_or_default()
}
