//! Manifests: files that hold product (dependencies, metadata) beside definitions (scripts, settings of tools).
//!
//! Owns which files are manifests and which reader takes each apart. Each reader replaces ranges of the attempt's text by
//! the base's, so that formatting and comments stay. Invariant: a manifest that cannot be read is taken from the base whole.

mod code;
mod entry_points;
mod json;
mod json_policy;
mod sections;
mod sections_policy;
mod substitution;
mod toml_scan;
mod xml;

use crate::Mix;
use crate::paths::{extension, name, part_matches};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json(json_policy::Kind),
    Sections(sections_policy::Kind),
    Xml,
    Code(code::Kind),
}

fn format(path: &str) -> Option<Format> {
    let name = name(path);
    let is_requirements = part_matches("*requirements*.txt", name)
        || path.contains("requirements/") && name.ends_with(".txt")
        || part_matches("constraints*.txt", name);
    Some(match name {
        "package.json" => Format::Json(json_policy::Kind::Package),
        "package-lock.json" | "npm-shrinkwrap.json" => Format::Json(json_policy::Kind::Lock),
        "composer.json" => Format::Json(json_policy::Kind::Composer),
        "deno.json" | "deno.jsonc" | "jsr.json" => Format::Json(json_policy::Kind::Deno),
        "pyproject.toml" => Format::Sections(sections_policy::Kind::Pyproject),
        "Cargo.toml" => Format::Sections(sections_policy::Kind::Cargo),
        "Pipfile" => Format::Sections(sections_policy::Kind::Pipfile),
        "setup.cfg" => Format::Sections(sections_policy::Kind::SetupCfg),
        "pom.xml" => Format::Xml,
        "go.mod" => Format::Code(code::Kind::GoMod),
        "Gemfile" | "gems.rb" => Format::Code(code::Kind::Gemfile),
        "setup.py" => Format::Code(code::Kind::SetupPy),
        "mix.exs" => Format::Code(code::Kind::Mix),
        "build.sbt" => Format::Code(code::Kind::Gradle),
        "Makefile" | "makefile" | "GNUmakefile" | "Makefile.am" | "Makefile.in" => {
            Format::Code(code::Kind::Makefile)
        }
        "CMakeLists.txt" | "meson.build" | "BUILD" | "BUILD.bazel" | "SConstruct" | "build.zig" | "dune" => {
            Format::Code(code::Kind::SourceList)
        }
        "Package.swift" | "pubspec.yaml" => Format::Code(code::Kind::SourceList),
        _ if is_requirements => Format::Code(code::Kind::Requirements),
        _ if name.ends_with(".gemspec") => Format::Code(code::Kind::Gemfile),
        _ if part_matches("*.gradle", name) || part_matches("*.gradle.kts", name) => {
            Format::Code(code::Kind::Gradle)
        }
        _ if matches!(extension(name), "csproj" | "fsproj" | "vbproj" | "vcxproj") => Format::Xml,
        _ => return None,
    })
}

/// Whether a file is taken apart by section.
pub(crate) fn is_manifest(path: &str) -> bool {
    format(path).is_some()
}

/// What a changed `package.json` does by leading to other files, if anything.
pub(crate) use entry_points::{EntryChange, entry_change, is_entry_point};

/// Whether a file only has rules of `make`, which matter to checks that run it.
pub(crate) fn is_makefile(path: &str) -> bool {
    format(path) == Some(Format::Code(code::Kind::Makefile))
}

/// Two versions of a manifest, taken apart; nothing if the file is no manifest.
pub(crate) fn mixed(path: &str, base: Option<&[u8]>, result: &[u8]) -> Option<Mix> {
    let format = format(path)?;
    let unreadable = || Mix::Whole("it cannot be read any more".to_string());
    let Ok(now) = std::str::from_utf8(result) else { return Some(unreadable()) };
    let before = match base.map(std::str::from_utf8) {
        None => None,
        Some(Ok(before)) => Some(before),
        Some(Err(_)) => return Some(Mix::Whole("it could not be read at the base".to_string())),
    };
    let mix = match (format, before) {
        (Format::Json(kind), before) => json::mixed(kind, before.unwrap_or("{}"), now),
        (Format::Sections(kind), before) => sections::mixed(kind, before.unwrap_or_default(), now),
        // A project that is new is product as a whole: without its settings it could not be built.
        (Format::Xml | Format::Code(_), None) => Some(Mix::Product),
        (Format::Xml, Some(before)) => xml::mixed(before, now),
        (Format::Code(kind), Some(before)) => Some(code::mixed(kind, before, now)),
    };
    Some(mix.unwrap_or_else(unreadable))
}
