//! An API key. It is sent to its endpoint and shown nowhere: `Debug` hides it.

use std::fmt;

use fixpoint_vocabulary::Redactor;
use reqwest::header::{HeaderName, HeaderValue};

use fixpoint_vocabulary::settings::Protocol;

#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key([removed])")
    }
}

impl Key {
    /// `None` for a text that is blank or cannot be sent in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.len() <= 8192 && HeaderValue::from_str(text).is_ok();
        fits.then(|| Self(text.to_string()))
    }

    pub(crate) fn header(&self, protocol: Protocol) -> Option<(HeaderName, HeaderValue)> {
        let (name, value) = match protocol {
            Protocol::Openai => (HeaderName::from_static("authorization"), format!("Bearer {}", self.0)),
            Protocol::Anthropic => (HeaderName::from_static("x-api-key"), self.0.clone()),
        };
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }

    /// Removes this key from texts, and everything that looks like a key.
    pub(crate) fn redactor(key: Option<&Self>) -> Redactor {
        Redactor::knowing(key.map(|key| key.0.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_key() {
        let key = Key::new(" hunter2-hunter2\n").unwrap();
        let header = key.header(Protocol::Openai).unwrap();
        assert!(!format!("{key:?} {header:?}").contains("hunter2"));
        assert_eq!(header.1.to_str().unwrap(), "Bearer hunter2-hunter2");
        assert_eq!(key.header(Protocol::Anthropic).unwrap().0, "x-api-key");
    }

    #[test]
    fn texts_that_cannot_be_keys_are_rejected() {
        assert_eq!(
            [Key::new(""), Key::new("  "), Key::new("a\nb"), Key::new(&"x".repeat(9000))],
            [const { None }; 4]
        );
    }
}
