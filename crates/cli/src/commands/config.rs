//! `fixpoint config`: prints the effective settings, where each comes from, and all errors.

use fixpoint_config::{Loaded, Schema, Setting, reference_markdown};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::{Text, counted};
use serde_json::{Map, Value, json};

use crate::app_context::AppContext;
use crate::arguments::{ConfigArguments, ConfigCommand};
use crate::failure::Failure;
use crate::output::{Output, complain};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Values,
    ValuesAndOrigins,
}

pub(crate) fn run(arguments: &ConfigArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let configuration = || -> Result<Loaded, Failure> {
        let loaded = app.configuration(&arguments.set)?;
        Ok(loaded)
    };
    match &arguments.command {
        ConfigCommand::Show { key, origin, json } => {
            let loaded = configuration()?;
            warn(&loaded);
            let detail = if *origin { Detail::ValuesAndOrigins } else { Detail::Values };
            let settings = selected(&loaded, key.as_deref())?;
            if *json { show_json(&settings, detail, output) } else { show_lines(&settings, detail, output) }
        }
        ConfigCommand::Validate { json: false } => {
            let loaded = configuration()?;
            warn(&loaded);
            output.say(&summary(&loaded))
        }
        ConfigCommand::Validate { json: true } => validate_json(configuration(), output),
        ConfigCommand::Schema => output.pretty_json(Schema::of::<Settings>().as_json()),
        ConfigCommand::Reference => output.text(&reference_markdown()),
    }
}

fn warn(loaded: &Loaded) {
    for warning in &loaded.warnings {
        complain(&format!("fixpoint: warning: {warning}"));
    }
}

fn selected<'a>(loaded: &'a Loaded, key: Option<&str>) -> Result<Vec<(&'a str, &'a Setting)>, Failure> {
    let is_wanted = |path: &str| {
        key.is_none_or(|key| {
            path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let all = loaded.origins.iter().map(|(path, setting)| (path.as_str(), setting));
    let settings: Vec<_> = all.filter(|(path, _)| is_wanted(path)).collect();
    match key {
        Some(key) if settings.is_empty() => Err(Failure::BadInput(format!(
            "unknown setting `{key}`; `fixpoint config show` lists all settings"
        ))),
        Some(_) | None => Ok(settings),
    }
}

fn show_lines(settings: &[(&str, &Setting)], detail: Detail, output: &mut Output) -> Result<(), Failure> {
    let lines: Vec<String> =
        settings.iter().map(|(path, setting)| format!("{path}: {}", setting.value)).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default().min(72);
    for (line, (_, setting)) in lines.iter().zip(settings) {
        match detail {
            Detail::Values => output.line(line)?,
            Detail::ValuesAndOrigins => output.line(&format!("{line:width$}  # {}", setting.origin))?,
        }
    }
    Ok(())
}

fn show_json(settings: &[(&str, &Setting)], detail: Detail, output: &mut Output) -> Result<(), Failure> {
    let entry = |setting: &Setting| match detail {
        Detail::Values => setting.value.clone(),
        Detail::ValuesAndOrigins => json!({ "value": setting.value, "origin": setting.origin.to_string() }),
    };
    let map: Map<String, Value> =
        settings.iter().map(|(path, setting)| (path.to_string(), entry(setting))).collect();
    output.pretty_json(&map)
}

fn summary(loaded: &Loaded) -> Text {
    let explicit = loaded.origins.keys().filter(|path| loaded.is_explicit(path)).count();
    let (all, warnings) = (loaded.origins.len(), loaded.warnings.len());
    Text::new(
        format!(
            "valid: {explicit} of {} set explicitly, {}",
            counted(all, "setting"),
            counted(warnings, "warning")
        ),
        format!("有効: 設定 {all} 件のうち {explicit} 件を明示的に指定、警告 {warnings} 件"),
    )
}

fn validate_json(loaded: Result<Loaded, Failure>, output: &mut Output) -> Result<(), Failure> {
    match loaded {
        Ok(loaded) => output.json(&json!({ "valid": true, "errors": [], "warnings": loaded.warnings })),
        Err(Failure::Configuration(errors)) => {
            let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
            output.json(&json!({ "valid": false, "errors": list, "warnings": [] }))?;
            Err(Failure::Configuration(errors))
        }
        Err(other) => Err(other),
    }
}
