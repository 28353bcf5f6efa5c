//! Changes to a command line that leave all other words as they are.
//!
//! Owns positions in the text. Knows no runner: those say what to add, and this says where, also if a package script
//! calls the runner, after which words can only be appended.

use std::ops::Range;

/// One argument of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) text: String,
    /// Its position in the command line; `None` if it is in a package script.
    pub(super) place: Option<Range<usize>>,
}

/// How added arguments reach the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// The command line calls the runner itself; its arguments begin here.
    Direct { begin: usize },
    /// A package script calls it, and all following arguments are passed on.
    Appended,
    /// A package script calls it, and arguments after `--` are passed on; the `--` is not there yet.
    BehindDashes,
}

/// The arguments of the runner, and where others can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) list: Vec<Argument>,
    pub(super) end: usize,
    pub(super) passing: Passing,
}

/// A change of the arguments. Texts are quoted for the shell where necessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// Insert after the runner's name.
    Begin(String),
    /// Insert among the options, before a `--`.
    Option(String),
    /// Insert after the argument with this index.
    Behind(usize, String),
    /// Replace the argument with this index.
    Replace(usize, String),
    Remove(usize),
    /// Append.
    End(String),
    /// Append after a `--`.
    Beyond(String),
}

impl Arguments {
    pub(super) fn texts(&self) -> Vec<&str> {
        self.list.iter().map(|argument| argument.text.as_str()).collect()
    }

    /// The changed command line; `None` if a change cannot be made.
    pub(super) fn apply(&self, line: &str, changes: &[Change]) -> Option<String> {
        let separator = self.list.iter().find(|argument| argument.text == "--");
        let mut edits = Edits { line, list: Vec::new() };
        // What is appended comes in this order, whatever the order of the changes is.
        let (mut options, mut last, mut beyond) = (String::new(), String::new(), String::new());
        for change in changes {
            match (change, self.passing) {
                (Change::Begin(text), Passing::Direct { begin }) => {
                    edits.list.push((begin..begin, format!(" {text}")));
                }
                (Change::Begin(text) | Change::Option(text), _) => match separator {
                    None => push(&mut options, text),
                    Some(separator) => {
                        let start = separator.place.clone()?.start;
                        edits.list.push((start..start, format!("{text} ")));
                    }
                },
                (Change::Behind(index, text), _) => {
                    let end = self.place(*index)?.end;
                    edits.list.push((end..end, format!(" {text}")));
                }
                (Change::Replace(index, text), _) => edits.list.push((self.place(*index)?, text.clone())),
                (Change::Remove(index), _) => edits.remove(self.place(*index)?)?,
                (Change::End(text), _) => push(&mut last, text),
                (Change::Beyond(text), _) => push(&mut beyond, text),
            }
        }
        if !beyond.is_empty() && separator.is_none() {
            beyond.insert_str(0, " --");
        }
        let mut appended = options + &last + &beyond;
        if !appended.is_empty() && self.passing == Passing::BehindDashes {
            appended.insert_str(0, " --");
        }
        edits.list.push((self.end..self.end, appended));
        edits.made()
    }

    fn place(&self, index: usize) -> Option<Range<usize>> {
        self.list.get(index)?.place.clone()
    }
}

fn push(into: &mut String, text: &str) {
    into.push(' ');
    into.push_str(text);
}

struct Edits<'a> {
    line: &'a str,
    list: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    /// Removes a word and the blanks before it.
    fn remove(&mut self, place: Range<usize>) -> Option<()> {
        let before = self.line.get(..place.start)?.trim_end_matches([' ', '\t']).len();
        self.list.push((before..place.end, String::new()));
        Some(())
    }

    fn made(mut self) -> Option<String> {
        // What is inserted where something is removed comes first.
        self.list.sort_by_key(|(place, _)| (place.start, place.end));
        let mut text = String::with_capacity(self.line.len());
        let mut from = 0;
        for (place, put) in self.list {
            text.push_str(self.line.get(from..place.start)?);
            text.push_str(&put);
            from = place.end;
        }
        text.push_str(self.line.get(from..)?);
        Some(text)
    }
}
