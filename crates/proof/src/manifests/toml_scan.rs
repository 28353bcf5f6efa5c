//! TOML and INI files as sections of entries, with the text of each.
//!
//! Owns where a section and an entry begin and end. Refuses to read values: the `toml` crate does that. Invariant: the
//! pieces, one behind the other, are the file.

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// With the section's path in front.
    pub(super) path: Vec<String>,
    /// Its lines, with the comments above it.
    pub(super) text: String,
}

/// A header and the entries below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Section {
    /// Empty for what stands above the first header.
    pub(super) path: Vec<String>,
    pub(super) is_array: bool,
    /// The header's line, with the comments above it.
    pub(super) header: String,
    pub(super) entries: Vec<Entry>,
    /// Comments and blank lines behind the last entry.
    pub(super) tail: String,
}

impl Section {
    pub(super) fn text(&self) -> String {
        let entries: String = self.entries.iter().map(|entry| entry.text.as_str()).collect();
        format!("{}{entries}{}", self.header, self.tail)
    }

    /// What tells it from others of its name: the `name` in one table of an array.
    pub(super) fn identity(&self) -> Vec<String> {
        let mut identity = self.path.clone();
        let named = |entry: &&Entry| entry.path.last().is_some_and(|key| key == "name");
        if let (true, Some(name)) = (self.is_array, self.entries.iter().find(named)) {
            identity.push(name.text.split_whitespace().collect());
        }
        identity
    }
}

/// The sections of a TOML file.
pub(super) fn toml_sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut pending = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        let trimmed = line.trim_start();
        if trimmed.trim_end().is_empty() || trimmed.starts_with('#') {
            pending.push_str(line);
            rest = after;
            continue;
        }
        if trimmed.starts_with('[') {
            let is_array = trimmed.starts_with("[[");
            let inner = trimmed.trim_start_matches('[').trim_end();
            let end = key_end(inner, b']');
            let path = key_parts(inner.get(..end).unwrap_or(inner));
            let header = format!("{}{line}", std::mem::take(&mut pending));
            sections.push(Section { path, is_array, header, ..Section::default() });
            rest = after;
            continue;
        }
        let length = statement_length(rest);
        let (statement, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let key = statement.get(..key_end(statement, b'=')).unwrap_or(statement);
        push(&mut sections, key_parts(key), format!("{}{statement}", std::mem::take(&mut pending)));
        rest = after;
    }
    if let Some(section) = sections.last_mut() {
        section.tail = pending;
    }
    sections
}

/// The sections of an INI file as Python's `configparser` reads it: indented lines go on with the entry above.
pub(super) fn ini_sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut pending = String::new();
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_continued = line.starts_with([' ', '\t']);
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            pending.push_str(line);
        } else if let (true, Some(entry)) =
            (is_continued, sections.last_mut().and_then(|section| section.entries.last_mut()))
        {
            entry.text.push_str(&std::mem::take(&mut pending));
            entry.text.push_str(line);
        } else if let Some(name) = trimmed.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or(name).trim();
            let header = format!("{}{line}", std::mem::take(&mut pending));
            sections.push(Section { path: vec![name.to_string()], header, ..Section::default() });
        } else {
            let key = trimmed.split(['=', ':']).next().unwrap_or(trimmed).trim().to_ascii_lowercase();
            push(&mut sections, vec![key], format!("{}{line}", std::mem::take(&mut pending)));
        }
    }
    if let Some(section) = sections.last_mut() {
        section.tail = pending;
    }
    sections
}

fn push(sections: &mut [Section], key: Vec<String>, text: String) {
    if let Some(section) = sections.last_mut() {
        let path = section.path.iter().cloned().chain(key).collect();
        section.entries.push(Entry { path, text });
    }
}

fn split_line(text: &str) -> (&str, &str) {
    let end = text.find('\n').map_or(text.len(), |end| end + 1);
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// How far `key = value` goes, with the line end behind it.
fn statement_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                at = string_end(bytes, at);
                continue;
            }
            b'#' => {
                at += text.get(at..).and_then(|rest| rest.find('\n')).unwrap_or(text.len() - at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Where a string that begins at `start` ends.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let Some(quote) = bytes.get(start) else { return bytes.len() };
    let triple = [*quote; 3];
    let is_triple = bytes.get(start..start + 3) == Some(&triple);
    let mut at = start + if is_triple { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' && *quote == b'"' {
            at += 2;
        } else if is_triple && bytes.get(at..at + 3) == Some(&triple) {
            return at + 3;
        } else if !is_triple && (byte == quote || *byte == b'\n') {
            return at + usize::from(byte == quote);
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Where a key ends: at `=` or `]` outside quotes.
fn key_end(text: &str, end: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at = string_end(bytes, at),
            byte if *byte == end => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// The parts of a dotted key, without quotes.
fn key_parts(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    for letter in key.trim().chars() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, '.') => parts.push(String::new()),
            (None, letter) if letter.is_whitespace() => {}
            (_, letter) => parts.last_mut().into_iter().for_each(|part| part.push(letter)),
        }
    }
    parts
}
