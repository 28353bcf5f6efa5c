//! Shell text as simple commands, read leniently.
//!
//! Owns words, quotes, assignments, pipes, substitutions, redirections, comments and here-documents, as far as they say what
//! is run. Refuses to be exact: what a shell would refuse is read somehow, since a file that is missed weakens a proof, and
//! one too many is only named.

use std::iter::Peekable;
use std::str::Chars;

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) words: Vec<String>,
    pub(crate) assignments: Vec<(String, String)>,
    /// Whether what it prints is compared, rather than how it ends: it is what is tested, not a test.
    pub(crate) is_judged: bool,
    /// Files it writes.
    pub(crate) outputs: Vec<String>,
    /// Files it reads from its input, or from that of `cat` before it.
    pub(crate) inputs: Vec<String>,
    /// Files whose text stands in its words: `$(cat file)`.
    pub(crate) texts: Vec<String>,
    /// Files of which a part stands in its words, or comes in: `$(grep x file)`.
    pub(crate) extracts: Vec<String>,
    /// The command whose output it reads.
    pub(crate) before: Vec<String>,
}

impl Call {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.inputs.is_empty()
    }

    /// The files that it prints as they are.
    fn printed(&self) -> Vec<String> {
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).skip_while(|word| *word == "shell").collect();
        match words.split_first() {
            Some((&"cat", files)) => {
                files.iter().filter(|file| !file.starts_with('-')).map(ToString::to_string).collect()
            }
            None => self.inputs.clone(),
            Some(_) => Vec::new(),
        }
    }

    /// The files of which it prints a part.
    fn extracted(&self) -> Vec<String> {
        let is_filter = self.words.first().is_some_and(|word| FILTERS.contains(&word.as_str()));
        let is_file = |word: &&String| !word.starts_with('-');
        let named = self.words.iter().skip(1).filter(is_file);
        let all = named.chain(&self.inputs).chain(&self.extracts);
        if is_filter { all.cloned().collect() } else { Vec::new() }
    }
}

/// Programs that print a part of what they read.
const FILTERS: [&str; 17] = [
    "sed", "grep", "egrep", "awk", "gawk", "mawk", "cut", "head", "tail", "sort", "uniq", "tr", "jq", "yq",
    "tac", "envsubst", "xargs",
];
/// Programs that judge what they read.
const JUDGES: [&str; 11] = ["grep", "egrep", "fgrep", "rg", "diff", "cmp", "awk", "jq", "comm", "test", "["];
/// Words of the shell before a command.
const KEYWORDS: [&str; 14] =
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "fi", "done", "}", "esac"];

pub(crate) fn calls(text: &str) -> Vec<Call> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        calls: Vec::new(),
        heredocs: Vec::new(),
        printed: Vec::new(),
        extracted: Vec::new(),
        depth: 0,
    };
    reader.list(None);
    reader.calls
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    calls: Vec<Call>,
    heredocs: Vec<String>,
    /// Files whose text stands in the word that is read.
    printed: Vec<String>,
    /// Files of which a part stands in it.
    extracted: Vec<String>,
    depth: usize,
}

/// How deep substitutions are followed.
const MAX_DEPTH: usize = 12;

