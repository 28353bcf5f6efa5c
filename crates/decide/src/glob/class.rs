//! Bracket classes such as `[a-z]`, `[!0-9]` and `[[:alpha:]]`, read as git reads them.
//!
//! Owns what stands between the brackets. Refuses to decide whether a class may match a slash: that is a
//! matter of the pattern it stands in. A class that is not closed, or names an unknown kind of character, makes
//! its whole pattern malformed.

use super::bytes::ByteSet;
use super::syntax::Cursor;

/// Reads a class whose opening bracket has been taken. `None` means that it is malformed.
pub(super) fn read_class(cursor: &mut Cursor<'_>) -> Option<ByteSet> {
    let negated = matches!(cursor.peek(), Some(b'!' | b'^'));
    if negated {
        cursor.take();
    }
    let members = read_members(cursor)?;
    Some(if negated { members.complement() } else { members })
}

/// Reads up to the closing bracket. The first member may be a bracket itself, so the end is looked for only
/// after one member has been read.
fn read_members(cursor: &mut Cursor<'_>) -> Option<ByteSet> {
    let mut members = ByteSet::NONE;
    // The byte a following `-` would start a range from; there is none after a range or a named class.
    let mut range_start = None;
    loop {
        let byte = cursor.take()?;
        let (added, next_start) = match (byte, range_start) {
            (b'\\', _) => single(cursor.take()?),
            (b'-', Some(first)) if !matches!(cursor.peek(), None | Some(b']')) => {
                let last = read_range_end(cursor)?;
                (ByteSet::where_byte(|byte| (first..=last).contains(&byte)), None)
            }
            (b'[', _) => read_named(cursor)?,
            (literal, _) => single(literal),
        };
        members = members.union(added);
        range_start = next_start;
        if cursor.take_if(b']') {
            return Some(members);
        }
    }
}

fn single(byte: u8) -> (ByteSet, Option<u8>) {
    (ByteSet::of(byte), Some(byte))
}

fn read_range_end(cursor: &mut Cursor<'_>) -> Option<u8> {
    match cursor.take()? {
        b'\\' => cursor.take(),
        byte => Some(byte),
    }
}

/// Reads what follows a `[` inside a class: a named class where it is written `:name:]`, or else just a bracket.
fn read_named(cursor: &mut Cursor<'_>) -> Option<(ByteSet, Option<u8>)> {
    let rest = cursor.rest();
    let end = rest.iter().position(|&byte| byte == b']')?;
    let inner = rest.get(..end).and_then(|inner| inner.strip_prefix(b":"));
    let Some(name) = inner.and_then(|inner| inner.strip_suffix(b":")) else {
        return Some(single(b'['));
    };
    let members = named(name)?;
    cursor.skip(end + 1);
    Some((members, None))
}

/// The named classes, over ASCII only. Git counts neither vertical tab nor form feed as space.
fn named(name: &[u8]) -> Option<ByteSet> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    Some(match name {
        b"alnum" => ByteSet::where_byte(|byte| byte.is_ascii_alphanumeric()),
        b"alpha" => ByteSet::where_byte(|byte| byte.is_ascii_alphabetic()),
        b"blank" => ByteSet::where_byte(|byte| matches!(byte, b' ' | b'\t')),
        b"cntrl" => ByteSet::where_byte(|byte| byte.is_ascii_control()),
        b"digit" => ByteSet::where_byte(|byte| byte.is_ascii_digit()),
        b"graph" => ByteSet::where_byte(|byte| byte.is_ascii_graphic()),
        b"lower" => ByteSet::where_byte(|byte| byte.is_ascii_lowercase()),
        b"print" => ByteSet::where_byte(|byte| byte.is_ascii_graphic() || byte == b' '),
        b"punct" => ByteSet::where_byte(|byte| byte.is_ascii_punctuation()),
        b"space" => ByteSet::where_byte(is_space),
        b"upper" => ByteSet::where_byte(|byte| byte.is_ascii_uppercase()),
        b"xdigit" => ByteSet::where_byte(|byte| byte.is_ascii_hexdigit()),
        _ => return None,
    })
}
