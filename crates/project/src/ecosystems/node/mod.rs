//! JavaScript and TypeScript: `package.json` with its scripts, and Deno.
//!
//! A script becomes a check only if it ends by itself and changes nothing. Scripts that watch, rewrite files or need a
//! browser are noted instead.

mod package_manager;
mod script;

use fixpoint_vocabulary::Text;
use serde_json::Value;

use self::package_manager::PackageManager;
use self::script::Unsuitable;
use super::Detected;
use crate::findings::{Findings, Purpose};
use crate::project_directory::ProjectDirectory;

const MANIFEST: &str = "package.json";
const DENO: [&str; 2] = ["deno.json", "deno.jsonc"];

/// Scripts that check types, in order of preference.
const TYPECHECK: [&str; 6] = ["typecheck", "type-check", "check-types", "types:check", "check:types", "tsc"];

/// Words in names of scripts that need browsers, servers or much time.
const HEAVY: [&str; 8] =
    ["e2e", "cypress", "playwright", "integration", "acceptance", "visual", "storybook:test", "puppeteer"];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists(MANIFEST) {
        return Detected::Nothing;
    }
    let Some(manifest) = dir.json(MANIFEST, findings) else { return Detected::Project };
    let manager = package_manager::of(dir, &manifest, findings);
    if let Some(install) = manager.install(dir, &manifest) {
        findings.setup(dir, install);
    }
    let project = Project { dir, manifest: &manifest, manager };
    project.propose_test(findings);
    if let Some(lint) = project.script("lint") {
        project.propose(findings, Purpose::Lint, "lint", lint, script::linter(lint));
    }
    let typecheck = TYPECHECK.iter().find_map(|name| Some((*name, project.script(name)?)));
    if let Some((name, line)) = typecheck {
        project.propose(findings, Purpose::Typecheck, name, line, script::type_checker(line));
    }
    project.note_heavy(findings);
    Detected::Project
}

/// The tests of Deno need permissions that only a task in its configuration can name.
pub(crate) fn detect_deno(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let Some(config) = dir.first(&DENO) else { return Detected::Nothing };
    // `deno.jsonc` may hold comments, so it is not read as JSON.
    let document = (config == "deno.json").then(|| dir.json(config, findings));
    if document == Some(None) {
        return Detected::Project;
    }
    let document = document.flatten();
    let has_task = document.as_ref().and_then(|document| document.get("tasks")?.get("test")).is_some();
    let command = if has_task { "deno task test" } else { "deno test" };
    findings.test(dir, "deno", command, None, &[config]);
    Detected::Project
}

struct Project<'a> {
    dir: &'a ProjectDirectory<'a>,
    manifest: &'a Value,
    manager: PackageManager,
}

impl<'a> Project<'a> {
    fn script(&self, name: &str) -> Option<&'a str> {
        self.manifest.get("scripts")?.get(name)?.as_str().filter(|line| !line.trim().is_empty())
    }

    fn propose_test(&self, findings: &mut Findings) {
        // What `npm init` writes by default.
        let line = self.script("test").filter(|line| !line.contains("no test specified"));
        let Some(line) = line else {
            findings.note(no_test(&self.dir.path(MANIFEST)));
            return;
        };
        let runner = script::test_runner(line).or_else(|| script::only_runner(self.manifest));
        self.propose(findings, Purpose::Test, "test", line, runner);
    }

    fn propose(
        &self,
        findings: &mut Findings,
        purpose: Purpose,
        name: &str,
        line: &str,
        runner: Option<&'static str>,
    ) {
        if let Some(reason) = script::unsuitable(line) {
            findings.note(not_added(&self.dir.path(MANIFEST), name, reason));
            return;
        }
        let environment = if script::watches_unless_ci(line) { "CI=true " } else { "" };
        let command = format!("{environment}{}", self.manager.run(name));
        let because: Vec<&str> = [MANIFEST].into_iter().chain(self.manager.lock_file(self.dir)).collect();
        findings.check(self.dir, purpose, "node", &command, runner, &because);
    }

    fn note_heavy(&self, findings: &mut Findings) {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        let names = scripts.into_iter().flat_map(|scripts| scripts.keys());
        let is_heavy = |name: &&String| HEAVY.iter().any(|word| name.to_ascii_lowercase().contains(word));
        let heavy: Vec<String> =
            names.filter(is_heavy).take(10).map(|name| format!("`{}`", name.escape_debug())).collect();
        if !heavy.is_empty() {
            findings.note(left_out(&self.dir.path(MANIFEST), &heavy.join(", ")));
        }
    }
}

fn no_test(path: &str) -> Text {
    Text::new(
        format!("No test check for {path}: it has no `test` script."),
        format!("{path} に `test` スクリプトがないため、テストのチェックはありません。"),
    )
}

fn not_added(path: &str, name: &str, reason: Unsuitable) -> Text {
    match reason {
        Unsuitable::Watches => Text::new(
            format!("Script `{name}` of {path} was not added: it watches for changes and never ends."),
            format!("{path} の `{name}` スクリプトは変更を監視し続けて終了しないため、追加していません。"),
        ),
        Unsuitable::Rewrites => Text::new(
            format!("Script `{name}` of {path} was not added: it rewrites files."),
            format!("{path} の `{name}` スクリプトはファイルを書き換えるため、追加していません。"),
        ),
    }
}

fn left_out(path: &str, names: &str) -> Text {
    Text::new(
        format!(
            "Scripts of {path} that were not added, because they look slow or need a browser or a server: {names}."
        ),
        format!(
            "{path} の次のスクリプトは、時間がかかるかブラウザやサーバーが必要なため、追加していません: {names}"
        ),
    )
}
