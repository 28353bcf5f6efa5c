//! What a repository asks for, in words. Everything that is run or handed over is shown, in full.
//!
//! Invariant: each item is one line that looks like nothing else, whatever the repository wrote into it.

use std::path::Path;

use fixpoint_config::{TrustChange, TrustItem, TrustKind, TrustRequest};
use fixpoint_vocabulary::Lang;

use crate::language::say;
use crate::text_layout::pad;

/// Columns of the kind of an item.
const KIND_WIDTH: usize = 14;

pub(crate) struct RequestWords<'a> {
    pub(crate) request: &'a TrustRequest,
    pub(crate) root: &'a Path,
    /// How it differs from what was agreed to; `None` if nothing was.
    pub(crate) change: Option<&'a TrustChange>,
    pub(crate) lang: Lang,
}

impl RequestWords<'_> {
    /// One line for each item. After a change, new ones are marked with `+`, and those that are gone follow with `-`.
    pub(crate) fn items(&self) -> Vec<String> {
        let is_added = |item: &TrustItem| self.change.is_some_and(|change| change.added.contains(item));
        let root = format!("{}/", self.root.display());
        let requested = self.request.items();
        let now = requested.iter().map(|requested| {
            let mark = if is_added(&requested.item) { '+' } else { ' ' };
            let from = match requested.from.strip_prefix(&root).unwrap_or(&requested.from) {
                "" => say(self.lang, "detected", "検出"),
                named => one_line(named),
            };
            format!("{mark} {}  [{from}]", item_line(&requested.item, self.lang))
        });
        let gone = self.change.into_iter().flat_map(|change| &change.removed);
        now.chain(gone.map(|item| format!("- {}", item_line(item, self.lang)))).collect()
    }

    /// For a person who is asked.
    pub(crate) fn question_lines(&self) -> Vec<String> {
        let root = self.root.display();
        let heading = match self.change {
            None => say(
                self.lang,
                format!("You have not trusted this repository yet: {root}. Its files ask for this:"),
                format!("このリポジトリはまだ信頼されていません: {root}。ファイルの要求は次のとおりです:"),
            ),
            Some(_) => say(
                self.lang,
                format!("Since you trusted this repository, its files ask for something else: {root}"),
                format!("信頼した後に、このリポジトリのファイルの要求が変わりました: {root}"),
            ),
        };
        std::iter::once(heading).chain(self.items()).collect()
    }

    pub(crate) fn question(&self) -> String {
        say(
            self.lang,
            "Trust it? Commands run as you, with the code of the repository. [y/N] ",
            "信頼しますか？コマンドはあなたの権限で、リポジトリのコードとともに実行されます。 [y/N] ",
        )
    }

    /// For a command that cannot ask.
    pub(crate) fn refusal(&self) -> Vec<String> {
        let root = self.root.display();
        let heading = match self.change {
            None => say(
                self.lang,
                format!("this repository is not trusted, so nothing was run: {root}"),
                format!("このリポジトリは信頼されていないため、何も実行していません: {root}"),
            ),
            Some(_) => say(
                self.lang,
                format!(
                    "the files of this repository have changed since you trusted it, so nothing was run: {root}"
                ),
                format!("信頼した後に、このリポジトリのファイルが変わったため、何も実行していません: {root}"),
            ),
        };
        let advice = say(
            self.lang,
            "to trust it, run `fixpoint trust`; in CI, add --trust or set FIXPOINT_TRUST=1",
            "信頼するには `fixpoint trust` を実行してください。CI では --trust を付けるか FIXPOINT_TRUST=1 を設定してください",
        );
        let typed = self.request.settings.is_empty().then(|| {
            say(
                self.lang,
                "or type the checks yourself: --check 'COMMAND'",
                "または、チェックを自分で指定してください: --check 'コマンド'",
            )
        });
        std::iter::once(heading).chain(self.items()).chain([advice]).chain(typed).collect()
    }
}

/// The kind of an item and what it says.
pub(crate) fn item_line(item: &TrustItem, lang: Lang) -> String {
    let kind = match item.kind {
        TrustKind::Check => say(lang, "runs a check", "チェックを実行"),
        TrustKind::Setup => say(lang, "runs setup", "準備を実行"),
        TrustKind::Agent => say(lang, "agent", "エージェント"),
        TrustKind::Environment => say(lang, "passes on", "環境変数"),
        TrustKind::Copy => say(lang, "copies", "コピー"),
        TrustKind::Model => say(lang, "asks a model", "モデル"),
        TrustKind::Setting => say(lang, "setting", "設定"),
    };
    let variable = match item.kind {
        TrustKind::Environment => "$",
        TrustKind::Check
        | TrustKind::Setup
        | TrustKind::Agent
        | TrustKind::Copy
        | TrustKind::Model
        | TrustKind::Setting => "",
    };
    format!("{} {variable}{}", pad(&kind, KIND_WIDTH), one_line(&item.text))
}

/// Text from a repository on one line: line ends are shown as `\n`, and characters that act on a terminal or change the
/// direction of writing as a replacement.
fn one_line(text: &str) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.replace('\n', "\\n").replace('\t', " ").replace(is_hidden, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fixpoint_config::{Detected, DetectedKind};

    use super::*;

    #[test]
    fn an_item_cannot_look_like_another_line() {
        let what = "make\n  setting  harmless\u{202e}\u{1b}[2K\ttest".to_string();
        let detected =
            BTreeMap::from([(Detected { kind: DetectedKind::Check, what }, "Makefile".to_string())]);
        let request = TrustRequest { detected, ..TrustRequest::default() };
        let words = RequestWords { request: &request, root: Path::new("/r"), change: None, lang: Lang::En };
        assert_eq!(
            words.items(),
            ["  runs a check   make\\n  setting  harmless\u{fffd}\u{fffd}[2K test  [Makefile]"]
        );
    }

    #[test]
    fn what_changed_is_marked() {
        let item = |text: &str| TrustItem { kind: TrustKind::Check, text: text.to_string() };
        let detected = |what: &str| {
            (Detected { kind: DetectedKind::Check, what: what.to_string() }, "Makefile".to_string())
        };
        let detected = BTreeMap::from([detected("make check"), detected("make test")]);
        let request = TrustRequest { detected, ..TrustRequest::default() };
        let change = TrustChange { added: vec![item("make check")], removed: vec![item("make old")] };
        let words =
            RequestWords { request: &request, root: Path::new("/r"), change: Some(&change), lang: Lang::En };
        assert_eq!(
            words.items(),
            [
                "+ runs a check   make check  [Makefile]",
                "  runs a check   make test  [Makefile]",
                "- runs a check   make old",
            ]
        );
    }
}
