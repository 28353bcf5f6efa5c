//! Java, Kotlin and whatever else Maven or Gradle build. A wrapper in the repository is preferred: it brings the
//! version the project was written for.

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

const GRADLE: [&str; 4] = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];

pub(crate) fn look_maven(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    if !place.exists("pom.xml") {
        return Seen::Nothing;
    }
    // Batch mode never asks; quiet leaves only what failed.
    propose(
        place,
        gathering,
        "maven",
        "pom.xml",
        Tool { wrapper: "mvnw", program: "mvn", arguments: "-B -q test" },
    )
}

pub(crate) fn look_gradle(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let Some(manifest) = place.first(&GRADLE) else { return Seen::Nothing };
    propose(
        place,
        gathering,
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
    place: &Place<'_>,
    gathering: &mut Gathering,
    ecosystem: &'static str,
    manifest: &str,
    tool: Tool,
) -> Seen {
    let Tool { wrapper, program, arguments } = tool;
    let (command, because) = if place.exists(wrapper) {
        (format!("./{wrapper} {arguments}"), vec![manifest.to_string(), wrapper.to_string()])
    } else {
        (format!("{program} {arguments}"), vec![manifest.to_string()])
    };
    gathering.check(place, Proposal { purpose: Purpose::Test, ecosystem, command, runner: None, because });
    Seen::Project
}
