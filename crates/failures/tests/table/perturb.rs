//! Ways in which an output changes without the failures in it changing.
//!
//! Each works on any output by the shape of what it finds, not by what the recorded ones happen to contain.

use crate::fixtures::{self, Case};

/// A small generator, so that a failure can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

/// One way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Perturbation {
    Lines,
    Directory,
    Durations,
    Addresses,
    Seeds,
    Processes,
    Order,
    Colours,
    Endings,
    Chatter,
    Seen,
}

impl Perturbation {
    pub(crate) const ALL: [Self; 11] = [
        Self::Lines,
        Self::Directory,
        Self::Durations,
        Self::Addresses,
        Self::Seeds,
        Self::Processes,
        Self::Order,
        Self::Colours,
        Self::Endings,
        Self::Chatter,
        Self::Seen,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lines => "shifted lines",
            Self::Directory => "another directory",
            Self::Durations => "other durations",
            Self::Addresses => "other addresses",
            Self::Seeds => "other seeds, hashes and times",
            Self::Processes => "other processes, threads and ports",
            Self::Order => "another order",
            Self::Colours => "colours",
            Self::Endings => "other line ends",
            Self::Chatter => "other output around",
            Self::Seen => "other values seen",
        }
    }

    /// The changed output, and where it was printed.
    pub(crate) fn apply(self, case: &Case, round: u64) -> (String, String) {
        let mut random = Random::new(round + 1 + 100 * case.name.len() as u64);
        let here = fixtures::HERE.to_string();
        let text = &case.output;
        match self {
            Self::Lines => (shift_lines(text, 1 + random.below(900)), here),
            Self::Directory => {
                let places = [
                    "/home/ci/a b".replace(' ', "-"),
                    "/private/var/folders/zz/T/work.k2".into(),
                    "/w".into(),
                ];
                let place = places[random.below(3) as usize].clone();
                (text.replace(fixtures::HERE, &place), place)
            }
            Self::Durations => (numbers(text, &mut random, is_duration), here),
            Self::Addresses => (hex(text, &mut random, 6, true), here),
            Self::Seeds => {
                let text = after_words(
                    text,
                    &mut random,
                    &["seed=", "randomly-seed=", "pytest-", "pytest-of-root/pytest-"],
                );
                (times(&hex(&text, &mut random, 15, false), &mut random), here)
            }
            Self::Processes => {
                let words = ["port ", "' (", "127.0.0.1:", "goroutine ", "tv_sec: ", "tv_nsec: ", "[gw"];
                (after_words(text, &mut random, &words), here)
            }
            Self::Order => (reorder(text, &mut random), here),
            Self::Colours => (colours(text, &mut random), here),
            Self::Endings => (text.replace('\n', "\r\n"), here),
            Self::Chatter => (chatter(case, &mut random), here),
            Self::Seen => (
                after_words(
                    text,
                    &mut random,
                    &[
                        "got ",
                        "Received: ",
                        "  left: ",
                        "actual: ",
                        "Received array: [",
                        "the index is ",
                        "but was: <",
                        "Which is: ",
                        "left:  ",
                    ],
                ),
                here,
            ),
        }
    }
}

/// Every position in a file moves: behind a file name, and where a line number leads a line of source.
fn shift_lines(text: &str, by: u64) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        let mut moved = String::new();
        while let Some(at) = rest.find([':', '(']) {
            let (before, behind) = rest.split_at(at + 1);
            let name = moved.clone() + before;
            let name = name.trim_end_matches([':', '(']);
            let endings = [
                ".rs", ".py", ".go", ".js", ".ts", ".c", ".mjs", ".cpp", ".h", ".java", ".ex", ".exs", ".cs",
            ];
            let is_file = endings.iter().any(|end| name.ends_with(end));
            moved.push_str(before);
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            if is_file && digits > 0 {
                moved.push_str(&(behind[..digits].parse::<u64>().unwrap() + by).to_string());
                rest = &behind[digits..];
            } else {
                rest = behind;
            }
        }
        moved.push_str(rest);
        out.push_str(&quoted_line(&gutter(&moved, by), by));
    }
    out
}

/// `12 | source`, `> 9 | source`, `10| source` and `   9: source`.
fn gutter(line: &str, by: u64) -> String {
    let start = line.len() - line.trim_start_matches([' ', '>']).len();
    let digits = line[start..].bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[start + digits..];
    let is_gutter = rest.trim_start_matches(' ').starts_with('|') || start >= 3 && rest.starts_with(": ");
    if digits == 0 || digits > 5 || !is_gutter {
        return line.to_string();
    }
    format!("{}{}{rest}", &line[..start], line[start..start + digits].parse::<u64>().unwrap() + by)
}

/// `File "x.py", line 12`
fn quoted_line(line: &str, by: u64) -> String {
    let Some((before, behind)) = line.split_once("\", line ") else { return line.to_string() };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = behind[..digits].parse().unwrap_or(0);
    format!("{before}\", line {}{}", number + by, &behind[digits..])
}

