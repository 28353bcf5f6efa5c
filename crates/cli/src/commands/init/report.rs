//! What `fixpoint init` says: what it wrote, what it skipped and why, and what it saw when it tried it.

use std::path::Path;

use fixpoint_decide::usability::Usability;
use fixpoint_project::{DetectedCheck, DetectedProject, InstalledAgent};
use fixpoint_vocabulary::{EnvironmentProblem, Lang, counted};
use serde_json::{Value, json};

use super::verify::{TriedCheck, Verification};
use crate::language::say;

pub(super) struct InitReport<'a> {
    pub(super) project: &'a DetectedProject,
    pub(super) agents: &'a [InstalledAgent],
    pub(super) file: &'a Path,
    /// `None` without `--verify`.
    pub(super) verification: Option<&'a Verification>,
}

impl InitReport<'_> {
    pub(super) fn json(&self, lang: Lang) -> Value {
        let project = self.project;
        let check = |DetectedCheck { check, because }: &DetectedCheck| json!({ "name": check.name, "command": check.command, "because": because });
        let checks: Vec<Value> = project.checks.iter().map(check).collect();
        let agent = |agent: &InstalledAgent| json!({ "name": agent.name, "command": agent.command_line() });
        let skipped = project
            .skipped
            .iter()
            .map(|skipped| json!({ "what": skipped.what, "why": skipped.why.in_lang(lang) }));
        let mut report = json!({
            "file": self.file.to_string_lossy(), "checks": checks, "setup": project.setup, "copy": project.copy,
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
            "notes": project.notes.iter().map(|note| note.in_lang(lang)).collect::<Vec<_>>(),
        });
        if let (Some(verification), Some(object)) = (self.verification, report.as_object_mut()) {
            object.insert("verified".to_string(), verification_json(verification, lang));
        }
        report
    }

    pub(super) fn lines(&self, lang: Lang) -> Vec<String> {
        let (file, project) = (self.file.display(), self.project);
        let mut lines = vec![say(lang, format!("wrote {file}"), format!("{file} を作成しました"))];
        let mut list =
            |en: &str, ja: &str, line: String| lines.push(format!("  {}: {line}", say(lang, en, ja)));
        for DetectedCheck { check, because } in &project.checks {
            list("check", "チェック", format!("{}  `{}`  ({because})", check.name, check.command));
        }
        project.setup.iter().for_each(|command| list("setup", "セットアップ", format!("`{command}`")));
        project.copy.iter().for_each(|path| list("copy", "コピー", path.clone()));
        for agent in self.agents {
            list("agent", "エージェント", format!("{}  `{}`", agent.title, agent.command_line()));
        }
        if self.agents.is_empty() {
            let none = say(
                lang,
                "no supported agent found on PATH; any command can be used: fixpoint loop … -- COMMAND",
                "対応するものが PATH にありません。任意のコマンドを使えます: fixpoint loop … -- コマンド",
            );
            list("agent", "エージェント", none);
        }
        for skipped in &project.skipped {
            list("skipped", "対象外", format!("{}: {}", skipped.what, skipped.why.in_lang(lang)));
        }
        project.notes.iter().for_each(|note| list("note", "注意", note.in_lang(lang).to_string()));
        lines.extend(self.verification_lines(lang));
        let is_broken = self.verification.is_some_and(|verification| verification.exit_code() != 0);
        if !is_broken {
            lines.push(say(
                lang,
                "next: `fixpoint check`, then `fixpoint loop --until 'FAILING TEST COMMAND' -- AGENT`",
                "次: `fixpoint check`、続いて `fixpoint loop --until '失敗するテストのコマンド' -- エージェント`",
            ));
        }
        lines
    }

    pub(super) fn verification_lines(&self, lang: Lang) -> Vec<String> {
        match self.verification {
            None | Some(Verification::Stopped) => Vec::new(),
            Some(Verification::NothingToTry) => vec![say(
                lang,
                "not verified: there is no check to try",
                "確認していません: 試せるチェックがありません",
            )],
            Some(Verification::SetUpFailed { what, missing, output }) => {
                let mut lines = vec![say(
                    lang,
                    format!("the setup does not work, so no check was tried: {what}"),
                    format!("セットアップが失敗したため、チェックを試せませんでした: {what}"),
                )];
                lines.extend(output.iter().map(|line| format!("  | {line}")));
                let missing = missing.as_ref().map(|missing| missing.what().in_lang(lang).to_string());
                let file = self.file.display();
                let again = say(
                    lang,
                    format!(
                        "Install what is missing, or correct `workspace.setup` in {file}; then run `fixpoint check`."
                    ),
                    format!(
                        "不足しているものをインストールするか、{file} の `workspace.setup` を修正してから、`fixpoint check` を実行してください。"
                    ),
                );
                lines.extend(missing.into_iter().chain([again]));
                lines
            }
            Some(Verification::Tried { checks, leftovers }) => {
                let mut lines: Vec<String> =
                    checks.iter().flat_map(|check| tried_lines(check, lang)).collect();
                if !leftovers.is_empty() {
                    lines.push(say(
                        lang,
                        "the setup writes files that git tracks or does not ignore; an agent's result would contain them. Add them to \
                         .gitignore, and take tracked ones out with `git rm --cached`:",
                        "セットアップが、git の追跡する、または無視しないファイルに書き込みます。エージェントの結果に含まれるため、\
                         .gitignore に追加し、追跡されているものは `git rm --cached` で外してください:",
                    ));
                    lines.extend(leftovers.iter().map(|line| format!("  | {line}")));
                }
                lines
            }
        }
    }
}

