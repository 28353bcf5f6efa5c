//! Ruby: RSpec by the Gemfile, else a `test` task of the Rakefile.

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
        Some((command, because)) => findings.test(dir, "ruby", command, None, &[because]),
        None => findings.note(no_tests(&dir.path(if has_gemfile { "Gemfile" } else { "Rakefile" }))),
    }
    Detected::Project
}

fn test_command(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Option<(&'static str, &'static str)> {
    let gemfile = dir.exists("Gemfile").then(|| dir.text("Gemfile", findings)).flatten();
    if gemfile.as_deref().is_some_and(requires_rspec) {
        return Some(("bundle exec rspec", "Gemfile"));
    }
    if dir.exists("bin/rails") && dir.exists("test") {
        return Some(("bin/rails test", "bin/rails"));
    }
    if !dir.exists("Rakefile") || !has_test_task(&dir.text("Rakefile", findings)?) {
        return None;
    }
    Some((if gemfile.is_some() { "bundle exec rake test" } else { "rake test" }, "Rakefile"))
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

fn no_tests(path: &str) -> Text {
    Text::new(
        format!("No check for {path}: neither RSpec nor a `test` task in a Rakefile was found."),
        format!("{path} がありますが、RSpec も Rakefile の `test` タスクもないため、チェックはありません。"),
    )
}
