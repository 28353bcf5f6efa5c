//! `fixpoint doctor`: checks the setup and says what to do about each problem.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_config::{Loaded, TrustDecision};
use fixpoint_models::{Availability, DetectMode, detect};
use fixpoint_ports::{
    Cancel, ExitCause, FileAccess, Invocation, ProcessLimits, Processes, Program, Stdin, WorkspaceError,
    Workspaces,
};
use fixpoint_project::installed_agents;
use fixpoint_vocabulary::settings::{SandboxMode, SandboxSettings, Settings};
use fixpoint_vocabulary::{Lang, counted};
use serde::Serialize;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::{DoctorArguments, SetArguments};
use crate::commands::trust::asked_here;
use crate::dispatcher::{model_environment, models_by_role};
use crate::failure::{Failure, STORAGE_REMEDY};
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::sandbox::{kernel_support, mechanism_words, supervised_processes};
use crate::text_layout::pad;
use crate::trust::AskedByProject;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
enum Status {
    #[serde(rename = "good")]
    Ok,
    #[serde(rename = "warning")]
    Warning,
    #[serde(rename = "bad")]
    Error,
}

/// What is checked, for people; programs get the English names.
const JAPANESE_NAMES: [(&str, &str); 11] = [
    ("configuration", "設定"),
    ("trust", "信頼"),
    ("repository", "リポジトリ"),
    ("workspaces", "作業領域"),
    ("runs", "実行"),
    ("storage", "保存先"),
    ("lost work", "未回収の作業"),
    ("supervision", "プロセス監視"),
    ("agents", "エージェント"),
    ("models", "モデル"),
    ("sandbox", "サンドボックス"),
];

/// The result of one check of the setup.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    #[serde(rename = "state")]
    status: Status,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, status: Status::Ok, found: found.into(), remedy: None }
    }

    fn warning(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what, status: Status::Warning, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn error(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what, status: Status::Error, found: found.into(), remedy: Some(remedy.into()) }
    }

    /// One line for each line of text, below each other in columns.
    fn lines(&self, lang: Lang) -> Vec<String> {
        let mark = match self.status {
            Status::Ok => say(lang, "ok", "正常"),
            Status::Warning => say(lang, "warning", "警告"),
            Status::Error => say(lang, "error", "エラー"),
        };
        let ja = JAPANESE_NAMES.iter().find(|(en, _)| *en == self.what).map_or(self.what, |(_, ja)| ja);
        let what = say(lang, self.what, ja);
        let remedy = self.remedy.iter().map(|remedy| format!("→ {remedy}"));
        let text = self.found.lines().map(ToString::to_string).chain(remedy);
        let labels = std::iter::once((mark.as_str(), what.as_str())).chain(std::iter::repeat(("", "")));
        text.zip(labels)
            .map(|(text, (mark, what))| {
                format!("{} {} {text}", pad(mark, 7), pad(what, 14)).trim_end().to_string()
            })
            .collect()
    }
}

pub(crate) fn run(arguments: &DoctorArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let git = git(app);
    let has_git = git.status == Status::Ok;
    let loaded = app.configuration(&SetArguments { sets: Vec::new() });
    let mut findings = vec![git, configuration(&loaded, app.lang)];
    // Nothing that an untrusted project says is used.
    let is_trusted = loaded
        .as_ref()
        .is_ok_and(|loaded| AskedByProject::of(loaded).standing(app).is_ok_and(|it| it.allows()));
    let used = if is_trusted { loaded } else { app.own_configuration(&SetArguments { sets: Vec::new() }) };
    let settings = used.map(|loaded| loaded.settings).unwrap_or_default();
    if has_git {
        let found = repository(app, &settings);
        let is_usable = found.iter().all(|finding| finding.status != Status::Error);
        findings.extend(found);
        findings.extend(is_usable.then(|| trust(app)).flatten());
    }
    findings.push(supervisor(app));
    findings.push(agents_found(app));
    findings.push(models_found(app, &settings));
    findings.push(sandbox(&settings.sandbox, app));
    let has_error = findings.iter().any(|finding| finding.status == Status::Error);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({ "ok": !has_error, "findings": findings }))?,
        Form::Text => output.lines(findings.iter().flat_map(|finding| finding.lines(app.lang)))?,
    }
    Ok(if has_error { 7 } else { 0 })
}

/// Whether the repository is trusted; nothing if it asks for nothing, or if that cannot be said.
fn trust(app: &AppContext) -> Option<Finding> {
    let asked = asked_here(app).ok()?;
    let standing = asked.standing(app).ok()?;
    let remedy = say(
        app.lang,
        "`fixpoint trust` shows what its files ask for, and asks you",
        "`fixpoint trust` で要求の内容を確認し、信頼できます",
    );
    match standing.decision {
        TrustDecision::NothingAsked => None,
        TrustDecision::Trusted => Some(Finding::ok(
            "trust",
            say(app.lang, "this repository is trusted", "信頼済みのリポジトリです"),
        )),
        TrustDecision::NotTrusted => {
            let found = say(
                app.lang,
                "this repository is not trusted: its checks, setup and settings are not used",
                "信頼されていないリポジトリです。チェック、準備、設定は使用されません",
            );
            Some(Finding::warning("trust", found, remedy))
        }
        TrustDecision::Changed(_) => {
            let found = say(
                app.lang,
                "the files of this repository ask for something else than you trusted",
                "信頼した後に、このリポジトリのファイルの要求が変わりました",
            );
            Some(Finding::warning("trust", found, remedy))
        }
    }
}

