//! The words of a check's command line, read leniently.
//!
//! Owns what a word is and whether a pipe stands outside of quotes. Refuses nothing: a line that a shell would not accept
//! is split as far as it can be. So the result may decide where to look, never how a line is changed.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// Without quotes and backslashes; variables are left as they are written.
    pub(crate) text: String,
    /// Where it stands in the line, quotes included.
    pub(crate) place: Range<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellWords {
    pub(crate) words: Vec<ShellWord>,
    /// Whether the output of one command is another's input.
    pub(crate) has_pipe: bool,
}

impl ShellWords {
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// The value as it is written, quotes included, of a variable that the line sets for a command.
    pub(crate) fn assignment<'a>(&self, line: &'a str, name: &str) -> Option<&'a str> {
        let raw = self.words.iter().filter_map(|word| line.get(word.place.clone()));
        raw.filter_map(|raw| raw.split_once('=')).find(|(set, _)| *set == name).map(|(_, value)| value)
    }

    /// The directory that the line changes to before anything else.
    pub(crate) fn first_directory(&self) -> Option<&str> {
        let mut texts = self.texts();
        (texts.next() == Some("cd")).then(|| texts.next()).flatten()
    }
}

struct Scanner<'a> {
    rest: Peekable<CharIndices<'a>>,
    found: ShellWords,
    word: Option<(usize, String)>,
    previous: char,
}

pub(crate) fn shell_words(line: &str) -> ShellWords {
    let mut scanner = Scanner {
        rest: line.char_indices().peekable(),
        found: ShellWords::default(),
        word: None,
        previous: ' ',
    };
    while let Some((at, character)) = scanner.rest.next() {
        match character {
            '\'' | '"' => scanner.quoted(at, character),
            '\\' => {
                if let Some((_, escaped)) = scanner.rest.next().filter(|(_, escaped)| *escaped != '\n') {
                    scanner.push(at, escaped);
                }
            }
            '#' if scanner.word.is_none() => {
                while scanner.rest.next_if(|(_, next)| *next != '\n').is_some() {}
            }
            '|' => {
                scanner.end(at);
                let is_or = scanner.rest.next_if(|(_, next)| *next == '|').is_some();
                // `>|` writes to a file.
                scanner.found.has_pipe |= !is_or && scanner.previous != '>';
            }
            ' ' | '\t' | '\n' | '\r' | ';' | '&' | '(' | ')' | '<' | '>' | '`' => scanner.end(at),
            _ => scanner.push(at, character),
        }
        scanner.previous = character;
    }
    scanner.end(line.len());
    scanner.found
}

impl Scanner<'_> {
    fn push(&mut self, at: usize, character: char) {
        self.word.get_or_insert_with(|| (at, String::new())).1.push(character);
    }

    fn quoted(&mut self, start: usize, quote: char) {
        self.word.get_or_insert_with(|| (start, String::new()));
        while let Some((at, character)) = self.rest.next() {
            match character {
                _ if character == quote => return,
                '\\' if quote == '"' => {
                    if let Some((_, escaped)) = self.rest.next() {
                        self.push(at, escaped);
                    }
                }
                _ => self.push(at, character),
            }
        }
    }

    fn end(&mut self, at: usize) {
        if let Some((start, text)) = self.word.take() {
            self.found.words.push(ShellWord { text, place: start..at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pipe_outside_of_quotes_is_one() {
        let table = [
            ("pytest | tee log", true),
            ("pytest|cat", true),
            ("pytest |& cat", true),
            ("(a | b) && c", true),
            ("x=$(a | b)", true),
            ("a || b", false),
            ("a || b | c", true),
            ("grep 'a|b' f", false),
            ("grep \"a|b\" f", false),
            ("grep \"a\\\"|b\" f", false),
            ("grep a\\|b f", false),
            ("a >| b", false),
            ("a # b | c", false),
            ("a # b\nc | d", true),
            ("a#b | c", true),
            ("sh -c 'a | b'", false),
            ("", false),
        ];
        for (line, expected) in table {
            assert_eq!(shell_words(line).has_pipe, expected, "{line}");
        }
    }

    #[test]
    fn words_lose_their_quotes_and_know_their_place() {
        let line = "cd 'a b' && PYTHONPATH=\"src:$PYTHONPATH\" python3 -m pytest>log; ./x\\ y.sh";
        let read = shell_words(line);
        let texts: Vec<&str> = read.texts().collect();
        let expected =
            ["cd", "a b", "PYTHONPATH=src:$PYTHONPATH", "python3", "-m", "pytest", "log", "./x y.sh"];
        assert_eq!(texts, expected);
        assert_eq!(read.first_directory(), Some("a b"));
        assert_eq!(read.assignment(line, "PYTHONPATH"), Some("\"src:$PYTHONPATH\""));
        assert_eq!(read.assignment(line, "PATH"), None);
        assert_eq!(line.get(read.words[7].place.clone()), Some("./x\\ y.sh"));
    }
}
