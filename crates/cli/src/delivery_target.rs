//! Whether the result of a run can be delivered where it was asked for. Asked before any work is done: a wrong name must
//! not cost what the work costs.

use std::path::Path;

use fixpoint_runs::RunId;
use fixpoint_vocabulary::run_spec::Delivery;

use crate::app_context::AppContext;
use crate::failure::Failure;
use crate::language::say;
use crate::repository::Repository;

/// The delivery with the plain name of a branch, or why it cannot work.
pub(crate) fn check(
    delivery: Delivery,
    repository: &Repository,
    app: &AppContext,
) -> Result<Delivery, Failure> {
    match delivery {
        Delivery::Nothing => Ok(Delivery::Nothing),
        Delivery::Branch => require_name_for_results(repository).map(|()| Delivery::Branch),
        Delivery::Into(name) => {
            require_name_for_results(repository)?;
            check_branch(&name, repository, app).map(Delivery::Into)
        }
        Delivery::Patch(path) => check_patch(Path::new(&path)).map(|()| Delivery::Patch(path)),
    }
}

/// Whether a run that is resumed can still deliver its result.
pub(crate) fn check_resumed(
    delivery: &Delivery,
    run: &RunId,
    repository: &Repository,
) -> Result<(), Failure> {
    match delivery {
        Delivery::Nothing | Delivery::Patch(_) => Ok(()),
        Delivery::Branch | Delivery::Into(_) => {
            Ok(repository.workspaces.require_branch_storage(&format!("fixpoint/{run}"))?)
        }
    }
}

/// Git cannot have both a branch `fixpoint` and a branch `fixpoint/<run>`, and needs a repository that can be written.
fn require_name_for_results(repository: &Repository) -> Result<(), Failure> {
    if repository.workspaces.branch_commit("fixpoint")?.is_none() {
        let probe = format!("fixpoint/probe-{}", std::process::id());
        return Ok(repository.workspaces.require_branch_storage(&probe)?);
    }
    Err(Failure::BadInput(
        "the repository has a branch `fixpoint`, so git cannot create `fixpoint/<run>` for the result; rename it with \
         `git branch -m fixpoint <other name>`"
            .into(),
    ))
}

fn check_branch(name: &str, repository: &Repository, app: &AppContext) -> Result<String, Failure> {
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    let workspaces = &repository.workspaces;
    workspaces
        .require_valid_branch(branch)
        .map_err(|_| Failure::BadInput(format!("--into {name}: not a valid name of a branch")))?;
    if workspaces.branch_commit(branch)?.is_none() {
        return Err(Failure::BadInput(format!(
            "--into {name}: there is no such branch; create it with `git branch {branch}`"
        )));
    }
    if workspaces.is_checked_out(branch)? {
        app.notices.say(&say(
            app.lang,
            format!(
                "{branch} is checked out, so it will not be moved; merge the result with `git merge --ff-only` then"
            ),
            format!(
                "{branch} はチェックアウト中のため移動しません。完了後に `git merge --ff-only` でマージしてください"
            ),
        ));
    }
    Ok(branch.to_string())
}

fn check_patch(path: &Path) -> Result<(), Failure> {
    let wrong = |why: &str| Err(Failure::BadInput(format!("--patch {}: {why}", path.display())));
    if path.file_name().is_some_and(|name| name == "-") {
        return wrong("the patch is written to a file; to print it, run `fixpoint diff` afterwards");
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => return wrong("is a directory; name a file in it"),
        Ok(_) => return wrong("exists; delete it or name another file"),
        Err(_) => {}
    }
    let directory = path.parent().unwrap_or(path);
    if !directory.is_dir() {
        return wrong("its directory does not exist");
    }
    match tempfile::NamedTempFile::new_in(directory) {
        Ok(_) => Ok(()),
        Err(error) => wrong(&format!("its directory cannot be written to: {error}")),
    }
}
