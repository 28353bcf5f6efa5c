//! Reading what a check decided, from the sources that may be trusted and from no other.
//!
//! A decision file counts only with the id of this very check in it: one left by an earlier check, or by an
//! agent that guessed the path, is ignored, and no clock is compared. Words in the output count only where the
//! check declares it, and only on a line that is nothing but a verdict; the last such line counts.

use crate::prelude::*;
use fixpoint_vocabulary::settings::CheckVerdict;
use fixpoint_vocabulary::{Lang, Localize, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a check left behind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Question {
    /// What it printed.
    pub text: String,
    /// The id this check was given.
    #[serde(default)]
    pub check_id: Option<String>,
    /// The content of the decision file, if there is one.
    #[serde(default)]
    pub file: Option<String>,
    /// Whether words in the output count.
    #[serde(default)]
    pub mode: CheckVerdict,
}

/// What the check decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing is left to do.
    Complete,
    /// Something is.
    Incomplete,
    /// A person or an outside thing is awaited.
    Waiting,
    /// It did not say; to be treated as incomplete.
    Undecidable,
}

/// Where the decision was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the decision file.
    File,
    /// On a line of the output.
    Text,
    /// Nowhere.
    None,
}

/// What the check decided, where that was read, and its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// What it decided.
    pub decision: Decision,
    /// Where that was read.
    pub source: Source,
    /// The check's own reasons, then what was wrong with a source that was passed over.
    pub reasons: Vec<Text>,
    /// The failures the check named.
    pub fingerprints: Vec<String>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.reasons.localize(lang);
    }
}

pub fn decide(question: &Question) -> Answer {
    let mut reasons = Vec::new();
    if let Some(file) = &question.file {
        match fresh(file, question.check_id.as_deref()).and_then(|content| from_file(&content)) {
            Ok(answer) => return answer,
            Err(ignored) => reasons.push(ignored),
        }
    }
    match question.mode {
        CheckVerdict::Text => match last_verdict(&question.text) {
            Some(decision) => Answer { decision, source: Source::Text, reasons, fingerprints: Vec::new() },
            None => undecidable(
                reasons,
                Text::new("no line of the output is a verdict", "判定のみの行が出力にありません"),
            ),
        },
        CheckVerdict::Auto | CheckVerdict::File => undecidable(
            reasons,
            Text::new("no decision file of this check", "このチェックの判定ファイルがありません"),
        ),
    }
}

fn undecidable(mut reasons: Vec<Text>, why: Text) -> Answer {
    reasons.push(why);
    Answer { decision: Decision::Undecidable, source: Source::None, reasons, fingerprints: Vec::new() }
}

/// The file's content if it was written by this very check, else why it is passed over.
fn fresh(file: &str, check_id: Option<&str>) -> Result<Value, Text> {
    let content: Value = serde_json::from_str(file).map_err(|error| {
        Text::new(
            format!("the decision file is not JSON ({error}): ignored"),
            format!("判定ファイルがJSONではないため無視: {error}"),
        )
    })?;
    let written_by = ["check_id", "checkId"].iter().find_map(|key| content.get(key)).and_then(Value::as_str);
    let is_id = |id: &&str| !id.is_empty();
    match (written_by.filter(is_id), check_id.filter(is_id)) {
        (Some(written_by), Some(expected)) if written_by == expected => Ok(content),
        (Some(_), Some(_)) => Err(Text::new(
            "the decision file is of another check: ignored",
            "判定ファイルのcheck_idが一致しないため無視",
        )),
        (None, _) => Err(Text::new(
            "the decision file has no check_id: ignored",
            "判定ファイルにcheck_idがないため無視",
        )),
        (Some(_), None) => Err(Text::new(
            "this check has no id to compare the decision file with: ignored",
            "check_idが不明なため判定ファイルを無視",
        )),
    }
}

fn from_file(content: &Value) -> Result<Answer, Text> {
    let texts = |key: &str| {
        let list = content.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(String::from).collect::<Vec<_>>()
    };
    let decision = match content.get("decision").and_then(Value::as_str) {
        Some("complete") => Decision::Complete,
        Some("incomplete") => Decision::Incomplete,
        Some("waiting") => Decision::Waiting,
        Some(_) | None => {
            return Err(Text::new(
                "the decision file's decision is none of complete, incomplete, waiting: ignored",
                "判定ファイルのdecisionが不正なため無視",
            ));
        }
    };
    let reasons = texts("reasons").into_iter().map(Text::verbatim).collect();
    Ok(Answer { decision, source: Source::File, reasons, fingerprints: texts("fingerprints") })
}

