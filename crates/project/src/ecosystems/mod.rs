//! Every supported ecosystem, one file each: which files show it, and which commands test and prepare it.
//!
//! An ecosystem proposes only what the files say. Whether a tool is installed does not matter: the result is about the
//! repository, not about this machine.

mod dotnet;
mod elixir;
mod go;
mod jvm;
pub(crate) mod make;
mod node;
mod php;
mod python;
mod ruby;
mod rust;

use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Whether a directory is a project of some ecosystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detected {
    Project,
    Nothing,
}

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let ecosystems: [fn(&ProjectDirectory<'_>, &mut Findings) -> Detected; 11] = [
        rust::detect,
        node::detect,
        node::detect_deno,
        python::detect,
        go::detect,
        jvm::detect_maven,
        jvm::detect_gradle,
        dotnet::detect,
        ruby::detect,
        php::detect,
        elixir::detect,
    ];
    let mut detected = Detected::Nothing;
    for detect_one in ecosystems {
        if detect_one(dir, findings) == Detected::Project {
            detected = Detected::Project;
        }
    }
    detected
}
