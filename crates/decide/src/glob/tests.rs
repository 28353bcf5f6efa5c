//! Patterns, lists and overlap by table. That all of it agrees with git is tried against git itself.

use super::{Coverage, PatternSet, overlap};
use crate::prelude::*;
#[test]
fn one_pattern_covers_what_git_says() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        // pattern, covered, not covered
        ("a", &["a", "x/a", "a/x", "x/a/y"], &["ab", "ba", "x/ab"]),
        ("/a", &["a", "a/x"], &["x/a"]),
        ("a/", &["a/x", "x/a/y"], &["a", "x/a"]),
        ("a/b", &["a/b", "a/b/c"], &["x/a/b", "a/bc"]),
        ("a/b/", &["a/b/c"], &["a/b", "x/a/b/c"]),
        ("*.rs", &["a.rs", "x/.rs", "x.rs/y"], &["a.rsx"]),
        ("src/*.rs", &["src/a.rs", "src/a.rs/b"], &["src/x/a.rs", "a.rs"]),
        ("a?c", &["abc", "a\u{7f}c"], &["ac", "a/c", "a\u{e9}c"]),
        ("**", &["a", "a/b"], &[]),
        ("**/a", &["a", "x/a", "x/y/a/z"], &["xa"]),
        ("a/**", &["a/b", "a/b/c"], &["a", "x/a/b"]),
        ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]),
        ("a/**/**/b", &["a/b", "a/x/y/b"], &["ab"]),
        ("a**/b", &["a/b", "ax/b", "ab", "a/x/b"], &["b", "xa/b"]),
        ("?**/b", &["a/b", "ax/b"], &["ab", "a/x/b"]),
        ("a/b**/c", &["a/b/c", "a/bx/c", "a/bc", "a/b/x/c"], &["a/c"]),
        ("a/***/b", &["a/b", "a/x/y/b"], &["ab"]),
        ("**\\/a", &["x/a", "x/y/a"], &["a"]),
        ("\\#a", &["#a"], &["a", "\\#a"]),
        ("\\!a", &["!a"], &["a"]),
        ("#a", &[], &["#a", "a"]),
        ("a\\*b", &["a*b"], &["axb"]),
        ("a  ", &["a"], &["a  "]),
        ("a\\  ", &["a "], &["a", "a  "]),
        ("a\t", &["a\t"], &["a"]),
        ("a\\", &[], &["a", "a\\"]),
        ("a\\/", &[], &["a/b", "a\\/b"]),
        ("[ab]", &["a", "b"], &["c", "[ab]"]),
        ("[!a]", &["b"], &["a"]),
        ("[^a]x", &["bx"], &["ax", "x"]),
        ("[]a]", &["]", "a"], &["b"]),
        ("[!]a]", &["b"], &["]", "a"]),
        ("[a-c]", &["b"], &["d", "-"]),
        // The first byte of a range counts by itself before the range is known to be empty.
        ("[c-a]", &["c"], &["a", "b", "-"]),
        ("[a-]", &["a", "-"], &["b"]),
        ("[a-c-e]", &["b", "-", "e"], &["d"]),
        ("[\\]]", &["]"], &["\\"]),
        ("[[:alpha:]]", &["a", "Z"], &["1", ":", "\u{e9}"]),
        ("[[:digit:]a]", &["1", "a"], &["b"]),
        ("[[:a]", &["[", ":", "a"], &["b"]),
        ("x[!a]y", &["xby"], &["x/y"]),
        ("x[.-0]y", &["x.y", "x0y"], &["x/y"]),
        ("", &[], &["a"]),
        ("/", &[], &["a", "a/b"]),
        ("//", &[], &["a", "a/b"]),
        ("!", &[], &["a"]),
        ("   ", &[], &["a", "   "]),
        ("./a", &[], &["a"]),
    ];
    for &(pattern, covered, untouched) in cases {
        let set = PatternSet::new([pattern]);
        for path in covered {
            assert_eq!(set.matches_file(path.as_bytes()), Coverage::Covered(0), "{pattern:?} {path:?}");
        }
        for path in untouched {
            assert_eq!(set.matches_file(path.as_bytes()), Coverage::Untouched, "{pattern:?} {path:?}");
        }
    }
}

