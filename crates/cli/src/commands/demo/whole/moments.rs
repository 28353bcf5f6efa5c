//! The events that the demo explains when they happen for the first time, and the explanations.

use fixpoint_vocabulary::Lang;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    ExpectedCost,
    Unclear,
    Planned,
    TooLow,
    OneMoreIdea,
    InNoise,
    Begins,
    AtOnce,
    Repeated,
    StageTwo,
    Recovered,
    Known,
    Reverted,
    Replanned,
    KeptWork,
    Circles,
    Blocked,
    Merging,
    Whole,
}

impl Moment {
    pub(super) fn explanation(self, lang: Lang) -> &'static str {
        let found = WORDS.iter().find(|(moment, ..)| *moment == self);
        found.map_or("", |(_, en, ja)| if lang == Lang::En { en } else { ja })
    }
}

const WORDS: [(Moment, &str, &str); 19] = [
    (
        Moment::ExpectedCost,
        "What a run will probably use, and the limit at which it pauses, are known before the first model call. Try: \
         fixpoint plan --bounds",
        "実行が使うと予想される量と、一時停止する上限は、最初のモデル呼び出しの前に分かります。試すには: fixpoint plan --bounds",
    ),
    (
        Moment::Unclear,
        "\"Better\" can mean anything, so the planner asks instead of guessing. In your own runs you answer here. Without \
         a terminal, as in CI, it states its assumptions and plans with them.",
        "「better」だけでは曖昧なので、計画者は推測せずに質問します。実際の実行ではあなたが答えます。CIのように答える人が\
         いない場合は、仮定を明示して計画します。",
    ),
    (
        Moment::Planned,
        "A plan is only a proposal. Nothing is changed before the judge has reviewed it. Later: fixpoint show",
        "計画はまだ提案です。判定者がレビューするまで何も変更しません。後で見るには: fixpoint show",
    ),
    (
        Moment::TooLow,
        "The score is too low. The planner gets the judge's issues and your original goal, and tries again.",
        "点数が足りません。計画者は判定者の指摘と元の目標を受け取り、計画を作り直します。",
    ),
    (
        Moment::OneMoreIdea,
        "Good enough, but the judge has a suggestion. The sample's configuration lets the planner try it.",
        "合格ですが、判定者から提案があります。サンプルの設定では、もう一度改善を試せます。",
    ),
    (
        Moment::InNoise,
        "81 after 79: is that better? The same plan, scored again, gets 78. The difference is inside the noise, so \
         Fixpoint stops refining here. Try: fixpoint simulate judging",
        "79点の次は81点。改善でしょうか。同じ計画をもう一度採点すると78点です。差はノイズの範囲内なので、計画の改善は\
         ここで終わります。試すには: fixpoint simulate judging",
    ),
    (
        Moment::Begins,
        "Each task has paths it may change and commands that must pass. First the checks run without any change: what \
         fails now is known, and no agent is blamed for it.",
        "各タスクには、変更してよいパスと成功すべきコマンドがあります。まず変更前の状態でチェックを実行します。この時点で\
         失敗しているものは「既知」とし、エージェントの責任にはしません。",
    ),
    (
        Moment::AtOnce,
        "Several agents work at the same time, each in its own copy of the repository. Tasks that may change the same \
         paths wait for each other. Your working tree is not touched.",
        "複数のエージェントが同時に、それぞれ専用のコピーの中で作業しています。同じパスを変更するタスクは順番を待ちます。\
         あなたの作業ツリーには触れません。",
    ),
    (
        Moment::Repeated,
        "\"repeated\": the agent changed a number and reported success, but the same tests fail. Failures are compared \
         by a fingerprint that ignores changing values. Later: fixpoint logs",
        "「同じ失敗」: エージェントは数値を変えて成功と報告しましたが、同じテストが失敗しています。失敗は、変化する値を\
         無視したフィンガープリントで比較します。後で見るには: fixpoint logs",
    ),
    (
        Moment::StageTwo,
        "Two attempts without progress: a loop, caught at stage 2. The next attempt gets a fresh session, starts from \
         the best attempt so far, and is told to fix only these failures with the smallest change.",
        "2回続けて進展なし: ループをステージ2で検出しました。次の試行は新しいセッションで、これまでの最良の状態から始め、\
         これらの失敗だけを最小の変更で直すよう指示されます。",
    ),
    (
        Moment::Recovered,
        "That helped: done, with proof. The tests that failed before have passed twice.",
        "立て直しに成功し、証拠付きで完了しました。失敗していたテストが2回成功しています。",
    ),
    (
        Moment::Known,
        "Done although some tests fail: they failed before (\"known\"). \"hours of a holiday\" belongs to no task and is \
         left alone. Later: fixpoint show",
        "失敗するテストが残っていても完了です。以前から失敗していたもの（既知）だからです。「hours of a holiday」はどの\
         タスクにも属さないので、そのままにします。後で見るには: fixpoint show",
    ),
    (
        Moment::Reverted,
        "The agent also changed README.md, which is out of scope. That change was reverted, and the checks ran on the \
         rest.",
        "エージェントは範囲外のREADME.mdも変更しました。その変更は取り消され、残りに対してチェックを実行しました。",
    ),
    (
        Moment::Replanned,
        "The judge found this task too large for one attempt, so three smaller tasks replace it. They start from the \
         best attempt so far, and tasks that waited for it wait for all three.",
        "判定者が大きすぎると判断したため、このタスクを3つの小さなタスクに分割しました。これまでの最良の試行から始め、元の\
         タスクを待っていたタスクは3つすべてを待ちます。",
    ),
    (
        Moment::KeptWork,
        "The earlier attempt already did the first of the three, so no agent is started for it.",
        "3つのうち最初のものは前の試行で済んでいるため、エージェントは起動しません。",
    ),
    (
        Moment::Circles,
        "\"oscillating\": one test wants 7 percent tax on a book, another wants 19. The agent fixes one and breaks the \
         other. An attempt is compared with all earlier ones, not only with the last.",
        "「逆戻り」: 同じ本の税率に、あるテストは7%、別のテストは19%を求めています。一方を直すと他方が壊れます。試行は\
         直前だけでなく、過去のすべての試行と比較されます。",
    ),
    (
        Moment::Blocked,
        "A hopeless task, stopped after five attempts instead of running all night. The planner cannot split it either. \
         A diagnosis is written, and everything else is delivered. Later: fixpoint explain",
        "見込みのないタスクは、一晩中ではなく5回の試行で停止しました。計画者も分割できないと答えました。診断を書き出し、\
         残りはすべて納品します。後で見るには: fixpoint explain",
    ),
    (
        Moment::Merging,
        "All tasks have ended. Their results are merged one after the other, and the checks run after each merge: what \
         passes alone can fail together.",
        "すべてのタスクが終わりました。結果を順にマージし、そのたびにチェックを実行します。単独で成功しても、合わせると\
         失敗することがあるからです。",
    ),
    (
        Moment::Whole,
        "Finally the judge compares the whole result with the goal. What is missing is named, not hidden.",
        "最後に、判定者が成果全体を目標と照らし合わせます。足りないものは隠さずに示します。",
    ),
];