/// The verdict on the last line that is one and nothing but one.
fn last_verdict(text: &str) -> Option<Decision> {
    text.lines().rev().find_map(|line| {
        let line = line.trim();
        let labelled = ["VERDICT:", "DECISION:"].iter().find_map(|label| line.strip_prefix(label));
        match labelled.unwrap_or(line).trim() {
            "COMPLETE" | "PASS" => Some(Decision::Complete),
            "INCOMPLETE" | "FAIL" => Some(Decision::Incomplete),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(mode: CheckVerdict, text: &str, file: Option<&str>) -> (Decision, Source) {
        let answer = decide(&Question {
            text: text.to_string(),
            check_id: Some("c-1".to_string()),
            file: file.map(str::to_string),
            mode,
        });
        assert!(answer.decision != Decision::Undecidable || !answer.reasons.is_empty());
        (answer.decision, answer.source)
    }

    #[test]
    fn words_count_only_on_a_line_of_their_own() {
        use Decision::*;
        let table = [
            ("COMPLETE", Complete),
            ("log\nPASS\n\n  \n", Complete),
            ("PASS\r\n", Complete),
            ("FAIL", Incomplete),
            ("COMPLETE\nINCOMPLETE", Incomplete),
            ("VERDICT: PASS", Complete),
            ("DECISION:INCOMPLETE", Incomplete),
            ("Complete rewrite needed", Undecidable),
            ("COMPLETE rewrite needed", Undecidable),
            ("PASS\nDone in 3 s.", Complete),
            ("FAIL\nComplete rewrite needed", Incomplete),
            ("complete", Undecidable),
            ("VERDICT: maybe", Undecidable),
            ("VERDICT: VERDICT: PASS", Undecidable),
            ("", Undecidable),
        ];
        for (text, decision) in table {
            let source = if decision == Undecidable { Source::None } else { Source::Text };
            assert_eq!(ask(CheckVerdict::Text, text, None), (decision, source), "{text:?}");
            assert_eq!(ask(CheckVerdict::Auto, text, None), (Undecidable, Source::None), "{text:?}");
        }
    }

    #[test]
    fn only_a_file_with_this_checks_id_counts() {
        use Decision::*;
        let table = [
            (r#"{"decision":"complete","check_id":"c-1"}"#, Complete, Source::File),
            (r#"{"decision":"waiting","checkId":"c-1"}"#, Waiting, Source::File),
            (r#"{"decision":"perhaps","check_id":"c-1"}"#, Incomplete, Source::Text),
            (r#"{"decision":"complete","check_id":"c-0"}"#, Incomplete, Source::Text),
            (r#"{"decision":"complete"}"#, Incomplete, Source::Text),
            (r#"{"decision":"complete","check_id":7}"#, Incomplete, Source::Text),
            ("{", Incomplete, Source::Text),
            ("[]", Incomplete, Source::Text),
        ];
        for (file, decision, source) in table {
            assert_eq!(ask(CheckVerdict::Text, "FAIL", Some(file)), (decision, source), "{file}");
        }
        let nobody = Question {
            text: String::new(),
            check_id: None,
            mode: CheckVerdict::Auto,
            file: Some(table[0].0.into()),
        };
        assert_eq!(decide(&nobody).decision, Undecidable);
    }

    #[test]
    fn the_files_words_are_passed_on() {
        let file =
            r#"{"decision":"incomplete","check_id":"c","reasons":["失敗",3],"fingerprints":["f1","f2"]}"#;
        let question = Question {
            text: String::new(),
            check_id: Some("c".into()),
            file: Some(file.into()),
            mode: CheckVerdict::Auto,
        };
        let answer = decide(&question);
        assert_eq!(answer.reasons, [Text::verbatim("失敗")]);
        assert_eq!(answer.fingerprints, ["f1", "f2"]);
    }

    proptest! {
        /// Catches a reader that panics, or that takes prose around a verdict word for a verdict.
        #[test]
        fn prose_is_never_a_verdict(prefix in "[a-zA-Z ]{1,8}", word in "COMPLETE|PASS", suffix in "[a-z]{0,3}") {
            prop_assume!(!prefix.trim().is_empty());
            let text = alloc::format!("{prefix}{word}{suffix}");
            // Only "IN" may stand before: it makes another verdict, and not this one.
            prop_assert_ne!(ask(CheckVerdict::Text, &text, Some(&text)).0, Decision::Complete);
        }
    }
}
