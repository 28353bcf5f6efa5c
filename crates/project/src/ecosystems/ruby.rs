//! Ruby: RSpec by the Gemfile, else a `test` task of the Rakefile.

use fixpoint_vocabulary::Text;

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let has_gemfile = place.exists("Gemfile");
    if !has_gemfile && !place.exists("Rakefile") {
        return Seen::Nothing;
    }
    if has_gemfile {
        // A frozen bundle never rewrites the lock file, which would look like a change of the agent's.
        let frozen = if place.exists("Gemfile.lock") { "BUNDLE_FROZEN=true " } else { "" };
        gathering.setup(place, &format!("{frozen}bundle install"));
    }
    match test_command(place, gathering) {
        Some((command, because)) => gathering.check(
            place,
            Proposal {
                purpose: Purpose::Test,
                ecosystem: "ruby",
                command,
                runner: None,
                because: vec![because],
            },
        ),
        None => gathering.note(no_tests(&place.path(if has_gemfile { "Gemfile" } else { "Rakefile" }))),
    }
    Seen::Project
}

fn test_command(place: &Place<'_>, gathering: &mut Gathering) -> Option<(String, String)> {
    let gemfile = place.exists("Gemfile").then(|| place.text("Gemfile", gathering)).flatten();
    if gemfile.as_deref().is_some_and(requires_rspec) {
        return Some(("bundle exec rspec".to_string(), "Gemfile".to_string()));
    }
    if place.exists("bin/rails") && place.exists("test") {
        return Some(("bin/rails test".to_string(), "bin/rails".to_string()));
    }
    if !place.exists("Rakefile") || !has_test_task(&place.text("Rakefile", gathering)?) {
        return None;
    }
    let command = if gemfile.is_some() { "bundle exec rake test" } else { "rake test" };
    Some((command.to_string(), "Rakefile".to_string()))
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
        format!(
            "{path} is there, but neither RSpec nor a `test` task of a Rakefile: no check was concluded."
        ),
        format!(
            "{path} がありますが、RSpec も Rakefile の `test` タスクもないため、チェックは見つかりませんでした。"
        ),
    )
}
