//! A plan as text, for `fixpoint plan`.

use fixpoint_decide::run::{ReviewedPlan, Run};
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::{Lang, counted};

use crate::display::{dependency_words, score_words};
use crate::language::say;

pub(crate) fn lines(run: &Run, lang: Lang) -> Vec<String> {
    let Some(plan) = run.review().plan() else { return Vec::new() };
    let listed = |en: &str, ja: &str, items: &[String]| -> Vec<String> {
        let name = say(lang, en, ja);
        items.iter().map(|item| format!("  {name}: {item}")).collect()
    };
    let mut lines = Vec::new();
    if let Some(understanding) = &run.planning().understanding {
        lines.push(format!("{}: {}", say(lang, "Goal", "目標"), understanding.main_objective));
        lines.extend(listed("done when", "完了条件", &understanding.success_criteria));
        lines.extend(listed("constraint", "制約", &understanding.constraints));
        lines.extend(listed("assumption", "仮定", &understanding.assumptions));
    }
    if let Some(partial) = &run.planning().partial {
        lines.extend(listed("not possible", "実行不可", &partial.infeasible));
        lines.extend(listed("alternative", "代替案", &partial.alternatives));
    }
    lines.push(head(plan, run, lang));
    lines.extend(plan.tasks.iter().flat_map(|task| task_lines(task, lang)));
    lines
}

fn head(plan: &ReviewedPlan, run: &Run, lang: Lang) -> String {
    let score = score_words(plan, run);
    let (score, ja_score) =
        score.map(|score| (format!(", score {score}"), format!("、採点 {score}"))).unwrap_or_default();
    let number = plan.tasks.len();
    say(
        lang,
        format!("Plan: {}{score}", counted(number, "task")),
        format!("計画: タスク{number}件{ja_score}"),
    )
}

fn task_lines(task: &Subtask, lang: Lang) -> Vec<String> {
    let after = dependency_words(task, lang);
    let mut lines = vec![format!("  {}{after}: {}", task.id, task.description)];
    let numbered = (1u32..).zip(&task.acceptance).map(|(n, item)| format!("      A{n}: {item}"));
    lines.extend(numbered);
    let must_pass = say(lang, "must pass", "成功すべきコマンド");
    lines.extend(task.goals.iter().map(|goal| format!("      {must_pass}: {goal}")));
    if !task.scope_paths.is_empty() {
        let may_change = say(lang, "may change", "変更可能なパス");
        lines.push(format!("      {may_change}: {}", task.scope_paths.join(", ")));
    }
    lines
}
