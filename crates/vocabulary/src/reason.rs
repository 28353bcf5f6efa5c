//! Reasons: a closed code for machines and a sentence for people, in English and Japanese at once.
//!
//! A sentence is built in both languages where the decision is made, so that none can lack a translation and
//! a recorded run can be explained later in either language.

use crate::prelude::*;
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

/// One sentence, in every language Fixpoint speaks until it is told to somebody. Recorded with all languages,
/// printed with one; published schemas show the string that is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "String")]
#[serde(untagged)]
pub enum Text {
    /// The sentence in every language.
    Everywhere {
        /// The English sentence.
        en: Cow<'static, str>,
        /// The Japanese sentence.
        ja: Cow<'static, str>,
    },
    /// The sentence as it was told, or words that are not ours to translate.
    Said(Cow<'static, str>),
}

impl Text {
    /// A sentence said differently in the two languages.
    pub fn new(en: impl Into<Cow<'static, str>>, ja: impl Into<Cow<'static, str>>) -> Self {
        Self::Everywhere { en: en.into(), ja: ja.into() }
    }

    /// Words that are not ours to translate, such as a tool's own message.
    pub fn verbatim(words: impl Into<String>) -> Self {
        Self::Said(Cow::Owned(words.into()))
    }

    /// The sentence in one language.
    pub fn in_lang(&self, lang: Lang) -> &str {
        match (self, lang) {
            (Self::Everywhere { en, .. }, Lang::En) => en,
            (Self::Everywhere { ja, .. }, Lang::Ja) => ja,
            (Self::Said(words), Lang::En | Lang::Ja) => words,
        }
    }
}

/// Anything that holds sentences for people. Speaking picks one language; what is not a sentence is left alone,
/// above all what a user wrote.
pub trait Localize {
    /// Reduces every sentence to one language. An answer without sentences needs nothing.
    fn localize(&mut self, _: Lang) {}
}

impl Localize for Text {
    fn localize(&mut self, lang: Lang) {
        if let Self::Everywhere { en, ja } = self {
            *self = Self::Said(core::mem::take(match lang {
                Lang::En => en,
                Lang::Ja => ja,
            }));
        }
    }
}

impl<Code> Localize for Reason<Code> {
    fn localize(&mut self, lang: Lang) {
        self.text.localize(lang);
    }
}

impl<T: Localize> Localize for Vec<T> {
    fn localize(&mut self, lang: Lang) {
        self.iter_mut().for_each(|item| item.localize(lang));
    }
}

impl<T: Localize> Localize for Option<T> {
    fn localize(&mut self, lang: Lang) {
        self.iter_mut().for_each(|item| item.localize(lang));
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
