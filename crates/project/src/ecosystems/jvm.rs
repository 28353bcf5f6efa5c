//! Java, Kotlin and whatever else Maven or Gradle build. A wrapper in the repository is preferred: it brings the
//! version that the project needs.

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

const GRADLE: [&str; 4] = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];

pub(crate) fn detect_maven(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("pom.xml") {
        return Detected::Nothing;
    }
    // Batch mode never asks; quiet leaves only what failed.
    propose(dir, findings, "maven", "pom.xml", ["mvnw", "mvn", "-B -q test"])
}

pub(crate) fn detect_gradle(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let Some(manifest) = dir.first(&GRADLE) else { return Detected::Nothing };
    propose(dir, findings, "gradle", manifest, ["gradlew", "gradle", "test"])
}

fn propose(
    dir: &ProjectDirectory<'_>,
    findings: &mut Findings,
    ecosystem: &str,
    manifest: &str,
    [wrapper, program, arguments]: [&str; 3],
) -> Detected {
    if dir.exists(wrapper) {
        findings.test(dir, ecosystem, &format!("./{wrapper} {arguments}"), None, &[manifest, wrapper]);
    } else {
        findings.test(dir, ecosystem, &format!("{program} {arguments}"), None, &[manifest]);
    }
    Detected::Project
}
