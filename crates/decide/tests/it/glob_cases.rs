//! Random paths and pattern lists: mostly plain, now and then as odd as a file system and a pattern file allow.
//!
//! The same values are drawn in every run, so a difference that is found once is found again.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Bytes of names that patterns treat specially, or that are no text at all.
const ODD_BYTES: &[u8] = b"*?[]\\!#-^ .:1AZ_\t\x01\x0b\x0c\x7f\x80\xff\xc3";

/// Everything a class can be made of, well and badly formed.
const CLASSES: &[&str] = &[
    "[ab]",
    "[!a]",
    "[^a]",
    "[a-b]",
    "[b-a]",
    "[]a]",
    "[!]a]",
    "[]-a]",
    "[a-]",
    "[-a]",
    "[a/b]",
    "[.-0]",
    "[\\]a]",
    "[\\\\]",
    "[a\\-b]",
    "[+-\\]]",
    "[[:alpha:]]",
    "[[:upper:]]",
    "[[:lower:]1]",
    "[![:alnum:]]",
    "[[:digit:]-a]",
    "[[:space:]]",
    "[[:cntrl:]]",
    "[[:punct:]]",
    "[[:print:]]",
    "[[:graph:]]",
    "[[:blank:]]",
    "[[:xdigit:]]",
    "[[:nope:]]",
    "[[::]]",
    "[[:]",
    "[[:a]",
    "[[:a:b]",
    "[[:alpha:]",
    "[a-[:digit:]]",
    "[a",
    "[",
    "[!",
    "[]",
    "[!]",
    "[\\",
    "[a-\\",
    "[a-c-b]",
    "[*?]",
    "[#-!]",
    "[ -~]",
    "[\u{e9}]",
];

/// Draws values.
pub(crate) struct Source(TestRunner);

impl Source {
    pub(crate) fn new() -> Self {
        Self(TestRunner::deterministic())
    }

    pub(crate) fn draw<T: std::fmt::Debug>(&mut self, strategy: &impl Strategy<Value = T>) -> T {
        strategy.new_tree(&mut self.0).expect("the strategy yields a value").current()
    }
}

fn name_byte() -> impl Strategy<Value = u8> {
    prop_oneof![12 => prop::sample::select(b"ab".as_slice()), 2 => Just(b'c'), 3 => prop::sample::select(ODD_BYTES)]
}

/// Paths that git and the file system accept.
pub(crate) fn path() -> impl Strategy<Value = Vec<u8>> {
    let name = vec(name_byte(), 1..4);
    vec(name, 1..5)
        .prop_map(|names| names.join(b"/".as_slice()))
        .prop_filter("a colon in front is notation of the git command line", |path| {
            path.first() != Some(&b':') && fixpoint_decide::glob::is_tree_path(path)
        })
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let text = |text: &'static str| Just(text.as_bytes().to_vec());
    prop_oneof![
        10 => name_byte().prop_map(|byte| vec![byte]),
        4 => text("*"),
        3 => text("?"),
        4 => text("/"),
        2 => text("**"),
        1 => text("***"),
        2 => text("/**/"),
        1 => text("**\\/"),
        2 => name_byte().prop_map(|byte| vec![b'\\', byte]),
        1 => text("\\/"),
        1 => text(" "),
        3 => prop::sample::select(CLASSES).prop_map(|class| class.as_bytes().to_vec()),
    ]
}

/// A pattern made of pieces that need not fit anything.
fn free_pattern() -> impl Strategy<Value = Vec<u8>> {
    vec(piece(), 1..7).prop_map(|pieces| pieces.concat())
}

/// A pattern made from a path by blurring it, so that it has a good chance to match that path.
fn blurred_pattern(paths: &[Vec<u8>]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
    (prop::sample::select(paths.to_vec()), vec(prop::option::weighted(0.25, piece()), longest)).prop_map(
        |(path, blurs)| {
            let blurred = path.into_iter().zip(blurs).map(|(byte, blur)| match (byte, blur) {
                (byte, None) => vec![byte],
                (b'/', Some(_)) => b"/**/".to_vec(),
                (_, Some(blur)) => blur,
            });
            blurred.collect::<Vec<_>>().concat()
        },
    )
}

/// One line of a pattern file: a pattern and, at times, the notation around it.
pub(crate) fn pattern(paths: &[Vec<u8>]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let before = prop_oneof![8 => Just(""), 4 => Just("!"), 2 => Just("/"), 1 => Just("!/"), 1 => Just("#"),
        1 => Just("\\#"), 1 => Just("\\!"), 1 => Just("**/")];
    let after = prop_oneof![8 => Just(""), 2 => Just("/"), 1 => Just("/**"), 1 => Just(" "), 1 => Just("\\ "),
        1 => Just("\\"), 1 => Just("/ ")];
    let body = prop_oneof![free_pattern(), blurred_pattern(paths)];
    (before, body, after)
        .prop_map(|(before, body, after)| [before.as_bytes(), &body, after.as_bytes()].concat())
}
