//! `fixpoint init`: detects how the project is tested and writes `.fixpoint/config.yaml`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_config::Schema;
use fixpoint_project::{
    DetectedCheck, DetectedProject, Directory, InstalledAgent, config_yaml, detect, installed_agents,
};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::{Lang, Text};
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::InitArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;

const DIRECTORY: &str = ".fixpoint";
const SCHEMA: &str = "config.schema.json";

pub(crate) fn run(arguments: &InitArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let repository = Repository::look(app)?;
    let root = repository.root();
    let project = detect(&Directory::new(root), &|path| repository.workspaces.ignores(path));
    // The file is for everyone who works on the project: all its comments are in one language.
    let text = config_yaml(&project, SCHEMA, Lang::En);
    let directory = root.join(DIRECTORY);
    let file = directory.join("config.yaml");
    if arguments.dry_run {
        return output.text(&text);
    }
    if file.exists() && !arguments.force {
        return Err(Failure::BadInput(format!(
            "{} already exists; --force overwrites it, --dry-run shows what would be written",
            file.display()
        )));
    }
    // The link may come from someone else's repository and lead anywhere.
    if directory.is_symlink() {
        return Err(Failure::BadInput(format!(
            "{} is a symbolic link; remove it first",
            directory.display()
        )));
    }
    let schema = serde_json::to_string_pretty(Schema::of::<Settings>().as_json())?;
    write(&directory.join(SCHEMA), &format!("{schema}\n"))?;
    let ignored = directory.join(".gitignore");
    if !ignored.is_file() || ignored.is_symlink() {
        write(&ignored, "config.local.yaml\n")?;
    }
    write(&file, &text)?;
    let agents = installed_agents(&|name| app.program(name));
    match Form::from(arguments.json) {
        Form::Json => print_json(&project, &agents, &file, output),
        Form::Text => print_text(&project, &agents, &file, output),
    }
}

/// Replaces a file at once. A symbolic link is replaced, not followed.
fn write(path: &Path, content: &str) -> Result<(), Failure> {
    let unwritable = |source| Failure::Unwritable { path: path.to_path_buf(), source };
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(unwritable)?;
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(directory)
        .map_err(unwritable)?;
    file.write_all(content.as_bytes()).map_err(unwritable)?;
    file.persist(path).map(drop).map_err(|error| unwritable(error.error))
}

fn print_json(
    project: &DetectedProject,
    agents: &[InstalledAgent],
    file: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let lang = output.lang();
    let check = |DetectedCheck { check, because }: &DetectedCheck| json!({ "name": check.name, "command": check.command, "because": because });
    let checks: Vec<_> = project.checks.iter().map(check).collect();
    let agent = |agent: &InstalledAgent| json!({ "name": agent.name, "command": agent.command_line() });
    let agents: Vec<_> = agents.iter().map(agent).collect();
    let notes: Vec<_> = project.notes.iter().map(|note| note.in_lang(lang)).collect();
    output.json(&json!({
        "file": file.to_string_lossy(), "checks": checks, "setup": project.setup, "copy": project.copy,
        "agents": agents, "notes": notes,
    }))
}

fn print_text(
    project: &DetectedProject,
    agents: &[InstalledAgent],
    file: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let lang = output.lang();
    let file = file.display();
    output.say(&Text::new(format!("wrote {file}"), format!("{file} を作成しました")))?;
    let mut list =
        |en: &str, ja: &str, line: String| output.line(&format!("  {}: {line}", say(lang, en, ja)));
    for DetectedCheck { check, because } in &project.checks {
        list("check", "チェック", format!("{}  `{}`  ({because})", check.name, check.command))?;
    }
    project.setup.iter().try_for_each(|command| list("setup", "セットアップ", format!("`{command}`")))?;
    project.copy.iter().try_for_each(|path| list("copy", "コピー", path.clone()))?;
    for agent in agents {
        list("agent", "エージェント", format!("{}  `{}`", agent.title, agent.command_line()))?;
    }
    if agents.is_empty() {
        let none = say(
            lang,
            "no supported agent found on PATH; any command can be used: fixpoint loop … -- COMMAND",
            "対応するものが PATH にありません。任意のコマンドを使えます: fixpoint loop … -- コマンド",
        );
        list("agent", "エージェント", none)?;
    }
    project.notes.iter().try_for_each(|note| list("note", "注意", note.in_lang(lang).to_string()))?;
    output.say(&Text::new(
        "next: `fixpoint check`, then `fixpoint loop --until 'FAILING TEST COMMAND' -- AGENT`",
        "次: `fixpoint check`、続いて `fixpoint loop --until '失敗するテストのコマンド' -- エージェント`",
    ))
}
