//! The scope guard by table.

use fixpoint_vocabulary::settings::{Companion, ScopeSettings};

use super::{Answer, Changed, Question, Rule, ScopeGuard, ScopeViolation, Violation, decide};
use crate::prelude::*;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_string()).collect()
}

fn question(changed: &[&str], allowed: &[&str], denied: &[&str]) -> Question {
    Question {
        changed: changed.iter().map(|&path| Changed { path: path.to_string(), lines: None }).collect(),
        allowed_paths: owned(allowed),
        denied_paths: owned(denied),
        max_changed_files: None,
        max_changed_lines: None,
        companions: Vec::new(),
    }
}

fn violation(path: &str, rule: Rule, pattern: Option<&str>) -> Violation {
    Violation { path: Some(path.to_string()), rule, pattern: pattern.map(ToString::to_string) }
}

#[test]
fn the_first_rule_a_path_breaks_is_reported() {
    use Rule::{AllowedPaths, DeniedPaths, NotATreePath, OwnConfiguration};
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], Option<(Rule, Option<&'a str>)>);
    let outside = Some((AllowedPaths, None));
    let own = Some((OwnConfiguration, None));
    let no_path = Some((NotATreePath, None));
    let rows: &[Row<'_>] = &[
        // path, allowed, denied, violation
        ("src/a.rs", &[], &[], None),
        ("src/a.rs", &["src/**"], &[], None),
        ("src/a.rs", &["src"], &[], None),
        ("src/a.rs", &["src/"], &[], None),
        ("src", &["src/"], &[], outside),
        ("src/a.rs", &["/a.rs"], &[], outside),
        ("src/a.rs", &["docs/**", "*.rs"], &[], None),
        ("src/a.rs", &["# src"], &[], outside),
        ("src/a.rs", &["src/["], &[], outside),
        ("src/a.rs", &["*.rs", "!a.rs"], &[], outside),
        ("src/a.rs", &["src/**"], &["*.rs"], Some((DeniedPaths, Some("*.rs")))),
        ("src/a.rs", &[], &["docs", "src", "a.rs"], Some((DeniedPaths, Some("src")))),
        ("src/a.rs", &["docs"], &["a.rs"], Some((DeniedPaths, Some("a.rs")))),
        ("src/a.rs", &[], &["*.rs", "!a.rs"], None),
        ("src/a.rs", &[], &["src", "!a.rs"], Some((DeniedPaths, Some("src")))),
        (".fixpoint", &[], &[], own),
        (".fixpoint/config.yaml", &[".fixpoint/**"], &[".fixpoint"], own),
        (".FixPoint/config.yaml", &[], &[], own),
        (".fixpoint//x", &[], &[], own),
        (".fixpoints", &[], &[], None),
        ("a/.fixpoint/x", &[], &[], None),
        ("", &[], &[], no_path),
        ("/src/a.rs", &["src/**"], &["*"], no_path),
        ("src/../etc", &["src/**"], &[], no_path),
        ("./src/a.rs", &["src/**"], &[], no_path),
        ("src//a.rs", &["src/**"], &[], no_path),
        ("src/", &["src/**"], &[], no_path),
        ("./.fixpoint/x", &[], &[], no_path),
    ];
    for &(path, allowed, denied, expected) in rows {
        let violations: Vec<Violation> =
            expected.into_iter().map(|(rule, pattern)| violation(path, rule, pattern)).collect();
        let expected = Answer { ok: violations.is_empty(), violations };
        assert_eq!(decide(&question(&[path], allowed, denied)), expected, "{path} {allowed:?} {denied:?}");
    }
}

#[test]
fn violations_come_in_the_order_given_and_once_for_each_path() {
    let mut asked = question(&["b", "a", ".fixpoint/x", "b", "ok/1"], &["ok"], &["a"]);
    asked.max_changed_files = Some(3);
    asked.max_changed_lines = Some(0);
    asked.changed[4].lines = Some(1);
    let budget = |rule| Violation { path: None, rule, pattern: None };
    let violations = vec![
        violation("b", Rule::AllowedPaths, None),
        violation("a", Rule::DeniedPaths, Some("a")),
        violation(".fixpoint/x", Rule::OwnConfiguration, None),
        budget(Rule::MaxChangedFiles),
        budget(Rule::MaxChangedLines),
    ];
    assert_eq!(decide(&asked), Answer { violations, ok: false });
}