impl Reader<'_> {
    /// Reads commands up to a closing letter or the end.
    fn list(&mut self, close: Option<char>) {
        let mut pipeline: Vec<Call> = Vec::new();
        let mut call = Call::default();
        while let Some(letter) = self.rest.next() {
            if Some(letter) == close {
                break;
            }
            match letter {
                ' ' | '\t' | '\r' => {}
                '\\' if self.rest.peek() == Some(&'\n') => drop(self.rest.next()),
                '#' => while self.rest.next_if(|letter| *letter != '\n').is_some() {},
                '|' if self.rest.next_if_eq(&'|').is_none() => {
                    self.rest.next_if_eq(&'&');
                    pipeline.push(std::mem::take(&mut call));
                }
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    pipeline.push(std::mem::take(&mut call));
                    self.end_pipeline(&mut pipeline);
                    if letter == '\n' {
                        self.skip_heredocs();
                    }
                }
                '<' | '>' => self.redirection(letter, &mut call),
                first => {
                    let word = self.word(first);
                    call.texts.append(&mut self.printed);
                    call.extracts.append(&mut self.extracted);
                    let is_descriptor = word.bytes().all(|byte| byte.is_ascii_digit());
                    match self.rest.next_if(|next| is_descriptor && matches!(next, '<' | '>')) {
                        // Where another output than the first goes does not matter.
                        Some(next) if word != "1" => self.redirection(next, &mut Call::default()),
                        Some(next) => self.redirection(next, &mut call),
                        None => add(&mut call, word),
                    }
                }
            }
        }
        pipeline.push(call);
        self.end_pipeline(&mut pipeline);
    }

    fn end_pipeline(&mut self, pipeline: &mut Vec<Call>) {
        let is_judge = |call: &Call| call.words.first().is_some_and(|word| JUDGES.contains(&word.as_str()));
        let last_judge = pipeline.iter().rposition(is_judge).unwrap_or(0);
        let mut before: Option<(Vec<String>, Vec<String>, Vec<String>)> = None;
        for call in pipeline.iter_mut() {
            if let Some((printed, extracted, words)) = before.take() {
                call.inputs.extend(printed);
                call.extracts.extend(extracted);
                call.before = words;
            }
            before = Some((call.printed(), call.extracted(), call.words.clone()));
        }
        for (at, mut call) in pipeline.drain(..).enumerate() {
            call.is_judged |= at < last_judge;
            if !call.is_empty() {
                self.calls.push(call);
            }
        }
    }

    fn redirection(&mut self, letter: char, call: &mut Call) {
        if self.rest.next_if_eq(&'(').is_some() {
            // A process substitution: what it prints is read as a file.
            self.substitution(')');
            add(call, "/dev/stdin".to_string());
            return;
        }
        let is_here = letter == '<' && self.rest.next_if_eq(&'<').is_some();
        self.rest.next_if(|next| matches!(next, '>' | '|' | '-'));
        if self.rest.next_if_eq(&'&').is_some() {
            while self.rest.next_if(|next| next.is_ascii_digit() || *next == '-').is_some() {}
            return;
        }
        while self.rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
        let Some(first) = self.rest.next_if(|next| *next != '\n') else { return };
        let target = self.word(first);
        if is_here {
            self.heredocs.push(target);
        } else if letter == '>' && !target.starts_with("/dev/") {
            call.is_judged = true;
            call.outputs.push(target);
        } else if letter == '<' && !target.starts_with("/dev/") {
            call.inputs.push(target);
        }
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            loop {
                let mut line = String::new();
                while let Some(letter) = self.rest.next_if(|letter| *letter != '\n') {
                    line.push(letter);
                }
                if self.rest.next().is_none() || line.trim() == end {
                    break;
                }
            }
        }
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::new();
        let mut next = Some(first);
        while let Some(letter) = next {
            match letter {
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => word.push(escaped),
                },
                '\'' => {
                    while let Some(letter) = self.rest.next_if(|letter| *letter != '\'') {
                        word.push(letter);
                    }
                    self.rest.next();
                }
                '"' => self.double_quoted(&mut word),
                '$' if self.rest.next_if_eq(&'(').is_some() => {
                    self.substitution(')');
                    word.push_str("$()");
                }
                '`' => {
                    self.substitution('`');
                    word.push_str("$()");
                }
                _ => word.push(letter),
            }
            let ends = |letter: &char| {
                letter.is_whitespace() || matches!(letter, ';' | '&' | '|' | '(' | ')' | '<' | '>')
            };
            next = self.rest.next_if(|letter| !ends(letter));
        }
        word
    }

    fn double_quoted(&mut self, word: &mut String) {
        while let Some(letter) = self.rest.next() {
            match letter {
                '"' => return,
                '\\' => word.extend(self.rest.next().filter(|letter| *letter != '\n')),
                '$' if self.rest.next_if_eq(&'(').is_some() => {
                    self.substitution(')');
                    word.push_str("$()");
                }
                '`' => {
                    self.substitution('`');
                    word.push_str("$()");
                }
                _ => word.push(letter),
            }
        }
    }

    /// Commands whose output becomes text.
    fn substitution(&mut self, close: char) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let known = self.calls.len();
        self.list(Some(close));
        self.depth -= 1;
        for call in self.calls.iter_mut().skip(known) {
            call.is_judged = true;
        }
        let printed = self.calls.last().filter(|_| self.calls.len() > known).map(Call::printed);
        self.printed.extend(printed.unwrap_or_default());
        let extracted = self.calls.last().filter(|_| self.calls.len() > known).map(Call::extracted);
        self.extracted.extend(extracted.unwrap_or_default());
    }
}

fn add(call: &mut Call, word: String) {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match word.split_once('=') {
        Some((name, value)) if call.words.is_empty() && is_name(name) => {
            call.assignments.push((name.to_string(), value.to_string()));
        }
        _ if call.words.is_empty() && KEYWORDS.contains(&word.as_str()) => {}
        _ => call.words.push(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |call: Call| {
            let judged = if call.is_judged { "?" } else { "" };
            let assigned: String =
                call.assignments.iter().map(|(name, value)| format!("{name}:{value} ")).collect();
            format!("{judged}{assigned}{}", call.words.join(","))
        };
        calls(text).into_iter().map(show).collect()
    }

    #[test]
    fn text_is_taken_apart() {
        for (text, expected) in [
            ("a b && c 'd e'; f", vec!["a,b", "c,d e", "f"]),
            ("CI=1 npm test", vec!["CI:1 npm,test"]),
            ("./a.sh | grep -q x", vec!["?./a.sh", "grep,-q,x"]),
            ("./a.sh | tee log", vec!["./a.sh", "tee,log"]),
            ("test \"$(./a.sh 1)\" = 2", vec!["?./a.sh,1", "test,$(),=,2"]),
            ("if ! ./a; then b; fi", vec!["./a", "b"]),
            ("./a > out 2>&1 && diff out want", vec!["?./a", "diff,out,want"]),
            ("./a > /dev/null", vec!["./a"]),
            ("cat <<EOF\nrm x\nEOF\nb # c", vec!["cat", "b"]),
            ("(cd x && sh y.sh)", vec!["cd,x", "sh,y.sh"]),
            ("diff <(./a) want", vec!["?./a", "diff,/dev/stdin,want"]),
            ("a \\\n b", vec!["a,b"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
