//! Finding the server's program.
//!
//! Cargo passes the path of a program only to the tests of its own crate. Tests are built into `deps` of the target
//! directory, programs into the directory above. `cargo test --workspace` builds both; with the tests of one crate alone,
//! the program may be missing or old, and is built here, once per process.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::StartError;
use crate::fingerprint::FINGERPRINT;

static FOUND: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The program, built from the same sources as this library.
pub(super) fn find() -> Result<PathBuf, StartError> {
    // Tests run in threads; the others wait while it is built.
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = &*found {
        return Ok(program.clone());
    }
    let directory = built_into(&env::current_exe()?);
    let program = directory.join("scripted-server").with_extension(env::consts::EXE_EXTENSION);
    if !is_current(&program) {
        build(&directory).map_err(|why| StartError::NotBuilt { program: program.clone(), why })?;
        if !is_current(&program) {
            let why = "it was built from other sources than the library".to_string();
            return Err(StartError::NotBuilt { program, why });
        }
    }
    *found = Some(program.clone());
    Ok(program)
}

/// Tests are in `deps`, examples in `examples`, programs above both.
fn built_into(executable: &Path) -> PathBuf {
    let directory = executable.parent().unwrap_or(Path::new("."));
    let is_below = directory.file_name().is_some_and(|name| name == "deps" || name == "examples");
    directory.parent().filter(|_| is_below).unwrap_or(directory).to_path_buf()
}

fn is_current(program: &Path) -> bool {
    let output = Command::new(program).arg("--fingerprint").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == FINGERPRINT.to_string())
}

fn build(directory: &Path) -> Result<(), String> {
    let target = directory.parent().ok_or("no target directory")?;
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(other) => other,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args([
        "build",
        "--quiet",
        "-p",
        "fixpoint-testkit",
        "--bin",
        "scripted-server",
        "--profile",
        profile,
    ]);
    let output = command.arg("--target-dir").arg(target).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
