//! PHP: a `test` script of `composer.json`, else PHPUnit.

use fixpoint_vocabulary::Text;
use serde_json::Value;

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

const MANIFEST: &str = "composer.json";
const PHPUNIT: [&str; 3] = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let phpunit = place.first(&PHPUNIT);
    if !place.exists(MANIFEST) {
        let Some(phpunit) = phpunit else { return Seen::Nothing };
        propose(place, gathering, "phpunit", phpunit);
        return Seen::Project;
    }
    gathering.setup(place, "composer install --no-interaction");
    let manifest = place.json(MANIFEST, gathering);
    let entry = |section: &str, name: &str| manifest.as_ref()?.get(section)?.get(name);
    let lists_phpunit =
        ["require-dev", "require"].iter().any(|section| entry(section, "phpunit/phpunit").is_some());
    if entry("scripts", "test").is_some_and(|script| !matches!(script, Value::Null)) {
        propose(place, gathering, "composer test", MANIFEST);
    } else if lists_phpunit || phpunit.is_some() {
        propose(place, gathering, "vendor/bin/phpunit", phpunit.unwrap_or(MANIFEST));
    } else if manifest.is_some() {
        gathering.note(no_tests(&place.path(MANIFEST)));
    }
    Seen::Project
}

fn propose(place: &Place<'_>, gathering: &mut Gathering, command: &str, because: &str) {
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "php",
            command: command.to_string(),
            runner: None,
            because: vec![because.to_string()],
        },
    );
}

fn no_tests(path: &str) -> Text {
    Text::new(
        format!("{path} has neither a script `test` nor PHPUnit: no check was concluded."),
        format!("{path} には `test` スクリプトも PHPUnit もないため、チェックは見つかりませんでした。"),
    )
}
