//! Paths as text that can be read back: git's paths are bytes.
//!
//! A path that is ordinary text stands for itself. Any other is written in quotes with escapes, as git writes it.
//! Invariant: `path_bytes(path_text(p)) == p` for every path.

/// A path as text.
pub fn path_text(path: &[u8]) -> String {
    let plain = std::str::from_utf8(path).ok().filter(|text| {
        !text.starts_with('"') && !text.chars().any(|letter| letter.is_control() || letter == '\\')
    });
    match plain {
        Some(text) => text.to_string(),
        None => quoted(path),
    }
}

fn quoted(path: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in path.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                control if control.is_control() => {
                    let mut bytes = [0; 4];
                    escape(control.encode_utf8(&mut bytes).as_bytes(), &mut text);
                }
                letter => text.push(letter),
            }
        }
        escape(chunk.invalid(), &mut text);
    }
    text.push('"');
    text
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push_str(&format!("\\{byte:03o}"));
    }
}

/// Where the bytes that are no text begin in a raw path: characters that no file is named with.
const RAW: u32 = 0xF700;

/// A path as text in which every byte and every separator stands where it stood, to be compared with patterns. It is not
/// for people: bytes that are no text are characters of their own.
pub(crate) fn raw_text(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(RAW + u32::from(*byte))));
    }
    text
}

/// The path that a raw text stands for.
pub(crate) fn raw_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match u32::from(letter).checked_sub(RAW).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// The path a text stands for.
pub fn path_bytes(text: &str) -> Vec<u8> {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return text.as_bytes().to_vec();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(first @ b'0'..=b'3') => {
                let digits = [first, rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let value =
                    digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit.wrapping_sub(b'0')));
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(letter) => bytes.push(letter),
            None => bytes.push(b'\\'),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_paths_stand_for_themselves() {
        for path in ["src/lib.rs", "日本語/ファイル.txt", "with space", "100%", "quote\"inside", "-dash"]
        {
            assert_eq!(path_text(path.as_bytes()), path);
        }
        assert_eq!(path_text(b"a\nb\xff"), "\"a\\nb\\377\"");
        assert_eq!(path_text(b"\"q\\"), "\"\\\"q\\\\\"");
    }

    proptest! {
        /// Catches an escape that is written and not read, or the other way round.
        #[test]
        fn every_path_comes_back(path in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(path_bytes(&path_text(&path)), path);
        }

        /// Catches a path of quotes, backslashes and controls that is taken for plain.
        #[test]
        fn odd_paths_come_back(path in "[\"\\\\\n\t\u{1}-\u{1f}a0-7\u{80}]{0,12}") {
            prop_assert_eq!(path_bytes(&path_text(path.as_bytes())), path.into_bytes());
        }
    }
}
