//! The decisions that the demo shows, with their explanations.

use serde_json::Value;

use crate::commands::decide::kinds::Kind;

pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// In English and Japanese, as the two below.
    pub(super) title: (&'static str, &'static str),
    pub(super) story: (&'static str, &'static str),
    /// The question and the answer in lines.
    pub(super) show: fn(&Value, &Value) -> Vec<String>,
    pub(super) moral: (&'static str, &'static str),
}

pub(super) const SCENES: [Scene; 6] = [
    Scene {
        name: "circles",
        kind: Kind::Convergence,
        title: ("An agent goes in circles", "堂々巡りするエージェント"),
        story: (
            "Three tests must pass. The agent fixes one; after that it only trades one failure for another.",
            "3つのテストを成功させる課題です。エージェントは1つ直した後、失敗を入れ替えるだけになります。",
        ),
        show: attempts,
        moral: (
            "Attempt 5 could not be checked and does not count. After attempt 7 the agent is stopped, with the cause.",
            "5回目はチェックを実行できなかったため数えません。7回目の後、原因を示して停止します。",
        ),
    },
    Scene {
        name: "noise",
        kind: Kind::Refinement,
        title: ("Two more points are not an improvement", "2点の上昇は改善ではない"),
        story: (
            "A plan scored 50. The next version scores 52, and the judge still does not accept it.",
            "50点の計画を作り直すと52点になりました。判定者はまだ承認しません。",
        ),
        show: refinement,
        moral: (
            "The same plan, scored twice, differs as much; another try would be a coin toss. See `fixpoint simulate judging`.",
            "同じ計画を2回採点してもこの程度は変わるため、やり直しても運次第です（`fixpoint simulate judging`）。",
        ),
    },
    Scene {
        name: "baseline",
        kind: Kind::Baseline,
        title: ("Failures that existed before do not count", "以前からの失敗は数えない"),
        story: (
            "Four tests fail after an attempt. Which of them did the attempt break?",
            "試行後に4つのテストが失敗しました。この試行が壊したのはどれでしょうか。",
        ),
        show: groups,
        moral: (
            "Known and flaky failures are tolerated. A test that passed before and no longer runs is not.",
            "既知の失敗と不安定なテストは許容します。以前成功し、今は実行されなくなったテストは許容しません。",
        ),
    },
    Scene {
        name: "claim",
        kind: Kind::Judge,
        title: ("\"Done\" against the evidence", "証拠に反する「完了」"),
        story: (
            "The judge says that the task succeeded, but the checks found a new failure.",
            "判定者は成功と言いますが、チェックは新しい失敗を見つけました。",
        ),
        show: judgement,
        moral: ("A model's word alone is never enough.", "モデルの言葉だけでは完了になりません。"),
    },
    Scene {
        name: "scope",
        kind: Kind::Scope,
        title: ("Changes out of scope", "範囲外の変更"),
        story: (
            "The task may change src/** and Cargo.toml. Six files changed.",
            "変更してよいのは src/** と Cargo.toml です。6ファイルが変更されました。",
        ),
        show: violations,
        moral: (
            "Cargo.lock may change together with Cargo.toml. Fixpoint's own configuration may never be changed.",
            "Cargo.lock は Cargo.toml に伴う変更なので許可されます。Fixpoint 自身の設定の変更は常に違反です。",
        ),
    },
    Scene {
        name: "replan",
        kind: Kind::Replan,
        title: ("A task that is too large is split", "大きすぎるタスクの分割"),
        story: (
            "`import` is too large for one attempt. Three smaller tasks replace it; `report` depends on it.",
            "`import` は1回の試行には大きすぎます。3つの小さなタスクに置き換えます。`report` はこれに依存しています。",
        ),
        show: graph,
        moral: (
            "The new tasks inherit its dependencies, and tasks that depend on it now depend on all of them.",
            "新しいタスクは元の依存関係を引き継ぎ、元のタスクに依存していたタスクは3つすべてに依存します。",
        ),
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