#[test]
fn the_last_pattern_decides_and_a_covered_directory_stays_covered() {
    let cases: &[(&[&str], &str, Coverage)] = &[
        (&["*.rs", "!a.rs"], "a.rs", Coverage::Exempt(1)),
        (&["!a.rs", "*.rs"], "a.rs", Coverage::Covered(1)),
        (&["*.rs", "# no", "!a.rs", "a.*"], "a.rs", Coverage::Covered(3)),
        (&["src", "!src/a.rs"], "src/a.rs", Coverage::Covered(0)),
        (&["src/*", "!src/a.rs"], "src/a.rs", Coverage::Exempt(1)),
        (&["src", "!src"], "src/a.rs", Coverage::Untouched),
        (&["src", "!src/", "a.rs"], "src/a.rs", Coverage::Covered(2)),
        (&["a", "a/b/c"], "a/b/c", Coverage::Covered(0)),
        (&[], "a", Coverage::Untouched),
        (&["*"], "a//b", Coverage::Untouched),
        (&["*"], "../a", Coverage::Untouched),
    ];
    for &(patterns, path, expected) in cases {
        assert_eq!(
            PatternSet::new(patterns).matches_file(path.as_bytes()),
            expected,
            "{patterns:?} {path:?}"
        );
    }
}

#[test]
fn malformed_patterns_are_named() {
    let set = PatternSet::new(["a", "[a", "#[", "b\\", "[[:nope:]]", "", "[!]"]);
    assert_eq!(set.malformed().collect::<Vec<_>>(), [1, 3, 4, 6]);
}

#[test]
fn lists_overlap_when_a_path_can_be_common_to_them() {
    let cases: &[(&[&str], &[&str], bool)] = &[
        (&["docs/**"], &["src/**"], false),
        (&["src/*.rs"], &["src/*.md"], false),
        (&["src/*.rs"], &["src/a*"], true),
        (&["**/*.rs"], &["src/**"], true),
        (&["src"], &["src/a.rs"], true),
        (&["a/b"], &["a/b/c"], true),
        (&["/a"], &["/b"], false),
        (&["a"], &["b"], true),
        (&["/a"], &["b"], true),
        (&["/src/*.rs"], &["/src/*.md"], false),
        (&["*.rs"], &["*.md"], true),
        (&["/a/"], &["/a"], true),
        (&["/a/[0-4]?"], &["/a/?[5-9]"], true),
        (&["/a/[0-4]"], &["/a/[5-9]"], false),
        (&["/a/[!b]"], &["/a/b"], false),
        (&["/a*z"], &["/b*z"], false),
        (&["/a*z"], &["/*b*"], true),
        (&["/a"], &["/aa"], false),
        (&["docs/**", "x/y"], &["src/**", "x"], true),
        (&["src/**", "!src/a"], &["src/a"], true),
        (&[], &["src"], true),
        (&[], &[], true),
        (&[], &["# nothing"], false),
        (&[], &["!src"], false),
        (&[], &["[a"], false),
        (&[".."], &[], false),
        (&["/src/."], &["/src"], false),
        (&["a/**"], &["/a"], true),
        (&["/?"], &["/\u{e9}"], false),
    ];
    for &(one, other, expected) in cases {
        let (left, right) = (PatternSet::new(one), PatternSet::new(other));
        assert_eq!(overlap(&left, &right), expected, "{one:?} {other:?}");
        assert_eq!(overlap(&right, &left), expected, "{other:?} {one:?}");
    }
}

/// Followed one possibility after another, these patterns would take longer than the age of the universe, and
/// the test would never end.
#[test]
fn no_pattern_takes_exponential_time() {
    let path = "a".repeat(4000);
    for piece in ["*a", "**/", "*?", "[a]*"] {
        let pattern: String = piece.repeat(100) + "b";
        let set = PatternSet::new([&pattern]);
        assert_eq!(set.matches_file(path.as_bytes()), Coverage::Untouched, "{pattern}");
        assert!(overlap(&set, &set) || piece == "**/", "{pattern}");
    }
}
