//! Java, Kotlin and whatever else Maven or Gradle build. A wrapper in the repository is preferred: it brings the
//! version that the project needs.

use super::Detected;
use crate::findings::{Findings, Proposal, Purpose};
use crate::project_directory::ProjectDirectory;

const GRADLE: [&str; 4] = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];

pub(crate) fn detect_maven(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("pom.xml") {
        return Detected::Nothing;
    }
    // Batch mode never asks; quiet leaves only what failed.
    propose(
        dir,
        findings,
        "maven",
        "pom.xml",
        Tool { wrapper: "mvnw", program: "mvn", arguments: "-B -q test" },
    )
}

pub(crate) fn detect_gradle(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let Some(manifest) = dir.first(&GRADLE) else { return Detected::Nothing };
    propose(
        dir,
        findings,
        "gradle",
        manifest,
        Tool { wrapper: "gradlew", program: "gradle", arguments: "test" },
    )
}

struct Tool {
    wrapper: &'static str,
    program: &'static str,
    arguments: &'static str,
}

fn propose(
    dir: &ProjectDirectory<'_>,
    findings: &mut Findings,
    ecosystem: &'static str,
    manifest: &str,
    tool: Tool,
) -> Detected {
    let Tool { wrapper, program, arguments } = tool;
    let (command, because) = if dir.exists(wrapper) {
        (format!("./{wrapper} {arguments}"), vec![manifest.to_string(), wrapper.to_string()])
    } else {
        (format!("{program} {arguments}"), vec![manifest.to_string()])
    };
    findings.check(dir, Proposal { purpose: Purpose::Test, ecosystem, command, runner: None, because });
    Detected::Project
}
