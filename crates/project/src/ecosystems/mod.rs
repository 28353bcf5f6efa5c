//! Every supported ecosystem, one file each: which files show it, and which commands test and prepare it.
//!
//! An ecosystem proposes what the files say. Whether a tool is installed matters only where another tool can do the same:
//! the result is about the repository, not about this machine.

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

pub(crate) struct Ecosystem {
    /// The name its checks are proposed under.
    pub(crate) name: &'static str,
    pub(crate) detect: fn(&ProjectDirectory<'_>, &mut Findings) -> Detected,
    /// Whether the tests of a project usually run those of the projects below it. A Go module never includes another.
    pub(crate) root_includes_members: bool,
    /// Files that show a project of its own, and not only a part of one.
    pub(crate) manifests: &'static [&'static str],
}

pub(crate) const ALL: &[Ecosystem] = &[
    Ecosystem { name: "rust", detect: rust::detect, root_includes_members: true, manifests: &["Cargo.toml"] },
    Ecosystem {
        name: "node",
        detect: node::detect,
        root_includes_members: true,
        manifests: &["package.json"],
    },
    Ecosystem {
        name: "deno",
        detect: node::detect_deno,
        root_includes_members: true,
        manifests: &["deno.json", "deno.jsonc"],
    },
    Ecosystem {
        name: "python",
        detect: python::detect,
        root_includes_members: true,
        manifests: &["pyproject.toml", "setup.py"],
    },
    Ecosystem { name: "go", detect: go::detect, root_includes_members: false, manifests: &["go.mod"] },
    Ecosystem {
        name: "maven",
        detect: jvm::detect_maven,
        root_includes_members: true,
        manifests: &["pom.xml"],
    },
    Ecosystem {
        name: "gradle",
        detect: jvm::detect_gradle,
        root_includes_members: true,
        manifests: &["build.gradle", "build.gradle.kts"],
    },
    Ecosystem { name: "dotnet", detect: dotnet::detect, root_includes_members: true, manifests: &[] },
    Ecosystem { name: "ruby", detect: ruby::detect, root_includes_members: true, manifests: &["Gemfile"] },
    Ecosystem {
        name: "php",
        detect: php::detect,
        root_includes_members: true,
        manifests: &["composer.json"],
    },
    Ecosystem {
        name: "elixir",
        detect: elixir::detect,
        root_includes_members: true,
        manifests: &["mix.exs"],
    },
];
