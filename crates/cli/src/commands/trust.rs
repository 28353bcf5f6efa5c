//! `fixpoint trust`: shows what a repository's files ask for and stores the user's agreement; lists and revokes agreements.

use std::path::Path;

use fixpoint_config::{TrustDecision, TrustItem};
use fixpoint_vocabulary::counted;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::{SetArguments, TrustArguments};
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::selected_checks::SelectedChecks;
use crate::trust::store::{StoredFile, TrustStore};
use crate::trust::words::item_line;
use crate::trust::{AskedByProject, is_confirmed};

pub(crate) fn run(arguments: &TrustArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    match &arguments.revoke {
        Some(path) => revoke(path.as_deref(), arguments.json.into(), app, output),
        None if arguments.list => list(arguments.json.into(), app, output),
        None => agree(arguments, app, output),
    }
}

/// What the repository asks for now, and what of it a command would use that nobody typed.
pub(crate) fn asked_here(app: &AppContext) -> Result<AskedByProject, Failure> {
    let loaded = app.configuration(&SetArguments { sets: Vec::new() })?;
    let repository = Repository::look(app)?;
    let mut settings = loaded.settings.clone();
    let selected = SelectedChecks::not_typed(&mut settings, &repository, &app.without_notices())?;
    let asked = AskedByProject::of(&loaded);
    Ok(match selected {
        Some(selected) => asked.with_detected(&selected.detected),
        None => asked,
    })
}

fn agree(arguments: &TrustArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let asked = asked_here(app)?;
    // An agreement is recorded even where `--trust` would do without.
    let standing = asked.standing(&app.trusting_nothing())?;
    standing.complain_about_damage(app);
    let change = match &standing.decision {
        TrustDecision::Changed(change) => Some(change),
        TrustDecision::NothingAsked | TrustDecision::Trusted | TrustDecision::NotTrusted => None,
    };
    let words = asked.words(change, app);
    let form = Form::from(arguments.json);
    if form == Form::Text {
        output.lines(words.items())?;
        output.flush();
    }
    let is_agreed = match &standing.decision {
        TrustDecision::NothingAsked | TrustDecision::Trusted => true,
        TrustDecision::NotTrusted | TrustDecision::Changed(_) => {
            let is_agreed = if arguments.yes || app.trusts_all() {
                true
            } else if app.is_attended() {
                is_confirmed(&words.question())?
            } else {
                return Err(Failure::NotTrusted(say(
                    app.lang,
                    "nobody can be asked here; to trust this repository, add --yes",
                    "ここでは質問できません。このリポジトリを信頼するには --yes を付けてください",
                )));
            };
            if is_agreed {
                asked.record(standing.recorded.as_ref(), app)?;
            }
            is_agreed
        }
    };
    let root = asked.root().display();
    match form {
        Form::Json => output.json(&json!({
            "repository": root.to_string(), "trusted": is_agreed, "items": asked.request.items(),
        }))?,
        Form::Text => output.line(&match (&standing.decision, is_agreed) {
            (TrustDecision::NothingAsked, _) => say(
                app.lang,
                "nothing to trust: no file of this repository asks to run anything or to change a setting",
                "信頼する対象がありません。このリポジトリのファイルは、実行も設定変更も要求していません",
            ),
            (TrustDecision::Trusted, _) => {
                say(app.lang, format!("already trusted: {root}"), format!("すでに信頼しています: {root}"))
            }
            (TrustDecision::NotTrusted | TrustDecision::Changed(_), true) => {
                say(app.lang, format!("trusted: {root}"), format!("信頼しました: {root}"))
            }
            (TrustDecision::NotTrusted | TrustDecision::Changed(_), false) => {
                say(app.lang, "nothing was recorded", "何も記録していません")
            }
        })?,
    }
    if is_agreed {
        return Ok(());
    }
    Err(Failure::NotTrusted(say(app.lang, "not trusted", "信頼されていません")))
}

fn list(form: Form, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let all = TrustStore::of(app)?.all()?;
    if form == Form::Json {
        let line = |file: &StoredFile| match &file.record {
            Ok(record) => {
                json!({ "repository": record.repository, "at": record.at, "items": record.items() })
            }
            Err(problem) => json!({ "file": file.path.to_string_lossy(), "problem": problem }),
        };
        return all.iter().try_for_each(|file| output.json(&line(file)));
    }
    if all.is_empty() {
        return output.line(&say(app.lang, "no repository is trusted", "信頼しているリポジトリはありません"));
    }
    for StoredFile { path, record } in &all {
        match record {
            Ok(record) => {
                let (items, at) = (record.items(), date(record.at));
                let number = items.len();
                let what = say(app.lang, counted(number, "item"), format!("{number}件"));
                output.line(&format!("{}  ({at}, {what})", record.repository))?;
                output.lines(
                    items.iter().map(|item: &TrustItem| format!("    {}", item_line(item, app.lang))),
                )?;
            }
            Err(problem) => output.line(&say(
                app.lang,
                format!("not usable: {}: {problem}", path.display()),
                format!("使用不可: {}: {problem}", path.display()),
            ))?,
        }
    }
    Ok(())
}

fn date(ms: u64) -> String {
    let time = Timestamp::from_millisecond(i64::try_from(ms).unwrap_or_default()).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The directory may be gone already, so its name is enough.
fn revoke(path: Option<&Path>, form: Form, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let here = app.working_dir()?;
    let start = path.map_or_else(|| here.clone(), |path| here.join(path));
    let start = start.canonicalize().unwrap_or(start);
    let root = fixpoint_config::project_root(&start).unwrap_or_else(|| start.clone());
    let store = TrustStore::of(app)?;
    let was_trusted = store.remove(&root)? || store.remove(&start)?;
    let shown = root.display();
    if form == Form::Json {
        return output.json(&json!({ "repository": shown.to_string(), "revoked": was_trusted }));
    }
    output.line(&if was_trusted {
        say(app.lang, format!("no longer trusted: {shown}"), format!("信頼を取り消しました: {shown}"))
    } else {
        say(app.lang, format!("was not trusted: {shown}"), format!("信頼されていませんでした: {shown}"))
    })
}