fn git(app: &AppContext) -> Finding {
    let path = app.program("git").map(|path| format!(" ({})", path.display())).unwrap_or_default();
    match fixpoint_workspaces::git_version() {
        Ok(version) => Finding::ok("git", format!("{version}{path}")),
        Err(WorkspaceError::UnusableGit { problem, remedy }) => {
            Finding::error("git", format!("{problem}{path}"), remedy)
        }
        Err(error) => Finding::error(
            "git",
            error.to_string(),
            say(app.lang, "reinstall git", "git を再インストールしてください"),
        ),
    }
}

fn configuration(loaded: &Result<Loaded, Failure>, lang: Lang) -> Finding {
    match loaded {
        Ok(loaded) => {
            let checks = loaded.settings.checks.len();
            let en = format!("valid; {} configured", counted(checks, "check"));
            Finding::ok("configuration", say(lang, en, format!("有効。チェック{checks}件を設定済み")))
        }
        Err(error) => {
            let en = "correct the file, then run `fixpoint config validate`";
            let remedy = say(lang, en, "ファイルを直し、`fixpoint config validate` を実行してください");
            Finding::error("configuration", error.to_string(), remedy)
        }
    }
}

/// The models that were found, and which would be used. Keys are named by their variable, never shown.
fn models_found(app: &AppContext, settings: &Settings) -> Finding {
    let processes = match supervised_processes() {
        Ok(processes) => Arc::new(processes),
        Err(error) => {
            let remedy = say(app.lang, "reinstall fixpoint", "fixpoint を再インストールしてください");
            return Finding::error("models", error.to_string(), remedy);
        }
    };
    let environment = model_environment(app, &settings.models, processes, None);
    let detected = detect(&settings.models, &environment, DetectMode::All);
    let named = |candidate: &fixpoint_models::Candidate| match &candidate.availability {
        Availability::Found { model } => Some(format!("{model} ({})", candidate.source)),
        Availability::Unusable { reason } => {
            let cannot = say(app.lang, "cannot be used", "は利用できません");
            Some(format!("{} {cannot}: {reason}", candidate.name))
        }
        Availability::Missing => None,
    };
    let found: Vec<String> = detected.candidates.iter().filter_map(named).collect();
    match models_by_role(&settings.models, &environment) {
        Ok((_, models)) => {
            let (planner, judge) = (models.planner, models.judge);
            let roles = say(
                app.lang,
                format!("planner {planner}, judge {judge}"),
                format!("計画 {planner}、判定 {judge}"),
            );
            let found = found.join(", ");
            let found = if found.is_empty() {
                found
            } else {
                say(app.lang, format!("; found {found}"), format!("。検出: {found}"))
            };
            Finding::ok("models", format!("{roles}{found}"))
        }
        Err(error) => {
            let en = "only `fixpoint run` and `fixpoint plan` need a model";
            let remedy = say(app.lang, en, "モデルが必要なのは `fixpoint run` と `fixpoint plan` だけです");
            Finding::warning("models", error.to_string(), remedy)
        }
    }
}

fn repository(app: &AppContext, settings: &Settings) -> Vec<Finding> {
    let lang = app.lang;
    let repository = match Repository::open(app, settings) {
        Ok(repository) => repository,
        Err(Failure::Workspace(WorkspaceError::UnusableRepository { problem, remedy })) => {
            return vec![Finding::error("repository", problem, remedy)];
        }
        Err(Failure::NoStorage { path, source }) => {
            let remedy = say(
                lang,
                STORAGE_REMEDY,
                "XDG_CACHE_HOME と XDG_STATE_HOME に書き込み可能なディレクトリを指定してください",
            );
            return vec![Finding::error("storage", format!("{}: {source}", path.display()), remedy)];
        }
        Err(error) => {
            let remedy = say(
                lang,
                "run fixpoint in a git repository that you can read and write",
                "読み書きできる git リポジトリで fixpoint を実行してください",
            );
            return vec![Finding::error("repository", error.to_string(), remedy)];
        }
    };
    let lost = match repository.workspaces.recover() {
        Ok(recovery) => {
            let directories = recovery.unrecovered.iter().map(|lost| lost.directory.display().to_string());
            directories.collect::<Vec<_>>().join(", ")
        }
        Err(error) => error.to_string(),
    };
    let mut findings = vec![
        Finding::ok("repository", repository.root().display().to_string()),
        Finding::ok("workspaces", repository.workspaces.pool().display().to_string()),
        Finding::ok("runs", repository.state.runs().display().to_string()),
    ];
    if !lost.is_empty() {
        findings.push(Finding::warning(
            "lost work",
            say(
                lang,
                format!("the work of an interrupted run could not be recovered: {lost}"),
                format!("中断された実行の作業を回収できません: {lost}"),
            ),
            say(
                lang,
                "copy what you need out of it; `fixpoint gc` deletes it later",
                "必要なものをコピーしてください。後で `fixpoint gc` が削除します",
            ),
        ));
    }
    findings
}

