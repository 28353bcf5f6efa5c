//! `fixpoint init`: detects how the project is tested and writes `.fixpoint/config.yaml`.
//!
//! With `--verify`, what was detected is tried before anything is written. Invariant: a stop writes nothing.

mod report;
mod verify;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_config::Schema;
use fixpoint_project::{Directory, config_yaml, detect, installed_agents};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::{Cause, Lang};

use self::report::InitReport;
use self::verify::Verification;
use super::outcome::exit_code;
use crate::app_context::AppContext;
use crate::arguments::InitArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::trust;

const DIRECTORY: &str = ".fixpoint";
const SCHEMA: &str = "config.schema.json";

pub(crate) fn run(arguments: &InitArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let repository = Repository::look(app)?;
    let root = repository.root();
    let directory = root.join(DIRECTORY);
    let file = directory.join("config.yaml");
    if !arguments.dry_run {
        refuse_overwriting(&directory, &file, arguments)?;
    }
    let has_program = |name: &str| app.program(name).is_some();
    let ignores = |path: &str| repository.workspaces.ignores(path);
    let mut project = detect(&Directory::new(root), &ignores, &has_program);
    let verification = arguments.verify.then(|| verify::verify(&mut project, app)).transpose()?;
    if verification.as_ref().is_some_and(|tried| matches!(tried, Verification::Stopped)) {
        return Ok(exit_code(Cause::Stopped));
    }
    // The file is for everyone who works on the project: all its comments are in one language.
    let text = config_yaml(&project, SCHEMA, Lang::En);
    let agents = installed_agents(&|name| app.program(name));
    let code = verification.as_ref().map_or(0, Verification::exit_code);
    let report =
        InitReport { project: &project, agents: &agents, file: &file, verification: verification.as_ref() };
    if arguments.dry_run {
        output.text(&text)?;
        report.verification_lines(app.lang).into_iter().for_each(|line| app.notices.say(&line));
        return Ok(code);
    }
    write_files(&directory, &file, &text)?;
    trust::agree_to_written(&file, app)?;
    match Form::from(arguments.json) {
        Form::Json => output.json(&report.json(app.lang))?,
        Form::Text => output.lines(report.lines(app.lang))?,
    }
    Ok(code)
}

fn refuse_overwriting(directory: &Path, file: &Path, arguments: &InitArguments) -> Result<(), Failure> {
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
    Ok(())
}

fn write_files(directory: &Path, file: &Path, text: &str) -> Result<(), Failure> {
    let schema = serde_json::to_string_pretty(Schema::of::<Settings>().as_json())?;
    write(&directory.join(SCHEMA), &format!("{schema}\n"))?;
    let ignored = directory.join(".gitignore");
    if !ignored.is_file() || ignored.is_symlink() {
        write(&ignored, "config.local.yaml\n")?;
    }
    write(file, text)
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
