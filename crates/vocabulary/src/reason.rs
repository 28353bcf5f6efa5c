//! Reasons: a closed code for machines and a sentence for people, in English and Japanese at once.
//!
//! A sentence is built in both languages where the decision is made, so that none can lack a translation and
//! a recorded run can be explained later in either language.

use alloc::borrow::Cow;
use alloc::string::String;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language in which people are spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

/// One sentence in every language Fixpoint speaks. Published schemas show it as the string that is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "String")]
pub struct Text {
    /// The English sentence.
    pub en: Cow<'static, str>,
    /// The Japanese sentence.
    pub ja: Cow<'static, str>,
}

impl Text {
    /// A sentence said differently in the two languages.
    pub fn new(en: impl Into<Cow<'static, str>>, ja: impl Into<Cow<'static, str>>) -> Self {
        Self { en: en.into(), ja: ja.into() }
    }

    /// Words that are not ours to translate, such as a tool's own message.
    pub fn verbatim(words: impl Into<String>) -> Self {
        let words: String = words.into();
        Self { en: Cow::Owned(words.clone()), ja: Cow::Owned(words) }
    }

    /// The sentence in one language.
    pub fn in_lang(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Ja => &self.ja,
        }
    }
}

/// Why a decision came out as it did: a code of the decision's own closed list, and its sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason<Code> {
    /// What a machine compares.
    pub code: Code,
    /// What a person reads.
    pub text: Text,
}

impl<Code> Reason<Code> {
    /// A reason with its sentence in both languages.
    pub fn new(code: Code, en: impl Into<Cow<'static, str>>, ja: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: Text::new(en, ja) }
    }
}
