//! Assignments that only fill in what is missing: `if (!Object.is) Object.is = …`.
//!
//! Owns how JavaScript asks whether something is there. Refuses a source that also takes it away. Pure.

use crate::inline::is_javascript;

/// A source without the assignments that run only where there is nothing to replace.
pub(crate) fn without_polyfills(extension: &str, text: &str) -> String {
    if !is_javascript(extension) {
        return text.to_string();
    }
    let squeezed: String = text.split_whitespace().collect();
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
    let mut result = String::new();
    let mut from = 0;
    for (at, _) in squeezed.match_indices('=') {
        let (before, after) =
            (squeezed.get(..at).unwrap_or_default(), squeezed.get(at + 1..).unwrap_or_default());
        let target = before.rsplit(|letter: char| !is_part(letter)).next().unwrap_or_default();
        let Some((object, property)) = target.rsplit_once('.') else { continue };
        let before = before.strip_suffix(target).unwrap_or_default();
        let is_assignment = !after.starts_with(['=', '>']) && !property.is_empty();
        let is_taken = || {
            squeezed.contains(&format!("delete{target}"))
                || squeezed.contains(&format!("deleteProperty({object}"))
        };
        if is_assignment && is_missing(before, after, target, object, property) && !is_taken() {
            result.push_str(squeezed.get(from..at).unwrap_or_default());
            result.push_str(":fill:");
            from = at + 1;
        }
    }
    result.push_str(squeezed.get(from..).unwrap_or_default());
    result
}

/// Whether what stands around an assignment lets it run only if there is nothing yet.
fn is_missing(before: &str, after: &str, target: &str, object: &str, property: &str) -> bool {
    let before = before.strip_suffix('{').unwrap_or(before);
    let mut guards = vec![format!("if(!{target})"), format!("{target}||("), format!("{target}??(")];
    for quote in ['"', '\''] {
        guards.push(format!("if(!({quote}{property}{quote}in{object}))"));
        for sign in ["!==", "!="] {
            guards.push(format!("if(typeof{target}{sign}{quote}function{quote})"));
        }
        for sign in ["===", "=="] {
            guards.push(format!("if(typeof{target}{sign}{quote}undefined{quote})"));
        }
    }
    for sign in ["===", "=="] {
        guards.extend(["undefined", "null"].map(|value| format!("if({target}{sign}{value})")));
    }
    guards.iter().any(|guard| before.ends_with(guard.as_str()))
        || [format!("{target}||"), format!("{target}??")].iter().any(|own| after.starts_with(own.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_filled_in() {
        for (text, expected) in [
            ("if(!Object.is)Object.is=(a,b)=>a===b;", false),
            ("if (!Object.is) {\n  Object.is = function (a, b) { return a === b; };\n}", false),
            ("if (typeof Object.is !== 'function') Object.is = same;", false),
            ("Object.is = Object.is || same;", false),
            ("Object.is || (Object.is = same);", false),
            ("if (!('is' in Object)) Object.is = same;", false),
            ("Object.is = () => true;", true),
            ("if (!Object.other) Object.is = () => true;", true),
            ("delete Object.is; if (!Object.is) Object.is = () => true;", true),
            ("if (!Object.is) x(); Object.is = () => true;", true),
            ("if (Object.is) Object.is = () => true;", true),
        ] {
            assert_eq!(without_polyfills("js", text).contains("Object.is="), expected, "{text}");
        }
    }
}
