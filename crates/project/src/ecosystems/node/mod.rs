//! JavaScript and TypeScript: `package.json` with its scripts, and Deno.
//!
//! A script is a check only if it ends by itself and changes nothing: what watches, rewrites files or drives a browser
//! is noted instead.

mod package_manager;
mod script;

use fixpoint_vocabulary::Text;
use serde_json::Value;

use self::package_manager::PackageManager;
use self::script::Trouble;
use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

const MANIFEST: &str = "package.json";
const DENO: [&str; 2] = ["deno.json", "deno.jsonc"];

/// The scripts that check types, by preference.
const TYPECHECK: [&str; 6] = ["typecheck", "type-check", "check-types", "types:check", "check:types", "tsc"];

/// Words in names of scripts that need browsers, servers or much time.
const HEAVY: [&str; 8] =
    ["e2e", "cypress", "playwright", "integration", "acceptance", "visual", "storybook:test", "puppeteer"];

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    if !place.exists(MANIFEST) {
        return Seen::Nothing;
    }
    let Some(manifest) = place.json(MANIFEST, gathering) else { return Seen::Project };
    let manager = package_manager::of(place, &manifest, gathering);
    if let Some(install) = manager.install(place, &manifest) {
        gathering.setup(place, install);
    }
    let project = Project { place, manifest: &manifest, manager };
    project.propose_test(gathering);
    if let Some(lint) = project.script("lint") {
        project.propose(gathering, Purpose::Lint, "lint", lint, script::linter(lint));
    }
    let typecheck = TYPECHECK.iter().find_map(|name| Some((*name, project.script(name)?)));
    if let Some((name, line)) = typecheck {
        project.propose(gathering, Purpose::Typecheck, name, line, script::type_checker(line));
    }
    project.note_heavy(gathering);
    Seen::Project
}

/// Deno, whose tests need permissions that only a task of its configuration can name.
pub(crate) fn look_deno(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let Some(config) = place.first(&DENO) else { return Seen::Nothing };
    // `deno.jsonc` may hold comments, so it is not read as JSON.
    let document = (config == "deno.json").then(|| place.json(config, gathering));
    if document == Some(None) {
        return Seen::Project;
    }
    let document = document.flatten();
    let has_task = document.as_ref().and_then(|document| document.get("tasks")?.get("test")).is_some();
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "deno",
            command: if has_task { "deno task test" } else { "deno test" }.to_string(),
            runner: None,
            because: vec![config.to_string()],
        },
    );
    Seen::Project
}

struct Project<'a> {
    place: &'a Place<'a>,
    manifest: &'a Value,
    manager: PackageManager,
}

impl<'a> Project<'a> {
    fn script(&self, name: &str) -> Option<&'a str> {
        self.manifest.get("scripts")?.get(name)?.as_str().filter(|line| !line.trim().is_empty())
    }

    fn propose_test(&self, gathering: &mut Gathering) {
        // What `npm init` writes where nobody answered.
        let line = self.script("test").filter(|line| !line.contains("no test specified"));
        let Some(line) = line else {
            gathering.note(no_test(&self.place.path(MANIFEST)));
            return;
        };
        let runner = script::test_runner(line).or_else(|| script::only_runner(self.manifest));
        self.propose(gathering, Purpose::Test, "test", line, runner);
    }

    fn propose(
        &self,
        gathering: &mut Gathering,
        purpose: Purpose,
        name: &str,
        line: &str,
        runner: Option<&'static str>,
    ) {
        if let Some(trouble) = script::trouble(line) {
            gathering.note(troubled(&self.place.path(MANIFEST), name, trouble));
            return;
        }
        let environment = if script::watches_unless_told(line) { "CI=true " } else { "" };
        let command = format!("{environment}{}", self.manager.run(name));
        let because = self.because();
        gathering.check(self.place, Proposal { purpose, ecosystem: "node", command, runner, because });
    }

    fn because(&self) -> Vec<String> {
        let lock = self.manager.lock_file(self.place).map(str::to_string);
        [MANIFEST.to_string()].into_iter().chain(lock).collect()
    }

    fn note_heavy(&self, gathering: &mut Gathering) {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        let names = scripts.into_iter().flat_map(|scripts| scripts.keys());
        let is_heavy = |name: &&String| HEAVY.iter().any(|word| name.to_ascii_lowercase().contains(word));
        let heavy: Vec<String> =
            names.filter(is_heavy).take(10).map(|name| format!("`{}`", name.escape_debug())).collect();
        if !heavy.is_empty() {
            gathering.note(left_out(&self.place.path(MANIFEST), &heavy.join(", ")));
        }
    }
}

fn no_test(path: &str) -> Text {
    Text::new(
        format!("{path} has no script `test`, so its tests are not a check."),
        format!("{path} に `test` スクリプトがないため、テストはチェックになっていません。"),
    )
}

fn troubled(path: &str, name: &str, trouble: Trouble) -> Text {
    match trouble {
        Trouble::Watches => Text::new(
            format!("The script `{name}` of {path} watches for changes and never ends, so it is no check."),
            format!(
                "{path} の `{name}` スクリプトは変更を監視し続けて終了しないため、チェックにしていません。"
            ),
        ),
        Trouble::Rewrites => Text::new(
            format!("The script `{name}` of {path} rewrites files, so it is no check."),
            format!("{path} の `{name}` スクリプトはファイルを書き換えるため、チェックにしていません。"),
        ),
    }
}

fn left_out(path: &str, names: &str) -> Text {
    Text::new(
        format!("Scripts of {path} that look slow or need a browser or a server are no checks: {names}."),
        format!(
            "{path} の次のスクリプトは時間がかかるか、ブラウザやサーバーが必要なため、チェックにしていません: {names}"
        ),
    )
}