fn tried_lines(check: &TriedCheck, lang: Lang) -> Vec<String> {
    let TriedCheck { name, passed, failed, .. } = check;
    let Some(problem) = check.problem() else {
        let seconds = check.took_ms.div_ceil(1000);
        let tests = usize::try_from(*passed).unwrap_or(usize::MAX);
        let (en, ja) = match (passed, failed) {
            (0, 0) => ("passes".to_string(), "成功".to_string()),
            (_, 0) => (format!("{} pass", counted(tests, "test")), format!("{passed}件成功")),
            (_, _) => {
                let known = "which count as known";
                (
                    format!("{passed} pass, {failed} fail, {known}"),
                    format!("{passed}件成功、{failed}件失敗（既知とみなします）"),
                )
            }
        };
        return vec![say(
            lang,
            format!("verified: {name}: usable, {en} ({seconds} s)"),
            format!("確認: {name}: 使用可能、{ja}（{seconds}秒）"),
        )];
    };
    let problem = problem.in_lang(lang).to_string();
    let mut lines = vec![say(
        lang,
        format!("verified: {name}: not usable: {problem}; it is written as a comment"),
        format!("確認: {name}: 使用不可: {problem}。コメントとして書き込みます"),
    )];
    lines.extend(check.output.iter().map(|line| format!("  | {line}")));
    lines
}

fn verification_json(verification: &Verification, lang: Lang) -> Value {
    let missing_name = |missing: &Option<EnvironmentProblem>| missing.as_ref()?.subject.clone();
    match verification {
        Verification::NothingToTry => json!({ "ok": false, "setup": "not_run", "checks": [] }),
        Verification::Stopped => json!({ "ok": false, "setup": "stopped", "checks": [] }),
        Verification::SetUpFailed { what, missing, output } => json!({
            "ok": false, "setup": "failed", "what": what, "missing": missing_name(missing), "output": output,
            "checks": [],
        }),
        Verification::Tried { checks, leftovers } => {
            let check = |check: &TriedCheck| {
                json!({
                    "name": check.name, "usable": check.usability == Usability::Usable, "passed": check.passed,
                    "failed": check.failed, "took_ms": check.took_ms,
                    "why": check.problem().map(|why| why.in_lang(lang).to_string()),
                    "missing": missing_name(&check.missing), "output": check.output,
                })
            };
            json!({
                "ok": verification.exit_code() == 0, "setup": "ok", "leftovers": leftovers,
                "checks": checks.iter().map(check).collect::<Vec<_>>(),
            })
        }
    }
}