#[test]
fn a_budget_may_be_used_up_but_not_exceeded() {
    type Row<'a> = (&'a [Option<u64>], Option<u64>, Option<u64>, &'a [Rule]);
    let rows: &[Row<'_>] = &[
        // lines of each file, most files, most lines, violations
        (&[], Some(0), Some(0), &[]),
        (&[Some(2), Some(3)], Some(2), Some(5), &[]),
        (&[Some(2), Some(3)], Some(1), Some(5), &[Rule::MaxChangedFiles]),
        (&[Some(2), Some(3)], Some(2), Some(4), &[Rule::MaxChangedLines]),
        (&[None, Some(3)], None, Some(3), &[]),
        (&[None], Some(0), None, &[Rule::MaxChangedFiles]),
        (&[Some(u64::MAX), Some(u64::MAX)], None, Some(u64::MAX), &[]),
        (&[Some(u64::MAX), Some(u64::MAX)], None, Some(u64::MAX - 1), &[Rule::MaxChangedLines]),
    ];
    for &(lines, max_changed_files, max_changed_lines, rules) in rows {
        let guard = ScopeGuard::new(&ScopeSettings {
            max_changed_files,
            max_changed_lines,
            ..ScopeSettings::default()
        });
        let names: [&[u8]; 2] = [b"a", b"b"];
        let expected: Vec<ScopeViolation<'_>> =
            rules.iter().map(|&rule| ScopeViolation { path: None, rule, pattern: None }).collect();
        assert_eq!(guard.check(names.into_iter().zip(lines.iter().copied())), expected, "{lines:?}");
    }
}

#[test]
fn a_lock_file_may_change_with_a_manifest_within_the_scope() {
    type Row<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], &'a [(&'a str, Rule)]);
    let lock_outside = &[("Cargo.lock", Rule::AllowedPaths)];
    let rows: &[Row<'_>] = &[
        // changed, allowed, denied, violations
        (&["Cargo.lock", "crates/a/Cargo.toml"], &["crates/a"], &[], &[]),
        (&["crates/a/Cargo.toml", "Cargo.lock"], &["crates/a"], &[], &[]),
        (&["Cargo.lock"], &["crates/a"], &[], lock_outside),
        (&["Cargo.lock", "crates/a/src/lib.rs"], &["crates/a"], &[], lock_outside),
        (
            &["Cargo.lock", "crates/b/Cargo.toml"],
            &["crates/a"],
            &[],
            &[("Cargo.lock", Rule::AllowedPaths), ("crates/b/Cargo.toml", Rule::AllowedPaths)],
        ),
        (
            &["Cargo.lock", "crates/a/Cargo.toml"],
            &["crates/a"],
            &["Cargo.toml"],
            &[("Cargo.lock", Rule::AllowedPaths), ("crates/a/Cargo.toml", Rule::DeniedPaths)],
        ),
        (
            &["Cargo.lock", "crates/a/Cargo.toml"],
            &["crates/a"],
            &["*.lock"],
            &[("Cargo.lock", Rule::DeniedPaths)],
        ),
        (&["api.pb.go", "proto/api.proto"], &["proto"], &[], &[]),
        // A companion is no manifest: what excuses must itself be allowed.
        (
            &["chain.txt", "x/api.pb.go", "x/proto/api.proto"],
            &["proto/"],
            &[],
            &[("chain.txt", Rule::AllowedPaths)],
        ),
    ];
    for &(changed, allowed, denied, expected) in rows {
        let mut asked = question(changed, allowed, denied);
        asked.companions = [("*.pb.go", "*.proto"), ("chain.txt", "*.pb.go")]
            .map(|(file, with)| Companion { file: file.to_string(), with: with.to_string() })
            .into();
        let found = decide(&asked).violations;
        let found: Vec<(&str, Rule)> =
            found.iter().map(|violation| (violation.path.as_deref().unwrap_or(""), violation.rule)).collect();
        assert_eq!(found, expected, "{changed:?} {allowed:?} {denied:?}");
    }
}

#[test]
fn paths_need_not_be_text() {
    let guard =
        ScopeGuard::new(&ScopeSettings { allowed_paths: owned(&["src/?"]), ..ScopeSettings::default() });
    let changed: [&[u8]; 2] = [b"src/\xff", b"\xfe"];
    let violation = ScopeViolation { path: Some(b"\xfe"), rule: Rule::AllowedPaths, pattern: None };
    assert_eq!(guard.check(changed.map(|path| (path, None))), [violation]);
}

#[test]
fn json_says_no_more_than_needed() {
    let asked = r#"{"changed": [{"path": "a", "status": "added"}, {"path": "b", "lines": 2}], "allowed_paths": ["a"], "denied_paths": ["b"], "max_changed_lines": 1}"#;
    let asked: Question = serde_json::from_str(asked).expect("a question");
    let answer = serde_json::to_string(&decide(&asked)).expect("an answer");
    let expected = r#"{"violations":[{"path":"b","rule":"denied_paths","pattern":"b"},{"rule":"max_changed_lines"}],"ok":false}"#;
    assert_eq!(answer, expected);
    for missing in [r#"{"changed": []}"#, r#"{"allowed_paths": []}"#] {
        assert!(serde_json::from_str::<Question>(missing).is_err(), "{missing}");
    }
    let schema = serde_json::to_value(schemars::schema_for!(Changed)).expect("a schema");
    assert_eq!(schema["additionalProperties"], true);
}
