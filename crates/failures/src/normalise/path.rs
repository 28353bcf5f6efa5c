//! Paths: relative to the working directory if they are in it, else only their last part.
//!
//! Owns what an absolute path looks like in a message, on any system, and positions after file names. Refuses to look
//! at a file system.

use super::number::is_random_suffix;

/// First directories by which an absolute path is recognised as a file, not as the route of a server.
const ROOTS: [&str; 40] = [
    "tmp",
    "var",
    "home",
    "root",
    "Users",
    "private",
    "usr",
    "opt",
    "mnt",
    "srv",
    "dev",
    "proc",
    "run",
    "etc",
    "lib",
    "lib64",
    "bin",
    "sbin",
    "sys",
    "nix",
    "rustc",
    "workspace",
    "workspaces",
    "builds",
    "build",
    "github",
    "runner",
    "app",
    "work",
    "code",
    "project",
    "projects",
    "repo",
    "src",
    "go",
    "data",
    "Volumes",
    "Library",
    "media",
    "scratch",
];

/// The replacement of the absolute path at the start of `rest`, and its length.
pub(crate) fn absolute(rest: &str, before: Option<char>, workdir: Option<&str>) -> Option<(String, usize)> {
    let first = rest.chars().next()?;
    let may_begin = matches!(first, '/' | '~') || (first.is_ascii_alphabetic() && is_drive(rest));
    // Two slashes precede a host.
    if !(may_begin || rest.starts_with("file://")) || rest.starts_with("//") {
        return None;
    }
    let (scheme, body) = match rest.strip_prefix("file://") {
        Some(body) => (rest.len() - body.len(), body),
        None => (0, rest),
    };
    if let Some(inside) = workdir.and_then(|dir| below(body, dir)) {
        let consumed = scheme + body.len() - inside.len();
        return Some(match inside.strip_prefix(['/', '\\']) {
            // What follows is read on as a relative path.
            Some(_) => (String::new(), consumed + 1),
            None => (".".into(), consumed),
        });
    }
    let preceded =
        before.is_none_or(|before| !matches!(before, '/' | '.' | '~' | '\\' | ')' | ']' | '>' | '*' | '$'));
    if !preceded && scheme == 0 {
        return None;
    }
    let length = length_of(body);
    let path = body.get(..length)?;
    is_of_files(path).then(|| (shortened(path), scheme + length))
}

/// What follows the directory `dir`; `None` if the text only begins with the same letters.
fn below<'a>(text: &'a str, dir: &str) -> Option<&'a str> {
    // On macOS the same directory may show with and without this prefix.
    let plain =
        |path: &'a str| path.strip_prefix("/private").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let dir = dir.strip_prefix("/private").filter(|rest| rest.starts_with('/')).unwrap_or(dir);
    let behind = plain(text).strip_prefix(dir)?;
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!behind.starts_with(continues)).then_some(behind)
}

fn is_drive(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), Some(b'\\' | b'/'))
}

/// The length of a path: it ends at a blank or at a character that is seldom part of one.
fn length_of(text: &str) -> usize {
    let start = if is_drive(text) { 2 } else { 0 };
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|'
            )
            || matches!(c, '’' | '‘' | '“' | '”' | '「' | '」' | '、' | '。' | '…')
    };
    let body = text.get(start..).unwrap_or_default();
    let length = start + body.find(ends).unwrap_or(body.len());
    text.get(..length).unwrap_or_default().trim_end_matches(['.', '!', '?']).len()
}

fn is_of_files(path: &str) -> bool {
    if is_drive(path) {
        return true;
    }
    let Some(inner) = path.strip_prefix('/').or_else(|| path.strip_prefix("~/")) else { return false };
    let mut parts = inner.split('/').filter(|part| !part.is_empty());
    let Some(first) = parts.next() else { return false };
    let last = parts.next_back();
    (ROOTS.contains(&first) || path.starts_with('~')) || last.is_some_and(has_extension)
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// The last part of a path, without what looks random in it.
fn shortened(path: &str) -> String {
    let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
    let last = parts.next().unwrap_or_default();
    let parent = parts.next().unwrap_or_default();
    let (stem, extension) = match last.rsplit_once('.') {
        Some((stem, extension)) if has_extension(last) => (stem, extension),
        Some(_) | None => (last, ""),
    };
    let is_temporary =
        matches!(parent, "tmp" | "Temp" | "shm" | "T") || stem.trim_start_matches('.').starts_with("tmp");
    let tail = stem.rsplit(['-', '.']).next().unwrap_or(stem);
    let is_random = is_temporary || is_random_suffix(tail);
    match (is_random, extension) {
        (true, "") => "<path>".into(),
        (true, extension) => format!("<path>.{extension}"),
        (false, _) if extension.is_empty() => {
            format!("<path>/{}", last.trim_end_matches(|c: char| c.is_ascii_digit()))
        }
        (false, _) => format!("<path>/{last}"),
    }
}

/// The length of a position (`:12:5`, `(12,5)`) at the start of `rest`, if a file name precedes it.
pub(crate) fn position(out: &str, rest: &str) -> Option<usize> {
    if !rest.starts_with([':', '(']) {
        return None;
    }
    let name_start = out.rfind([' ', '/', '\n', '"', '\'', '(']).map_or(0, |at| at + 1);
    if !has_extension(out.get(name_start..)?) {
        return None;
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(inner) = rest.strip_prefix('(') {
        let line = digits(inner);
        let column = inner.get(line..)?.strip_prefix(',').map_or(0, |column| 1 + digits(column));
        let closes = inner.get(line + column..)?.starts_with(')');
        return (line > 0 && closes).then_some(line + column + 2);
    }
    let mut length = 0;
    while let Some(count) = rest.get(length..)?.strip_prefix(':').map(digits).filter(|count| *count > 0) {
        length += 1 + count;
    }
    (length > 0).then_some(length)
}

/// A path relative to `workdir` if it is in it, with forward slashes and without a leading `./`.
pub(crate) fn relative(path: &str, workdir: Option<&str>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let inside = workdir.and_then(|dir| below(path, dir)).and_then(|inside| inside.strip_prefix(['/', '\\']));
    let path = inside.unwrap_or(path);
    let path = if is_drive(path) { path.to_string() } else { path.replace('\\', "/") };
    path.strip_prefix("./").map_or(path.clone(), str::to_string)
}

/// The path in a fingerprint: outside the working directory only its last part.
pub(crate) fn stable(path: &str, workdir: Option<&str>) -> String {
    let relative = relative(path, workdir);
    if relative.starts_with(['/', '~']) || is_drive(&relative) { shortened(&relative) } else { relative }
}
