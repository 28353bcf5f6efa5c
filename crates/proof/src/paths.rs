//! Paths as text: their parts, joining, and globs over them.
//!
//! Owns one small glob language: `*` and `?` within a part, `**` for one or more parts. A glob matches at any depth unless
//! it begins with `/`. Refuses to look at a tree.

pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The directory of a path; empty at the root.
pub(crate) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The part of a name behind its last dot; empty for a name without one and for dot files.
pub(crate) fn extension(path: &str) -> &str {
    match name(path).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension,
        _ => "",
    }
}

pub(crate) fn stem(path: &str) -> &str {
    let name = name(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// A directory and a path in it, without `.` and `..`; nothing if it leaves the root. `//` at the front means the root.
pub(crate) fn join(directory: &str, path: &str) -> Option<String> {
    let whole = match path.strip_prefix("//") {
        Some(from_root) => from_root.to_string(),
        None if path.starts_with('/') => return None,
        None => format!("{directory}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a glob matches a path.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match glob.strip_prefix('/') {
        Some(anchored) => parts_match(&anchored.split('/').collect::<Vec<_>>(), &parts),
        None => {
            let globs: Vec<&str> = glob.split('/').collect();
            (0..parts.len()).any(|skipped| parts_match(&globs, parts.get(skipped..).unwrap_or_default()))
        }
    }
}

fn parts_match(globs: &[&str], parts: &[&str]) -> bool {
    match (globs.split_first(), parts.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), Some((_, after))) => parts_match(rest, after) || parts_match(globs, after),
        (Some((glob, globs)), Some((part, parts))) => part_matches(glob, part) && parts_match(globs, parts),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether a glob without `/` matches one part of a path, letter by letter, with one way back: to the last `*`.
pub(crate) fn part_matches(glob: &str, part: &str) -> bool {
    let (glob, part) = (glob.as_bytes(), part.as_bytes());
    let (mut at, mut seen) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(letter) = part.get(seen) {
        match glob.get(at) {
            Some(b'*') => {
                retry = Some((at, seen));
                at += 1;
            }
            Some(wanted) if wanted == letter || *wanted == b'?' => {
                at += 1;
                seen += 1;
            }
            Some(_) | None => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                at = star + 1;
                seen = from + 1;
            }
        }
    }
    glob.get(at..).unwrap_or_default().iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, path, expected) in [
            ("tests/**", "tests/a.py", true),
            ("tests/**", "x/tests/y/a.py", true),
            ("tests/**", "tests", false),
            ("/t/**", "t/a.t", true),
            ("/t/**", "x/t/a.t", false),
            ("*.test.*", "src/a.test.ts", true),
            ("*.test.*", "src/atest.ts", false),
            ("src/*Test/**", "app/src/androidTest/java/A.java", true),
            ("lib/minitest/**", "lib/minitest/x/y.rb", true),
            ("*", "", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("?.py", "a.py", true),
        ] {
            assert_eq!(matches(glob, path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn joined() {
        for (directory, path, expected) in [
            ("", "a", Some("a")),
            ("d", "./a/../b", Some("d/b")),
            ("d", "../../a", None),
            ("d", "//a", Some("a")),
            ("d", "/etc/a", None),
        ] {
            assert_eq!(join(directory, path).as_deref(), expected, "{directory} {path}");
        }
    }
}
