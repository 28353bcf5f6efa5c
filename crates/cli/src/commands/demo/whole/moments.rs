//! What is worth a word when it happens for the first time, and the words.

use fixpoint_vocabulary::Text;

/// Something that is worth a word when it happens for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    WorstCase,
    Unclear,
    Planned,
    TooLow,
    OneMoreIdea,
    InNoise,
    Begins,
    AtOnce,
    Repeated,
    StageTwo,
    TurnedRound,
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
    /// What is said then.
    pub(super) fn words(self) -> Text {
        let found = WORDS.iter().find(|(moment, ..)| *moment == self);
        found.map_or_else(|| Text::new("", ""), |(_, en, ja)| Text::new(*en, *ja))
    }
}

const WORDS: [(Moment, &str, &str); 19] = [
    (
        Moment::WorstCase,
        "That was the worst case. It is computed before the first question, and never exceeded. Try: fixpoint plan \
         --bounds",
        "これが最悪の場合です。最初の質問の前に計算され、決して超えません。試すには：fixpoint plan --bounds",
    ),
    (
        Moment::Unclear,
        "\"Better\" can mean anything, so the planner asks instead of guessing. In a run of yours you would answer \
         here; with nobody there it plans on stated assumptions.",
        "「better」だけでは曖昧なので、計画者は推測せず質問します。実際の実行ではあなたが答えます。誰もいなければ、\
         明示した仮定のもとで計画します。",
    ),
    (
        Moment::Planned,
        "A plan is an offer. Nothing is changed before a judge has scored it. Later: fixpoint show",
        "計画はまだ提案です。判定者が採点するまで何も変更しません。後で見るには：fixpoint show",
    ),
    (
        Moment::TooLow,
        "Not good enough. What the judge found goes back to the planner, together with the goal as you said it.",
        "品質が足りません。判定者の指摘は、元の目標とともに計画者に戻されます。",
    ),
    (
        Moment::OneMoreIdea,
        "Good enough, and the judge has an idea. The sample's configuration lets the planner try it.",
        "合格です。判定者に提案があり、サンプルの設定がもう一度の改善を許しています。",
    ),
    (
        Moment::InNoise,
        "81 after 79: better? The same plan, scored once more, gets 78. A change inside the noise is no improvement, \
         so refining ends here instead of tossing coins. Try: fixpoint simulate judging",
        "79点の次が81点。改善でしょうか。同じ計画をもう一度採点すると78点です。ノイズの範囲内の変化は改善ではないので、\
         ここで終えます。試すには：fixpoint simulate judging",
    ),
    (
        Moment::Begins,
        "Every task has paths it may change and commands that must pass. First the checks run without any change: \
         what fails now is known, and nobody will be blamed for it.",
        "各タスクには変更してよいパスと、成功すべきコマンドがあります。まず変更なしでチェックを実行します。\
         今失敗しているものは既知であり、誰の責任にもなりません。",
    ),
    (
        Moment::AtOnce,
        "Several agents at work at once, each in a private copy of the repository. Tasks whose paths overlap would \
         wait for each other. Your own tree is not touched.",
        "複数のエージェントが同時に、それぞれ専用の写しの中で作業しています。パスが重なるタスクは順番を待ちます。\
         あなたの作業ツリーには触れません。",
    ),
    (
        Moment::Repeated,
        "\"repeated\": the agent changed a number and says that all is well, but the same failures are back. A failure \
         has a fingerprint that ignores the values in it. Later: fixpoint logs",
        "「repeated」：エージェントは数値を変えて完了と言いますが、同じ失敗です。失敗の指紋は値を無視します。\
         後で見るには：fixpoint logs",
    ),
    (
        Moment::StageTwo,
        "Twice without progress: a loop, caught at stage 2. The next attempt gets a fresh session, the best attempt so \
         far, only these failures, and the order to make the smallest fix.",
        "二度続けて進展なし：ループをステージ2で検出しました。次の試行は新しいセッションで、これまでの最良の状態から、\
         これらの失敗だけを最小の変更で直すよう指示されます。",
    ),
    (
        Moment::TurnedRound,
        "That turned it round: done, with proof. The tests that failed before were seen to pass, twice.",
        "これで方向が変わり、証拠付きで完了しました。失敗していたテストが二度通るのを確認しています。",
    ),
    (
        Moment::Known,
        "Done although some tests fail: they failed before (\"known\"). \"hours of a holiday\" is nobody's task and is \
         left alone. Later: fixpoint show",
        "失敗するテストが残っていても完了です。以前から失敗していたもの（known）だからです。「hours of a holiday」は\
         誰の担当でもなく、そのままです。後で見るには：fixpoint show",
    ),
    (
        Moment::Reverted,
        "The agent also rewrote README.md, outside its paths. That edit was taken back, and the checks ran on what is \
         left.",
        "エージェントは範囲外のREADME.mdも書き換えました。その変更は取り消され、残りに対してチェックしました。",
    ),
    (
        Moment::Replanned,
        "The judge found the task too large for one attempt, so three smaller ones take its place. They begin with the \
         best that was made so far; whoever waited for it waits for them.",
        "判定者はタスクが大きすぎると判断し、三つの小さなタスクに置き換えました。これまでの成果から始まり、\
         元のタスクを待っていたものは三つすべてを待ちます。",
    ),
    (
        Moment::KeptWork,
        "The first of the three holds already: the attempt before is kept. No agent is started for what is done.",
        "三つのうち最初のものは前の試行ですでに満たされています。終わったことのためにエージェントは起動しません。",
    ),
    (
        Moment::Circles,
        "\"oscillating\": one test wants 7 percent, another 19, of the same book. The agent repairs one by breaking the \
         other. It is compared with all earlier attempts, not only with the last.",
        "「oscillating」：同じ本に、あるテストは7%、別のテストは19%を求めます。一方を直すと他方が壊れます。直前だけでなく、\
         過去のすべての試行と比較しています。",
    ),
    (
        Moment::Blocked,
        "A hopeless task: stopped after five attempts, not after a night. The planner sees no smaller tasks either. A \
         diagnosis is written, and everything else is delivered. Later: fixpoint explain",
        "見込みのないタスクは、一晩ではなく5回で止まりました。計画者も分割できないと答えました。診断を書き、\
         残りは納品します。後で見るには：fixpoint explain",
    ),
    (
        Moment::Merging,
        "All tasks have ended. Their results are brought together two by two, and the checks run after each merge: \
         what passes alone may fail together.",
        "すべてのタスクが終わりました。結果を二つずつ統合し、そのたびにチェックします。単独で通るものも、\
         一緒にすると失敗することがあるからです。",
    ),
    (
        Moment::Whole,
        "The judge also looked at the whole, against the goal. What is missing is named, not hidden.",
        "判定者は目標に照らして全体も見ました。足りないものは隠さず示されます。",
    ),
];
