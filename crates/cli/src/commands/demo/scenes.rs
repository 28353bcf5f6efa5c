//! The scenes of the demo: what each tells, and how its answer is shown.

use fixpoint_vocabulary::Text;
use serde_json::Value;

use crate::commands::decide::kinds::Kind;

/// One worked decision.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) title: fn() -> Text,
    pub(super) story: fn() -> Text,
    /// Lines made of the question and the answer.
    pub(super) show: fn(&Value, &Value) -> Vec<String>,
    pub(super) moral: fn() -> Text,
}

/// The scenes, in the order in which they are told.
pub(super) const SCENES: [Scene; 6] = [
    Scene {
        name: "circles",
        kind: Kind::Convergence,
        title: || Text::new("An agent goes round in circles", "同じ所を回り続けるエージェント"),
        story: || {
            Text::new(
                "Three tests must pass. The agent fixes one, then trades one failure for another and back again.",
                "3つのテストを通す課題。エージェントは1つ直した後、失敗を入れ替えるだけになる。",
            )
        },
        show: attempts,
        moral: || {
            Text::new(
                "Attempt 5 could not be checked and is not held against it. At the seventh it is stopped, with the cause.",
                "5回目はチェック不能で停滞に数えない。7回目で原因とともに停止する。",
            )
        },
    },
    Scene {
        name: "noise",
        kind: Kind::Refinement,
        title: || Text::new("Two points more are no improvement", "2点の上昇は改善ではない"),
        story: || {
            Text::new(
                "A plan scored 50, was planned again, and scores 52. The judge still does not accept it.",
                "50点の計画を再計画すると52点。判定者はまだ受け入れない。",
            )
        },
        show: refinement,
        moral: || {
            Text::new(
                "The same plan asked twice differs as much: another try would be a coin toss. `fixpoint simulate judging` shows it.",
                "同じ計画でもその程度は変動する。もう一度試すのは賭けにすぎない（`fixpoint simulate judging`）。",
            )
        },
    },
    Scene {
        name: "baseline",
        kind: Kind::Baseline,
        title: || {
            Text::new("What was broken before is not the agent's fault", "以前から壊れていたものは責任外")
        },
        story: || {
            Text::new(
                "Four tests fail after the attempt. Which of them did the attempt break?",
                "試行後に4つのテストが失敗。この試行が壊したのはどれか。",
            )
        },
        show: groups,
        moral: || {
            Text::new(
                "Known and flaky failures do not block. A test that passed and is no longer run does.",
                "既知の失敗と不安定なテストは妨げない。実行されなくなったテストは妨げる。",
            )
        },
    },
    Scene {
        name: "claim",
        kind: Kind::Judge,
        title: || Text::new("\"Done\" against the evidence", "証拠に反する「完了」"),
        story: || {
            Text::new(
                "The judge says that the task succeeded. The checks found a failure that was not there before.",
                "判定者は成功と言うが、チェックは新しい失敗を見つけた。",
            )
        },
        show: judgement,
        moral: || Text::new("A model's word alone is never enough.", "モデルの言葉だけでは完了にならない。"),
    },
    Scene {
        name: "scope",
        kind: Kind::Scope,
        title: || Text::new("Edits all over the tree", "範囲外の変更"),
        story: || {
            Text::new(
                "The task may change src/** and Cargo.toml. Six files changed.",
                "変更してよいのは src/** と Cargo.toml。6ファイルが変更された。",
            )
        },
        show: violations,
        moral: || {
            Text::new(
                "Cargo.lock changed along with Cargo.toml and is fine. Fixpoint's own configuration never is.",
                "Cargo.lock は Cargo.toml に伴う変更なので許される。Fixpoint自身の設定変更は常に違反。",
            )
        },
    },
    Scene {
        name: "replan",
        kind: Kind::Replan,
        title: || Text::new("A task too large is taken apart", "大きすぎるタスクの再分解"),
        story: || {
            Text::new(
                "`import` cannot be done in one go. Three smaller tasks take its place; `report` waited for it.",
                "`import` は一度では完了できない。3つの小さなタスクに置き換える。`report` はそれを待っていた。",
            )
        },
        show: graph,
        moral: || {
            Text::new(
                "The children wait for what it waited for, and whoever waited for it waits for all of them.",
                "子タスクは元の依存を引き継ぎ、後続は子すべてを待つ。",
            )
        },
    },
];

/// A field, or null where there is none.
fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("–")
}

fn words(value: &Value) -> String {
    let words: Vec<&str> = list(value).iter().map(word).collect();
    if words.is_empty() { "–".to_string() } else { words.join(", ") }
}

fn attempts(question: &Value, answer: &Value) -> Vec<String> {
    let asked = list(at(question, "iterations"));
    let rows = list(at(answer, "iterations")).iter().zip(asked).enumerate().map(|(n, (verdict, attempt))| {
        format!(
            "{}  {:30}  {:11}  stage {}  {:8}  {}",
            n + 1,
            words(at(attempt, "fingerprints")),
            word(at(verdict, "progress")),
            at(verdict, "stage"),
            word(at(verdict, "action")),
            word(at(at(verdict, "reason"), "text")),
        )
    });
    rows.collect()
}

fn refinement(question: &Value, answer: &Value) -> Vec<String> {
    vec![format!(
        "{} → {}: {} → {} ({})",
        at(question, "previous_score"),
        at(question, "score"),
        word(at(answer, "score_direction")),
        word(at(answer, "decision")),
        word(at(at(answer, "reason"), "text"))
    )]
}

fn groups(_: &Value, answer: &Value) -> Vec<String> {
    let row = |name: &str| format!("{:12}  {}", name, words(at(answer, name)));
    let mut rows: Vec<String> =
        ["new", "known", "flaky", "newly_flaky", "vanished", "fixed"].map(row).to_vec();
    rows.push(format!("{:12}  {}", "complete", at(answer, "complete")));
    rows
}

fn judgement(_: &Value, answer: &Value) -> Vec<String> {
    vec![format!("{}: {}", word(at(answer, "outcome")), word(at(at(answer, "reason"), "text")))]
}

fn violations(_: &Value, answer: &Value) -> Vec<String> {
    let row =
        |violation: &Value| format!("{:26}  {}", word(at(violation, "path")), word(at(violation, "rule")));
    list(at(answer, "violations")).iter().map(row).collect()
}

fn graph(_: &Value, answer: &Value) -> Vec<String> {
    let row = |task: &Value| {
        format!(
            "{:12}  {:18}  ← {}",
            word(at(task, "id")),
            word(at(task, "state")),
            words(at(task, "dependencies"))
        )
    };
    list(at(answer, "tasks")).iter().map(row).collect()
}
