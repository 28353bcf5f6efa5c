//! PHP: a `test` script of `composer.json`, else Pest or PHPUnit.

use fixpoint_vocabulary::Text;
use serde_json::Value;

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

const MANIFEST: &str = "composer.json";
const PHPUNIT: [&str; 3] = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let phpunit = dir.first(&PHPUNIT);
    if !dir.exists(MANIFEST) {
        let Some(phpunit) = phpunit else { return Detected::Nothing };
        findings.test(dir, "php", "phpunit", None, &[phpunit]);
        return Detected::Project;
    }
    findings.setup(dir, &dir.filling("composer install --no-interaction", "vendor"));
    let manifest = dir.json(MANIFEST, findings);
    let entry = |section: &str, name: &str| manifest.as_ref()?.get(section)?.get(name);
    let lists =
        |package: &str| ["require-dev", "require"].iter().any(|section| entry(section, package).is_some());
    if entry("scripts", "test").is_some_and(|script| !matches!(script, Value::Null)) {
        findings.test(dir, "php", "composer test", None, &[MANIFEST]);
    } else if lists("pestphp/pest") {
        findings.test(dir, "php", "vendor/bin/pest", None, &[MANIFEST]);
    } else if lists("phpunit/phpunit") || phpunit.is_some() {
        findings.test(dir, "php", "vendor/bin/phpunit", None, &[phpunit.unwrap_or(MANIFEST)]);
    } else if manifest.is_some() {
        findings.skip(dir, MANIFEST, no_tests());
    }
    Detected::Project
}

fn no_tests() -> Text {
    Text::new(
        "it has no `test` script and lists neither PHPUnit nor Pest",
        "`test` スクリプトも PHPUnit も Pest もないため",
    )
}
