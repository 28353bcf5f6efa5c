//! Credentials that must go, and texts that must stay.

use proptest::prelude::*;

use super::*;

const SECRET: &str = "p@ss \"word\"/+ with ~ 7!";

fn redacted(text: &str) -> String {
    Redactor::default().redact(text).to_string()
}

#[test]
fn a_redacted_text_keeps_everything_but_credentials() {
    let redactor = Redactor::knowing(["hunter2-hunter2".to_string(), "hunter2-hunter2-and-more".to_string()]);
    for (text, clean) in [
        ("nothing to hide: 12 of 13", "nothing to hide: 12 of 13"),
        ("password=hunter2-hunter2;", "password=[removed];"),
        ("hunter2-hunter2-and-more", "[removed]"),
        ("a ghp_0123456789abcdefABCD, b\n", "a [removed], b\n"),
        ("鍵はsk-abcdef0123456789abcdです", "鍵は[removed]です"),
    ] {
        assert_eq!(redactor.redact(text).as_str(), clean);
    }
    assert!(!format!("{redactor:?}").contains("hunter2"));
}

#[test]
fn a_short_value_is_no_secret() {
    assert_eq!(Redactor::knowing(["true".to_string()]).redact("is true").as_str(), "is true");
}

/// `printf %s "$SECRET" | base64`, and so on.
#[test]
fn a_known_value_is_found_in_every_form() {
    let redactor = Redactor::knowing([SECRET.to_string()]);
    for (name, text, clean) in [
        ("as it is", "x p@ss \"word\"/+ with ~ 7! y", "x [removed] y"),
        ("base64", "x cEBzcyAid29yZCIvKyB3aXRoIH4gNyE= y", "x [removed] y"),
        ("base64 after `u:`", "Basic: dTpwQHNzICJ3b3JkIi8rIHdpdGggfiA3IQ== y", "Basic: [removed] y"),
        ("base64 after `us:`", "x dXM6cEBzcyAid29yZCIvKyB3aXRoIH4gNyE y", "x [removed] y"),
        ("base64 after `a`", "x YXBAc3MgIndvcmQiLysgd2l0aCB+IDch y", "x [removed] y"),
        ("base64url after `a`", "x YXBAc3MgIndvcmQiLysgd2l0aCB-IDch y", "x [removed] y"),
        ("percent", "?q=p%40ss%20%22word%22%2F%2B%20with%20~%207%21&y", "?q=[removed]&y"),
        ("percent, lower case", "?q=p%40ss%20%22word%22%2f%2b%20with%20~%207%21&y", "?q=[removed]&y"),
        ("a form", "?q=p%40ss+%22word%22%2F%2B+with+~+7%21&y", "?q=[removed]&y"),
        ("by JavaScript", "?q=p%40ss%20%22word%22%2F%2B%20with%20~%207!&y", "?q=[removed]&y"),
        ("JSON", r#"{"a":"p@ss \"word\"/+ with ~ 7!"}"#, r#"{"a":"[removed]"}"#),
    ] {
        assert_eq!(redactor.redact(text).as_str(), clean, "{name}");
    }
    let lines = Redactor::knowing(["first line of a secret\nsecond line of it 22".to_string()]);
    assert_eq!(lines.redact("a second line of it 22 b").as_str(), "a [removed] b");
}

#[test]
fn names_of_secrets_are_told_from_others() {
    let is_secret = |name: &&str| Redactor::is_secret_name(name);
    assert!(["GITHUB_TOKEN", "db_password", "OPENAI_API_KEY"].iter().all(is_secret));
    assert!(!["PATH", "HOME", "KEYBOARD", "CARGO_HOME", "COMPASS"].iter().any(is_secret));
}

#[test]
fn addresses_may_hold_a_password() {
    for (address, password) in [
        ("postgres://me:s3cret-word@db:5432/x", Some("s3cret-word")),
        ("https://example.org/a:b@c", None),
        ("https://me@example.org", None),
        ("a:b@c", None),
    ] {
        assert_eq!(Redactor::password_in(address), password);
    }
    let netrc = "machine a login b password c-1\ndefault\n  login d\n  password e-2\n";
    assert_eq!(Redactor::netrc_passwords(netrc), ["c-1", "e-2"]);
}

#[test]
fn credentials_are_told_from_names() {
    for secret in [
        "sk-abcdef0123456789abcd",
        "sk-ant-api03-AbCdEfGhIjKlMnOp",
        "curl -H 'Authorization: Bearer ghp_0123456789abcdefABCDEF0123456789abcd' x",
        "glpat-0123456789abcdefghij",
        "github_pat_11ABCDEFG0123456789",
        "key=AKIAIOSFODNN7EXAMPLE;",
        "xoxp-1234567890-abcdefghij",
        "hf_0123456789abcdefghijABCDEFGHIJklmn",
        "npm_0123456789abcdefghijABCDEFGHIJklmnop",
        "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMAAC",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
        "{\"out\":\"A=1\\nghp_0123456789abcdefABCD\"}",
        "\u{1b}[32mghp_0123456789abcdefABCD\u{1b}[0m",
        "ASIAIOSFODNN7EXAMPLE",
        "ya29.a0AfH6SMBx0123456789abcdef",
    ] {
        assert!(is_in(secret), "{secret}");
        assert!(redacted(secret).contains(REMOVED), "{secret}");
    }
}

/// Whatever is printed every day stays.
#[test]
fn what_is_no_credential_stays() {
    for text in [
        "",
        "OPENAI_API_KEY",
        "sk-learn",
        "sk-only-words-without-digits-here",
        "task-0123456789abcdef0123",
        "AKIAlowercase0123456789",
        "ghp_short1",
        "cargo test --workspace",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "blob af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262 is damaged",
        "run 123e4567-e89b-12d3-a456-426614174000",
        "refs/fixpoint/20261116-181637-gyopl/loop/attempt-1",
        "target/debug/deps/fixpoint_decide-894acfcf3de06663",
        "npm_config_cache=/home/me/.npm npm_package_version=1.2.3",
        "https://example.org/a?page=2&token=short",
        "git@github.com:owner/repository.git",
        "ssh://git@github.com/owner/repository.git",
        "https://user:$PASSWORD@example.org/",
        "https://user:***@example.org/",
        "Authorization: required",
        "error: Authorization: Bearer authentication failed",
        "enter your login and password to continue",
        "password required",
        "  password incorrect\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "cache-key: v1-linux-0123456789",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "sha512-abc0123456789+/==",
        "test_token_refresh ... ok",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn places_tell_credentials() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc+/=\n-----END RSA PRIVATE KEY-----";
    for (name, text, clean) in [
        ("a key", format!("a\n{key}\nb"), "a\n[removed]\nb"),
        ("a key in JSON", format!("{{\"k\":\"{}\"}}", key.replace('\n', "\\n")), "{\"k\":\"[removed]\"}"),
        (
            "a key that was cut off",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nnot a key: this".to_string(),
            "[removed]not a key: this",
        ),
        ("a password", "git push https://me:hunter2@host/r".into(), "git push https://me:[removed]@host/r"),
        ("a token as name", "https://0123456789abcdef01@host/r".into(), "https://[removed]@host/r"),
        (
            "parameters",
            "GET https://h/p?a=1&access_token=abcdefgh1&b=2".into(),
            "GET https://h/p?a=1&access_token=[removed]&b=2",
        ),
        ("basic", "> Authorization: Basic dXNlcjpwYXNz".into(), "> Authorization: Basic [removed]"),
        ("bearer", "authorization: bearer abc.def-123".into(), "authorization: bearer [removed]"),
        (
            "JSON",
            r#""Authorization": "token abc123def", x"#.into(),
            r#""Authorization": "token [removed]", x"#,
        ),
        ("a scheme of its own", "Authorization: abcdef123456789".into(), "Authorization: [removed]"),
        ("no header", "Bearer 0123456789abcdefgh".into(), "Bearer [removed]"),
        ("another header", "X-Api-Key: abc12345".into(), "X-Api-Key: [removed]"),
        ("an option", "curl -H 'PRIVATE-TOKEN: abc12345'".into(), "curl -H 'PRIVATE-TOKEN: [removed]'"),
        ("netrc", "machine h login me password hunter".into(), "machine h login me password [removed]"),
        (
            "netrc in lines",
            "machine h\n login me\n password hunter\n".into(),
            "machine h\n login me\n password [removed]\n",
        ),
    ] {
        assert_eq!(redacted(&text), clean, "{name}");
    }
}

#[test]
fn a_private_key_is_held_back_until_its_end() {
    let redactor = Redactor::default();
    let mut stream = RedactionStream::new(&redactor);
    assert_eq!(stream.push_lines("a\n-----BEGIN PRIVATE KEY-----\nMIIE\n"), "a\n");
    assert_eq!(stream.push_lines("abcd\n"), "");
    assert_eq!(stream.push_lines("-----END PRIVATE KEY-----\nb\nc"), "[removed]\nb\n");
    assert_eq!(stream.finish(), "c");
}

/// Marks without an end: each of these took time with the square of its length where a search had no bound.
#[test]
fn no_text_takes_long() {
    let redactor = Redactor::knowing(["known-secret-value".to_string()]);
    for mark in [
        "://",
        "a://b?token=",
        "-----BEGIN PRIVATE KEY-----\n",
        "x-api-key",
        "Authorization:",
        "a25vd24tc2VjcmV0LXZhbHVl",
        "machine login password ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "Bearer ",
    ] {
        drop(redactor.redact(&mark.repeat(60_000 / mark.len())));
    }
}

/// One mark for several in a row.
fn single_marks(text: &str) -> String {
    let mut text = text.to_string();
    while text.contains("[removed][removed]") {
        text = text.replace("[removed][removed]", "[removed]");
    }
    text
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("ghp_0123456789abcdefABCD".to_string()),
        Just("known-secret-value".to_string()),
        Just("a25vd24tc2VjcmV0LXZhbHVl".to_string()),
        Just("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----".to_string()),
        Just("https://me:hunter2@host/r".to_string()),
        Just("machine h\n login me\n password hunter2 ".to_string()),
        "[a-z0-9 日\\n]{0,40}",
        Just(" ".repeat(5000)),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Catches a credential that is handed out in halves: a cut without regard to spans, or without the context.
    #[test]
    fn pieces_are_redacted_like_the_whole(text in hostile(), cuts in proptest::collection::vec(0_usize..60_000, 0..8)) {
        let redactor = Redactor::knowing(["known-secret-value".to_string()]);
        let whole = redactor.redact(&text);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        for by_lines in [false, true] {
            let mut stream = RedactionStream::new(&redactor);
            let mut clean = String::new();
            for pair in cuts.windows(2) {
                let piece = text.get(pair[0]..pair[1]).unwrap();
                clean.push_str(&if by_lines { stream.push_lines(piece) } else { stream.push(piece) });
            }
            clean.push_str(&stream.finish());
            prop_assert_eq!(single_marks(&clean), single_marks(whole.as_str()));
        }
    }

    /// Catches an index out of range, and text that is lost.
    #[test]
    fn any_text_can_be_redacted(text in "\\PC{0,200}", noise in "[-=:?&@/.a-zA-Z0-9 \\n\"']{0,200}") {
        let redactor = Redactor::knowing([SECRET.to_string()]);
        drop(redactor.redact(&text));
        drop(redactor.redact(&noise));
    }
}
