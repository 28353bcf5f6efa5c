//! Changes to a command line: what is put where, without touching a word of the user's that need not go.
//!
//! Owns places in the text. Knows no runner: those say what to add and this says where it stands, also where the
//! runner is called by a package script, behind which words can only be appended.

use std::ops::Range;

/// One argument of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// What the runner is given.
    pub(super) text: String,
    /// Where it stands in the line; nowhere where a package script holds it.
    pub(super) place: Option<Range<usize>>,
}

/// How what is added reaches the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// The runner is called in the line itself; its arguments begin at this place.
    Direct {
        /// The end of the runner's name.
        begin: usize,
    },
    /// A package script calls it, and is given everything that follows.
    Appended,
    /// A package script calls it, and is given what follows `--`, which is not there yet.
    BehindDashes,
}

/// The arguments of the runner, and where more of them can be put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) list: Vec<Argument>,
    /// Where the command ends.
    pub(super) end: usize,
    pub(super) passing: Passing,
}

/// What to do to the arguments. Texts are as the shell reads them, in quotes where necessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// Put right behind the runner's name.
    Begin(String),
    /// Put among the options, before a `--`.
    Option(String),
    /// Put behind the argument of this index.
    Behind(usize, String),
    /// Put in place of the argument of this index.
    Replace(usize, String),
    /// Taken out.
    Remove(usize),
    /// Put at the very end.
    End(String),
    /// Put at the very end, behind a `--`.
    Beyond(String),
}

impl Arguments {
    /// The arguments as the runner is given them.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.list.iter().map(|argument| argument.text.as_str()).collect()
    }

    /// The line with the changes made; nothing where one of them has no place.
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
    /// Takes a word out, with the blanks before it.
    fn remove(&mut self, place: Range<usize>) -> Option<()> {
        let before = self.line.get(..place.start)?.trim_end_matches([' ', '\t']).len();
        self.list.push((before..place.end, String::new()));
        Some(())
    }

    fn made(mut self) -> Option<String> {
        self.list.sort_by_key(|(place, _)| place.start);
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
