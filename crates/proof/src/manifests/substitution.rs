//! Whether a dependency's new specification takes its code from somewhere else.
//!
//! Owns the words by which the package managers say so. Refuses to know the format: both versions are text.

/// Words in a specification that name code of another origin than the registry's package of that name.
const ORIGINS: [&str; 22] = [
    "file:",
    "link:",
    "portal:",
    "workspace:",
    "npm:",
    "patch:",
    "git+",
    "git:",
    "git@",
    "github:",
    "http:",
    "https:",
    "\"link\"",
    "path",
    "git ",
    "git=",
    "package ",
    "package=",
    "registry",
    "systemPath",
    "url",
    "./",
];

/// Whether `now` names an origin that `base` did not.
pub(super) fn is_substitution(base: &str, now: &str) -> bool {
    base != now
        && ORIGINS
            .iter()
            .any(|origin| now.contains(origin) && !(base.contains(origin) && same_origin(base, now, origin)))
}

/// Whether an entry of npm's lock file names local code that it did not name before.
pub(super) fn is_local_lock(base: &str, now: &str) -> bool {
    let is_local = |text: &str| {
        let squeezed: String = text.split_whitespace().collect();
        squeezed.contains("\"link\":true")
            || squeezed.split("\"resolved\":\"").skip(1).any(|behind| !behind.starts_with("http"))
    };
    is_local(now) && base != now && !is_local(base)
}

/// Whether both texts go on in the same way behind a word.
fn same_origin(base: &str, now: &str, origin: &str) -> bool {
    let behind = |text: &str| -> String {
        let rest = text.split_once(origin).map_or("", |(_, rest)| rest);
        rest.chars().take_while(|letter| !matches!(letter, ',' | '}' | '\n')).collect()
    };
    behind(base).trim() == behind(now).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_origins() {
        for (base, now, expected) in [
            ("\"^1.0\"", "\"^2.0\"", false),
            ("\"^1.0\"", "\"file:./fake\"", true),
            ("\"^1.0\"", "\"npm:other@1\"", true),
            ("\"1\"", "{ version = \"1\", features = [\"derive\"] }", false),
            ("\"1\"", "{ path = \"fake\" }", true),
            ("{ path = \"a\" }", "{ path = \"a\", features = [\"x\"] }", false),
            ("{ path = \"a\" }", "{ path = \"b\" }", true),
            ("{ git = \"u\", rev = \"1\" }", "{ git = \"u\", rev = \"2\" }", false),
        ] {
            assert_eq!(is_substitution(base, now), expected, "{base} {now}");
        }
    }
}