/// Draws numbers anew that pass a test on what stands behind them.
fn numbers(text: &str, random: &mut Random, is_meant: fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let word = before.is_ascii_alphanumeric() || matches!(before, '_' | '"' | '\'' | '.');
        if length > 0 && first.is_ascii_digit() && !word && is_meant(&rest[length..]) {
            out.push_str(&format!("{}.{:02}", random.below(100), random.below(100)));
            before = '0';
            rest = &rest[length..];
        } else {
            out.push(first);
            before = first;
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn is_duration(behind: &str) -> bool {
    let behind = behind.strip_prefix(' ').unwrap_or(behind);
    ["s)", "ms)", "s\n", "ms\n", "s]", "s ", "s =", "ms "].iter().any(|unit| behind.starts_with(unit))
}

/// Draws hexadecimal digits anew: of addresses behind `0x`, or of words of some length.
fn hex(text: &str, random: &mut Random, least: usize, addresses: bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let length = rest.bytes().take_while(is_hex).count();
        let follows = rest[length..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_meant = length >= least && !follows && out.ends_with("0x") == addresses;
        let mixed = rest[..length].bytes().any(|byte| byte.is_ascii_digit())
            && (addresses || rest[..length].bytes().any(|byte| byte.is_ascii_alphabetic()));
        if is_meant && mixed {
            let drawn: String =
                (0..length).map(|_| char::from(b"0123456789abcdef"[random.below(16) as usize])).collect();
            // A word of digits or letters alone would be something else.
            out.push_str(&format!("a1{}", &drawn[2..]));
            rest = &rest[length..];
        } else {
            let step = rest.chars().next().map_or(1, char::len_utf8).max(length);
            out.push_str(&rest[..step]);
            rest = &rest[step..];
        }
    }
    out
}

/// Draws the seconds of times anew.
fn times(text: &str, random: &mut Random) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("2026-") {
        out.push_str(&rest[..at]);
        let date = &rest[at..];
        if date.len() > 20 && date.is_char_boundary(19) && date[10..11].trim_matches('T').trim().is_empty() {
            out.push_str(&format!(
                "2027-0{}-1{}{}1{}:{:02}:{:02}",
                1 + random.below(9),
                random.below(9),
                &date[10..11],
                random.below(9),
                random.below(60),
                random.below(60)
            ));
            rest = &date[19..];
        } else {
            out.push_str("2026-");
            rest = &date[5..];
        }
    }
    out + rest
}

/// Draws the number behind each of some words anew.
fn after_words(text: &str, random: &mut Random, words: &[&str]) -> String {
    let mut text = text.to_string();
    for word in words {
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(word) {
            let (before, behind) = rest.split_at(at + word.len());
            out.push_str(before);
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && !behind[digits..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                out.push_str(&random.below(60000).to_string());
                rest = &behind[digits..];
            } else {
                rest = behind;
            }
        }
        text = out + rest;
    }
    text
}

/// Blocks between headers of one kind change places; so do lines that report one outcome each.
fn reorder(text: &str, random: &mut Random) -> String {
    let starts_block: [fn(&str) -> bool; 7] = [
        |line| line.starts_with("[ RUN      ] "),
        |line| {
            line.contains(") test ") && line.trim_start().starts_with(|first: char| first.is_ascii_digit())
        },
        |line| line.starts_with("---- ") && line.ends_with(" stdout ----"),
        |line| line.starts_with("error[E"),
        |line| line.starts_with("  ● ") && !line.contains("Console"),
        |line| line.starts_with("<testcase"),
        |line| line.starts_with("__") && line.ends_with("__"),
    ];
    let lines: Vec<&str> = text.lines().collect();
    for is_header in starts_block {
        let headers: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| is_header(line)).map(|(at, _)| at).collect();
        let (Some(first), Some(last)) = (headers.first(), headers.last()) else { continue };
        if headers.len() < 3 {
            continue;
        }
        // The last block ends where nobody says, so it stays.
        let mut blocks: Vec<&[&str]> = headers.windows(2).map(|pair| &lines[pair[0]..pair[1]]).collect();
        if blocks.iter().any(|block| {
            block.iter().any(|line| {
                line.starts_with("====")
                    || line.starts_with("failures:")
                    || line.starts_with("FAIL ")
                    || line.starts_with("test result")
            })
        }) {
            continue;
        }
        for index in (1..blocks.len()).rev() {
            blocks.swap(index, random.below(index as u64 + 1) as usize);
        }
        let mut out = lines[..*first].to_vec();
        out.extend(blocks.concat());
        out.extend(&lines[*last..]);
        return out.join("\n") + "\n";
    }
    text.to_string()
}

/// Colours at word boundaries, as tools with a terminal print them.
fn colours(text: &str, random: &mut Random) -> String {
    if text.trim_start().starts_with(['<', '{']) {
        return text.to_string();
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        match random.below(3) {
            0 => out.push_str(&format!("\x1b[1m\x1b[31m{body}\x1b[0m{end}")),
            1 => out.push_str(&format!(
                "{}{end}",
                body.replace(' ', " \x1b[38;5;12m\x1b[K").replace(':', "\x1b[0m:")
            )),
            _ => out.push_str(line),
        }
    }
    out
}

/// Output of other tools before it.
fn chatter(case: &Case, random: &mut Random) -> String {
    let words = [
        "Resolving dependencies",
        "downloaded 12 packages",
        "[2/5] linking",
        "up to date",
        "  ok so far",
        "",
    ];
    let mut out = String::new();
    for _ in 0..random.below(40) {
        out.push_str(words[random.below(6) as usize]);
        out.push_str(&format!(" {}\n", random.below(1000)));
    }
    // The tail of a silent command is whatever was printed before it.
    if case.runner == "generic" { case.output.clone() } else { out + &case.output }
}
