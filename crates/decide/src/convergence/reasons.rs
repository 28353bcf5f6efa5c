//! The controller's words.

use fixpoint_vocabulary::{Reason, counted};

use super::{Code, Counts, Limits};
use crate::prelude::*;
use crate::progress::ProgressKind;

impl Limits {
    pub(super) fn reason(&self, counts: Counts, code: Code, progress: ProgressKind) -> Reason<Code> {
        let Counts { stage, stalls, .. } = counts;
        let threshold = self.convergence.stall_threshold;
        let (got_en, got_ja) = got_nowhere(progress);
        match code {
            Code::Completed => Reason::new(code, "nothing is left to do", "完了"),
            Code::Awaiting => Reason::new(code, "something outside is awaited", "外部の応答待ち"),
            Code::ChecksRetried => {
                Reason::new(code, "the checks could not run; trying again", "チェックを実行できず再試行")
            }
            Code::ChecksUnavailable => Reason::new(
                code,
                format!("the checks could not run {} in a row", counted(counts.infra, "time")),
                format!("チェックを {} 回連続で実行できなかった", counts.infra),
            ),
            Code::CheckedAgain => Reason::new(
                code,
                "the checks ran again, and nothing was changed in between",
                "変更なしにチェックを再実行",
            ),
            Code::FirstAttempt => Reason::new(code, "first attempt", "初回の試行"),
            Code::Progressing => Reason::new(code, "fewer failures than ever before", "失敗が減少"),
            Code::StageLowered => Reason::new(
                code,
                format!("progress again; back to stage {stage}"),
                format!("改善が続いたためステージ {stage} に戻る"),
            ),
            Code::StillChanging => {
                Reason::new(code, "other failures, not fewer", "失敗の内容は変化したが減っていない")
            }
            Code::Stalled => Reason::new(
                code,
                format!("{got_en} (stall {stalls} of {threshold} at stage {stage})"),
                format!("{got_ja}（ステージ {stage} の停滞 {stalls}/{threshold}）"),
            ),
            Code::StageRaised => Reason::new(
                code,
                format!("{got_en}; on to stage {stage}"),
                format!("{got_ja}。ステージ {stage} へ"),
            ),
            Code::LastStage => Reason::new(
                code,
                format!("{got_en}; still at the last stage, {stage}"),
                format!("{got_ja}。最終ステージ {stage} のまま継続"),
            ),
            Code::NotCounted => Reason::new(code, got_en, got_ja),
            Code::NotConverging => Reason::new(
                code,
                format!("{got_en}; the last stage, {stage}, is reached: not converging"),
                format!("{got_ja}。最終ステージ {stage} に到達、収束しない"),
            ),
            Code::IterationsUsedUp => Reason::new(
                code,
                format!("all {} used", counted(counts.iterations, "attempt")),
                format!("最大試行回数 {} に到達", counts.iterations),
            ),
        }
    }
}

fn got_nowhere(progress: ProgressKind) -> (&'static str, &'static str) {
    match progress {
        ProgressKind::NoChange => ("the attempt left the files unchanged", "変更なし"),
        ProgressKind::Repeated => ("the same failures again", "同じ失敗の反復"),
        ProgressKind::Oscillating => ("back to failures seen before", "以前と同じ失敗に逆戻り"),
        ProgressKind::Regressed => ("more failures than before", "失敗が増加"),
        ProgressKind::Changed
        | ProgressKind::Infra
        | ProgressKind::Rerun
        | ProgressKind::Waiting
        | ProgressKind::Complete
        | ProgressKind::First
        | ProgressKind::Progress => {
            ("other failures each time, never fewer", "失敗が入れ替わるだけで減らない")
        }
    }
}
