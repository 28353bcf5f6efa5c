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

/// Scripts that run the tests, in order of preference. `tests-only` leaves out what `pretest` and `posttest` add, which
/// is linting and audits.
const TESTS: [&str; 6] = ["tests-only", "test", "test:unit", "unit", "test:ci", "test:run"];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists(MANIFEST) {
        return Detected::Nothing;
    }
    let Some(manifest) = dir.json(MANIFEST, findings) else { return Detected::Project };
    let workspace = workspace_of(dir);
    let manager = match &workspace {
        Some((root, root_manifest)) => package_manager::of(root, root_manifest, findings),
        None => package_manager::of(dir, &manifest, findings),
    };
    let project = Project { dir, manifest: &manifest, manager };
    let before = findings.count();
    project.propose_test(findings);
    if let Some(lint) = project.script("lint") {
        project.propose(findings, Purpose::Lint, "lint", lint, script::linter(lint));
    }
    let typecheck = TYPECHECK.iter().find_map(|name| Some((*name, project.script(name)?)));
    if let Some((name, line)) = typecheck {
        project.propose(findings, Purpose::Typecheck, name, line, script::type_checker(line));
    }
    project.skip_heavy(findings);
    // The packages of a member are installed with those of the root, whether the root has checks or not.
    let is_needed = findings.count() > before || dir.repository().is_none();
    if is_needed && workspace.is_none() {
        project.install(findings);
    }
    Detected::Project
}

/// The root of the repository and its manifest, if it installs the packages of this directory too.
fn workspace_of<'a>(dir: &ProjectDirectory<'a>) -> Option<(ProjectDirectory<'a>, Value)> {
    let root = dir.repository()?;
    let mut unread = Findings::default();
    let manifest = root.exists(MANIFEST).then(|| root.json(MANIFEST, &mut unread)).flatten()?;
    let has_own_lock = package_manager::by_lock_file(dir, &mut unread).lock_file(dir).is_some();
    (package_manager::is_workspace(&root, &manifest) && !has_own_lock).then_some((root, manifest))
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

    fn install(&self, findings: &mut Findings) {
        let Some(install) = self.manager.install(self.dir, self.manifest) else { return };
        findings.setup(self.dir, &self.dir.filling(&install, "node_modules"));
        if self.manager.is_brought_by_npm(self.dir) {
            let program = self.manager.program();
            findings.note(brought_by_npm(program));
        }
    }

    fn propose_test(&self, findings: &mut Findings) {
        // What `npm init` writes by default.
        let line = |name: &str| self.script(name).filter(|line| !line.contains("no test specified"));
        let scripts = || TESTS.iter().filter_map(|name| Some((*name, line(name)?)));
        let suitable = scripts().find(|(_, line)| script::unsuitable(line).is_none());
        let Some((name, line)) = suitable.or_else(|| scripts().next()) else {
            findings.skip(self.dir, MANIFEST, no_test());
            return;
        };
        let runner = script::test_runner(line).or_else(|| script::only_runner(self.manifest));
        if name == "tests-only" && self.script("test").is_some() {
            findings.skip(self.dir, &script_of("test"), tests_only());
        }
        self.propose(findings, Purpose::Test, name, line, runner);
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
            findings.skip(self.dir, &script_of(name), not_added(reason));
            return;
        }
        let environment = if script::watches_unless_ci(line) { "CI=true " } else { "" };
        let command = format!("{environment}{}", self.manager.run(self.dir, name));
        let because: Vec<&str> = [MANIFEST].into_iter().chain(self.manager.lock_file(self.dir)).collect();
        findings.check(self.dir, purpose, "node", &command, runner, &because);
    }

    fn skip_heavy(&self, findings: &mut Findings) {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        let names = scripts.into_iter().flat_map(|scripts| scripts.keys());
        let is_heavy = |name: &&String| HEAVY.iter().any(|word| name.to_ascii_lowercase().contains(word));
        let heavy: Vec<String> =
            names.filter(is_heavy).take(10).map(|name| format!("`{}`", name.escape_debug())).collect();
        if !heavy.is_empty() {
            findings.skip(self.dir, &format!("{MANIFEST} {}", heavy.join(", ")), too_heavy());
        }
    }
}

fn script_of(name: &str) -> String {
    format!("{MANIFEST} `{name}`")
}

fn no_test() -> Text {
    Text::new("it has no `test` script", "`test` スクリプトがないため")
}

fn tests_only() -> Text {
    Text::new(
        "`tests-only` runs the same tests without `pretest` and `posttest`",
        "`tests-only` が `pretest` と `posttest` なしで同じテストを実行するため",
    )
}

fn not_added(reason: Unsuitable) -> Text {
    match reason {
        Unsuitable::Watches => {
            Text::new("it watches for changes and never ends", "変更を監視し続けて終了しないため")
        }
        Unsuitable::Rewrites => Text::new("it rewrites files", "ファイルを書き換えるため"),
    }
}

fn too_heavy() -> Text {
    Text::new(
        "the name says that it is slow or needs a browser or a server",
        "名前から、時間がかかるかブラウザやサーバーが必要と判断したため",
    )
}

fn brought_by_npm(program: &str) -> Text {
    Text::new(
        format!(
            "`{program}` is not installed, so `npx` downloads it. With your own {program}, run `fixpoint init --force`."
        ),
        format!(
            "`{program}` がインストールされていないため、`npx` でダウンロードします。{program} をインストールした場合は \
             `fixpoint init --force` を実行してください。"
        ),
    )
}
