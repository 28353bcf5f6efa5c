//! Failures of the environment: a program, a module or a service that a check needs and does not have.
//!
//! Owns their causes and the sentences that say what to do. They are nobody's fault who works on the code, so they are
//! neither progress nor its absence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::reason::Text;

/// Why a check could not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentCause {
    /// A program is not installed, or not found.
    ProgramMissing,
    /// A module, package or library is not installed.
    ModuleMissing,
    /// A program has another version than the one that is needed.
    WrongVersion,
    /// An environment variable is not set, or wrong.
    VariableUnset,
    /// A service or the network does not answer.
    Network,
    /// The system refuses access.
    Permission,
    /// Another program uses a port.
    PortInUse,
    /// No space is left.
    DiskFull,
    /// No memory is left.
    OutOfMemory,
    /// The command runs in a directory without the project it needs.
    WrongDirectory,
    /// Something else that is no matter of the code.
    Other,
}

impl EnvironmentCause {
    pub const ALL: [Self; 11] = [
        Self::ProgramMissing,
        Self::ModuleMissing,
        Self::WrongVersion,
        Self::VariableUnset,
        Self::Network,
        Self::Permission,
        Self::PortInUse,
        Self::DiskFull,
        Self::OutOfMemory,
        Self::WrongDirectory,
        Self::Other,
    ];

    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProgramMissing => "program_missing",
            Self::ModuleMissing => "module_missing",
            Self::WrongVersion => "wrong_version",
            Self::VariableUnset => "variable_unset",
            Self::Network => "network",
            Self::Permission => "permission",
            Self::PortInUse => "port_in_use",
            Self::DiskFull => "disk_full",
            Self::OutOfMemory => "out_of_memory",
            Self::WrongDirectory => "wrong_directory",
            Self::Other => "other",
        }
    }
}

/// A failure of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentProblem {
    /// What kind of failure it is.
    pub cause: EnvironmentCause,
    /// What is missing or in the way, such as the name of a program, if the output says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// A command that may help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// The line of the output that says it.
    pub said: String,
}

impl EnvironmentProblem {
    /// What is wrong.
    pub fn what(&self) -> Text {
        let some = |en: &str, ja: &str| match &self.subject {
            Some(subject) => Text::new(en.replace("{}", subject), ja.replace("{}", subject)),
            None => Text::new(en.replace("`{}`", "something"), ja.replace("`{}`", "必要なもの")),
        };
        match self.cause {
            EnvironmentCause::ProgramMissing => some(
                "the program `{}` is not installed, or not on PATH",
                "プログラム `{}` がインストールされていないか、PATH にありません",
            ),
            EnvironmentCause::ModuleMissing => {
                some("the module `{}` is not installed", "モジュール `{}` がインストールされていません")
            }
            EnvironmentCause::WrongVersion => {
                some("another version is needed: `{}`", "必要なバージョンと異なります: `{}`")
            }
            EnvironmentCause::VariableUnset => some(
                "the environment variable `{}` is not set, or wrong",
                "環境変数 `{}` が未設定か、誤っています",
            ),
            EnvironmentCause::Network => some("`{}` cannot be reached", "`{}` に接続できません"),
            EnvironmentCause::Permission => some("no permission: `{}`", "権限がありません: `{}`"),
            EnvironmentCause::PortInUse => {
                some("another program uses the port: `{}`", "ポートは別のプログラムが使用中です: `{}`")
            }
            EnvironmentCause::DiskFull => {
                Text::new("no disk space is left", "ディスクの空き容量がありません")
            }
            EnvironmentCause::OutOfMemory => Text::new("no memory is left", "メモリーが足りません"),
            EnvironmentCause::WrongDirectory => some(
                "there is no `{}` in the directory of the check",
                "チェックのディレクトリーに `{}` がありません",
            ),
            EnvironmentCause::Other => some("the check needs `{}`", "チェックには `{}` が必要です"),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> Text {
        let (en, ja) = match self.cause {
            EnvironmentCause::ProgramMissing => (
                "install it; if the project installs it, do that in `workspace.setup`",
                "インストールしてください。プロジェクトが用意するものなら `workspace.setup` で行います",
            ),
            EnvironmentCause::ModuleMissing => (
                "install the project's packages in `workspace.setup`",
                "`workspace.setup` でプロジェクトのパッケージをインストールしてください",
            ),
            EnvironmentCause::WrongVersion => (
                "install that version, or put it first on PATH",
                "そのバージョンをインストールするか、PATH の先頭に置いてください",
            ),
            EnvironmentCause::VariableUnset => (
                "set it, and name it in `workspace.env` so that checks get it",
                "設定し、チェックに渡すため `workspace.env` に書いてください",
            ),
            EnvironmentCause::Network => (
                "start the service that the check needs, or check the network",
                "チェックに必要なサービスを起動するか、ネットワークを確認してください",
            ),
            EnvironmentCause::Permission => (
                "change the permissions, or run Fixpoint as a user that has them",
                "権限を変更するか、権限のあるユーザーで実行してください",
            ),
            EnvironmentCause::PortInUse => (
                "stop the other program; if two checks use one port, give both the same `lock`",
                "別のプログラムを終了してください。2つのチェックが同じポートを使うなら、両方に同じ `lock` を指定します",
            ),
            EnvironmentCause::DiskFull => (
                "free some disk space; `fixpoint gc` deletes old runs",
                "空き容量を増やしてください。`fixpoint gc` で古い実行を削除できます",
            ),
            EnvironmentCause::OutOfMemory => (
                "give the check more memory, or run fewer things at once (`checks.max_parallel`)",
                "チェックのメモリーを増やすか、同時に実行する数を減らしてください（`checks.max_parallel`）",
            ),
            EnvironmentCause::WrongDirectory => (
                "run the command in the directory of the project",
                "プロジェクトのディレクトリーでコマンドを実行してください",
            ),
            EnvironmentCause::Other => ("set it up before the run", "実行前に用意してください"),
        };
        match &self.example {
            Some(example) => {
                Text::new(format!("{en} (for example `{example}`)"), format!("{ja}（例: `{example}`）"))
            }
            None => Text::new(en, ja),
        }
    }

    /// What is wrong and what to do, in one sentence.
    pub fn sentence(&self) -> Text {
        use crate::reason::Lang::{En, Ja};
        let (what, remedy) = (self.what(), self.remedy());
        Text::new(
            format!("{}: {}", what.in_lang(En), remedy.in_lang(En)),
            format!("{}。{}", what.in_lang(Ja), remedy.in_lang(Ja)),
        )
    }
}
