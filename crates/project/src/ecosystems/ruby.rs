//! Ruby: RSpec, else a `test` task of the Rakefile, else the files in `test`.

use fixpoint_vocabulary::Text;

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let has_gemfile = dir.exists("Gemfile");
    if !has_gemfile && !dir.exists("Rakefile") {
        return Detected::Nothing;
    }
    if has_gemfile {
        // A frozen bundle never rewrites the lock file, which would look like a change by the agent.
        let frozen = if dir.exists("Gemfile.lock") { "BUNDLE_FROZEN=true " } else { "" };
        findings.setup(dir, &format!("{frozen}bundle install"));
    }
    match test_command(dir, findings) {
        Some((command, because)) => findings.test(dir, "ruby", &command, None, &[&because]),
        None => findings.skip(dir, if has_gemfile { "Gemfile" } else { "Rakefile" }, no_tests()),
    }
    Detected::Project
}

fn test_command(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Option<(String, String)> {
    let gemfile = dir.optional_text("Gemfile", findings);
    let in_bundle = if gemfile.is_some() { "bundle exec " } else { "" };
    if gemfile.as_deref().is_some_and(requires_rspec) {
        return Some((format!("{in_bundle}rspec"), "Gemfile".to_string()));
    }
    if dir.exists("bin/rails") && dir.exists("test") {
        return Some(("bin/rails test".to_string(), "bin/rails".to_string()));
    }
    if let Some(shown) = dir.first(&[".rspec", "spec/spec_helper.rb"]) {
        return Some((format!("{in_bundle}rspec"), shown.to_string()));
    }
    if dir.optional_text("Rakefile", findings).is_some_and(|text| has_test_task(&text)) {
        return Some((format!("{in_bundle}rake test"), "Rakefile".to_string()));
    }
    let is_test = |name: &String| {
        let is_named = name.starts_with("test_") || name.ends_with("_test.rb");
        name.ends_with(".rb") && is_named && !name.chars().any(char::is_control)
    };
    let test = dir.names_in("test").into_iter().find(is_test)?;
    let command =
        "ruby -Ilib -Itest -e 'Dir[\"test/**/{test_*,*_test}.rb\"].sort.each { |f| require \"./#{f}\" }'";
    Some((format!("{in_bundle}{command}"), format!("test/{test}")))
}

/// `gem "rspec"`, `gem 'rspec-rails'` and the like.
fn requires_rspec(gemfile: &str) -> bool {
    gemfile
        .lines()
        .map(str::trim_start)
        .filter_map(|line| line.strip_prefix("gem"))
        .any(|rest| rest.trim_start_matches([' ', '(']).trim_start_matches(['"', '\'']).starts_with("rspec"))
}

fn has_test_task(rakefile: &str) -> bool {
    let lines = rakefile.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines.into_iter().any(|line| {
        let task = line.strip_prefix("task").map(|rest| rest.trim_start_matches([' ', '(', ':', '"', '\'']));
        line.contains("Rake::TestTask") || task.is_some_and(is_test)
    })
}

/// Whether the name that begins here is `test`, and not `test_something`.
fn is_test(rest: &str) -> bool {
    rest.strip_prefix("test")
        .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')))
}

fn no_tests() -> Text {
    Text::new(
        "neither RSpec, nor a `test` task, nor tests in `test` were found",
        "RSpec も `test` タスクも `test` 内のテストも見つからないため",
    )
}
