//! `fixpoint init`: what the project is made of, written down.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_config::Schema;
use fixpoint_project::{Directory, Found, agents, config_yaml, look};
use fixpoint_vocabulary::settings::Settings;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::InitArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;

const DIRECTORY: &str = ".fixpoint";
const SCHEMA: &str = "config.schema.json";

pub(crate) fn run(arguments: &InitArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let repository = Repository::look(app)?;
    let root = repository.root();
    let found = look(&Directory::new(root), &|path| repository.workspaces.ignores(path));
    let text = config_yaml(&found, SCHEMA, app.lang);
    let directory = root.join(DIRECTORY);
    let file = directory.join("config.yaml");
    if arguments.dry_run {
        return output.text(&text);
    }
    if file.exists() && !arguments.force {
        return Err(Failure::BadInput(format!(
            "{} is there already; --force overwrites it, --dry-run shows what would be written",
            file.display()
        )));
    }
    // A link in a repository of somebody else's must not choose what is written to.
    if directory.is_symlink() {
        return Err(Failure::BadInput(format!("{} is a link; remove it first", directory.display())));
    }
    let schema = serde_json::to_string_pretty(Schema::of::<Settings>().as_json())?;
    write(&directory.join(SCHEMA), &format!("{schema}\n"))?;
    let ignored = directory.join(".gitignore");
    if !ignored.is_file() || ignored.is_symlink() {
        write(&ignored, "config.local.yaml\n")?;
    }
    write(&file, &text)?;
    tell(arguments, app, &found, &file, output)
}

fn write(path: &Path, content: &str) -> Result<(), Failure> {
    let refused = |source| Failure::Unwritable { path: path.to_path_buf(), source };
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(refused)?;
    // A new file takes the place of whatever is there; a link is replaced, not followed.
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(directory)
        .map_err(refused)?;
    file.write_all(content.as_bytes()).map_err(refused)?;
    file.persist(path).map(drop).map_err(|error| refused(error.error))
}

fn tell(
    arguments: &InitArguments,
    app: &AppContext,
    found: &Found,
    file: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let installed = agents(&|name| app.program(name));
    if Form::from(arguments.json) == Form::Json {
        let checks: Vec<_> = found
            .checks
            .iter()
            .map(|found| json!({ "name": found.check.name, "command": found.check.command, "because": found.because }))
            .collect();
        let agents: Vec<_> = installed
            .iter()
            .map(|agent| json!({ "name": agent.name, "command": agent.command_line() }))
            .collect();
        let notes: Vec<_> = found.notes.iter().map(|note| note.in_lang(app.lang).to_string()).collect();
        return output.json(&json!({
            "file": file.to_string_lossy(), "checks": checks, "setup": found.setup, "copy": found.copy,
            "agents": agents, "notes": notes,
        }));
    }
    output.line(&format!("wrote {}", file.display()))?;
    for check in &found.checks {
        output.line(&format!(
            "  check  {}  `{}`  ({})",
            check.check.name, check.check.command, check.because
        ))?;
    }
    for command in &found.setup {
        output.line(&format!("  set-up `{command}`"))?;
    }
    for pattern in &found.copy {
        output.line(&format!("  copied {pattern}"))?;
    }
    for agent in &installed {
        output.line(&format!("  agent  {}: {}", agent.title, agent.command_line()))?;
    }
    for note in &found.notes {
        output.line(&format!("  note   {}", note.in_lang(app.lang)))?;
    }
    if installed.is_empty() {
        output.line("  no agent that is known was found on the PATH; any command can be one: fixpoint loop … -- COMMAND")?;
    }
    output.line("next: fixpoint check, then fixpoint loop --until 'COMMAND THAT FAILS NOW' -- AGENT")
}