/// Runs a program as every agent and check is run.
fn supervisor(app: &AppContext) -> Finding {
    let lang = app.lang;
    let tried = || -> Result<ExitCause, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let processes = supervised_processes().map_err(|error| error.to_string())?;
        let invocation = Invocation {
            program: Program::Shell("exit 0".into()),
            access: FileAccess::default(),
            directory: directory.path().to_path_buf(),
            environment: app.environment().to_vec(),
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: Duration::from_secs(30),
                silence: None,
                grace: Duration::from_secs(1),
                kept_output: 1 << 16,
            },
            output: directory.path().join("output"),
        };
        let ended = processes.run(&invocation, &Cancel::default(), &mut |_| {});
        ended.map(|ended| ended.cause).map_err(|error| error.to_string())
    };
    let problem = match tried() {
        Ok(ExitCause::Exited(0)) => {
            return Finding::ok("supervision", say(lang, "can run programs", "プログラムを実行できます"));
        }
        Ok(ExitCause::NotStarted(why)) => {
            return Finding::error(
                "supervision",
                why,
                say(lang, "put `sh` on PATH", "`sh` を PATH に置いてください"),
            );
        }
        Ok(ExitCause::Exited(code) | ExitCause::Signalled(code)) => say(
            lang,
            format!("`sh -c 'exit 0'` failed ({code})"),
            format!("`sh -c 'exit 0'` が失敗しました（{code}）"),
        ),
        Ok(ExitCause::TimedOut | ExitCause::Silent | ExitCause::Cancelled) => {
            say(lang, "`sh -c 'exit 0'` did not end in time", "`sh -c 'exit 0'` が時間内に終了しません")
        }
        Err(error) => error,
    };
    let remedy = say(
        lang,
        "install fixpoint on a file system without `noexec`",
        "fixpoint を `noexec` ではないファイルシステムにインストールしてください",
    );
    Finding::error("supervision", problem, remedy)
}

fn agents_found(app: &AppContext) -> Finding {
    let found = installed_agents(&|name| app.program(name));
    if found.is_empty() {
        let remedy = say(
            app.lang,
            "install one, such as claude or codex, or give any command: `fixpoint loop … -- COMMAND`",
            "claude や codex などをインストールするか、任意のコマンドを使ってください: `fixpoint loop … -- コマンド`",
        );
        let found =
            say(app.lang, "no supported agent found on PATH", "対応するエージェントが PATH にありません");
        return Finding::warning("agents", found, remedy);
    }
    let names: Vec<&str> = found.iter().map(|agent| agent.title).collect();
    Finding::ok("agents", names.join(", "))
}

fn sandbox(settings: &SandboxSettings, app: &AppContext) -> Finding {
    let lang = app.lang;
    if settings.mode == SandboxMode::Off {
        return Finding::ok("sandbox", say(lang, "off, as configured", "設定により無効"));
    }
    let support = match kernel_support(app) {
        Ok(support) => support,
        Err(error) => return Finding::error("sandbox", error.to_string(), String::new()),
    };
    let problem = support.problem.clone().unwrap_or_default();
    match (mechanism_words(&support), settings.mode) {
        (Some(words), _) if support.problem.is_none() => Finding::ok(
            "sandbox",
            say(
                lang,
                format!("agents and checks are confined ({words})"),
                format!("エージェントとチェックは隔離されます ({words})"),
            ),
        ),
        (Some(words), _) => Finding::warning(
            "sandbox",
            say(
                lang,
                format!(
                    "agents and checks are confined, with less than this version can do ({words}): {problem}"
                ),
                format!("エージェントとチェックは隔離されますが、機能に制限があります ({words}): {problem}"),
            ),
            say(
                lang,
                "allow user namespaces to processes without privileges",
                "特権のないプロセスに user namespace を許可してください",
            ),
        ),
        (None, SandboxMode::Required) => {
            Finding::error("sandbox", not_confined(&problem, lang), remedy(lang))
        }
        (None, SandboxMode::Auto | SandboxMode::Off) => {
            Finding::warning("sandbox", not_confined(&problem, lang), remedy(lang))
        }
    }
}

fn not_confined(problem: &str, lang: Lang) -> String {
    say(
        lang,
        format!(
            "agents and checks run with your permissions: the kernel cannot confine them here ({problem})"
        ),
        format!("エージェントとチェックはあなたの権限で動きます。このカーネルでは隔離できません ({problem})"),
    )
}

fn remedy(lang: Lang) -> String {
    say(
        lang,
        "allow user namespaces, or run fixpoint in a container",
        "user namespace を許可するか、コンテナの中で fixpoint を実行してください",
    )
    .to_string()
}
