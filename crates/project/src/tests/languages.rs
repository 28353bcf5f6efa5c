//! Every ecosystem with a manifest or two, as a table.

use super::{Case, found, notes};

fn one<'a>(files: &'a [(&'a str, &'a str)], check: &'a [&'a str], setup: &'a [&'a str]) -> Case<'a> {
    Case { files, checks: check, setup, notes: &[] }
}

#[test]
fn rust() {
    one(&[("Cargo.toml", "[package]\nname = 'a'")], &["test: cargo test (cargo_test) Cargo.toml"], &[])
        .assert_detected();
    one(
        &[("Cargo.toml", "[workspace]\nmembers = ['a']"), ("a/Cargo.toml", "[package]")],
        &["test: cargo test --workspace (cargo_test) Cargo.toml"],
        &[],
    )
    .with_notes(&["a/: the checks of the root directory usually include it"])
    .assert_detected();
    one(
        &[("Cargo.toml", "[workspace]"), (".config/nextest.toml", "")],
        &["test: cargo nextest run --workspace (nextest) Cargo.toml, .config/nextest.toml"],
        &[],
    )
    .assert_detected();
    // The word in a comment or a text is no section.
    one(
        &[("Cargo.toml", "# [workspace]\n[package]\ndescription = '''\n[workspace]\n'''")],
        &["test: cargo test (cargo_test) Cargo.toml"],
        &[],
    )
    .assert_detected();
}

#[test]
fn go_and_elixir() {
    one(&[("go.mod", "module a")], &["test: go test ./... (go_test) go.mod"], &[]).assert_detected();
    one(
        &[("mix.exs", "defmodule A do end")],
        &["test: mix test (auto) mix.exs"],
        &["mix local.hex --force --if-missing", "mix deps.get"],
    )
    .assert_detected();
}

#[test]
fn maven_and_gradle() {
    one(&[("pom.xml", "<project/>")], &["test: mvn -B -q test (auto) pom.xml"], &[]).assert_detected();
    one(
        &[("pom.xml", "<project/>"), ("mvnw", "#!/bin/sh")],
        &["test: ./mvnw -B -q test (auto) pom.xml, mvnw"],
        &[],
    )
    .assert_detected();
    one(&[("build.gradle", "")], &["test: gradle test (auto) build.gradle"], &[]).assert_detected();
    one(
        &[("build.gradle.kts", ""), ("gradlew", "#!/bin/sh")],
        &["test: ./gradlew test (auto) build.gradle.kts, gradlew"],
        &[],
    )
    .assert_detected();
}

#[test]
fn dotnet() {
    one(
        &[("My App.sln", ""), ("App.csproj", "<Project/>")],
        &["test: dotnet test 'My App.sln' (auto) My App.sln"],
        &["dotnet restore 'My App.sln'"],
    )
    .assert_detected();
    Case {
        files: &[("A.csproj", ""), ("B.csproj", "")],
        checks: &["test: dotnet test A.csproj (auto) A.csproj"],
        setup: &["dotnet restore A.csproj"],
        notes: &["B.csproj: of several solutions or project files, only A.csproj is tested"],
    }
    .assert_detected();
}

#[test]
fn ruby() {
    one(
        &[("Gemfile", "source 'x'\n  gem 'rspec-rails'\n"), ("Gemfile.lock", "")],
        &["test: bundle exec rspec (auto) Gemfile"],
        &["BUNDLE_FROZEN=true bundle install"],
    )
    .assert_detected();
    one(
        &[("Gemfile", "gem(\"rake\")"), ("Rakefile", "Rake::TestTask.new(:test)")],
        &["test: bundle exec rake test (auto) Rakefile"],
        &["bundle install"],
    )
    .assert_detected();
    one(&[("Rakefile", "task :test do\nend")], &["test: rake test (auto) Rakefile"], &[]).assert_detected();
    one(
        &[("Gemfile", "gem 'rails'"), ("bin/rails", ""), ("test/a_test.rb", "")],
        &["test: bin/rails test (auto) bin/rails"],
        &["bundle install"],
    )
    .assert_detected();
    let rspec = &["test: bundle exec rspec (auto) .rspec"];
    one(&[("Gemfile", "gemspec"), (".rspec", ""), ("a.gemspec", "")], rspec, &["bundle install"])
        .assert_detected();
    one(
        &[("Rakefile", ""), ("test/test_a.rb", "")],
        &["test: ruby -Ilib -Itest -e 'Dir[\"test/**/{test_*,*_test}.rb\"].sort.each { |f| require \"./#{f}\" }' (auto) test/test_a.rb"],
        &[],
    )
    .assert_detected();
    Case {
        files: &[("Rakefile", "# task :test\ntask :test_all do\nend")],
        checks: &[],
        setup: &[],
        notes: &["Rakefile: neither RSpec", "No checks found."],
    }
    .assert_detected();
}

#[test]
fn php() {
    let install = &["composer install --no-interaction"];
    one(
        &[(
            "composer.json",
            r#"{"scripts": {"test": ["@phpunit"]}, "require-dev": {"phpunit/phpunit": "^11"}}"#,
        )],
        &["test: composer test (auto) composer.json"],
        install,
    )
    .assert_detected();
    one(
        &[("composer.json", r#"{"require-dev": {"phpunit/phpunit": "^11"}}"#), ("phpunit.xml.dist", "")],
        &["test: vendor/bin/phpunit (auto) phpunit.xml.dist"],
        install,
    )
    .assert_detected();
    one(
        &[("composer.json", r#"{"require-dev": {"pestphp/pest": "^2", "phpunit/phpunit": "^11"}}"#)],
        &["test: vendor/bin/pest (auto) composer.json"],
        install,
    )
    .assert_detected();
    one(&[("phpunit.xml", "")], &["test: phpunit (auto) phpunit.xml"], &[]).assert_detected();
    Case {
        files: &[("composer.json", "{}")],
        checks: &[],
        setup: install,
        notes: &["composer.json: it has no `test` script", "No checks found."],
    }
    .assert_detected();
}

#[test]
fn deno() {
    one(&[("deno.json", "{}")], &["test: deno test (auto) deno.json"], &[]).assert_detected();
    one(
        &[("deno.json", r#"{"tasks": {"test": "deno test -A"}}"#)],
        &["test: deno task test (auto) deno.json"],
        &[],
    )
    .assert_detected();
    one(&[("deno.jsonc", "// a comment\n{}")], &["test: deno test (auto) deno.jsonc"], &[]).assert_detected();
}

#[test]
fn make_is_the_last_resort() {
    let makefile = ("Makefile", "test: build\n\t./run");
    one(&[makefile], &["test: make test (auto) Makefile"], &[]).assert_detected();
    Case {
        files: &[makefile, ("go.mod", "module a")],
        checks: &["test: go test ./... (go_test) go.mod"],
        setup: &[],
        notes: &["Makefile `test`: it may run the same tests"],
    }
    .assert_detected();
    Case { files: &[("Makefile", "all:\n\tcc a.c")], checks: &[], setup: &[], notes: &["No checks found."] }
        .assert_detected();
}

#[test]
fn cmake_is_noted() {
    Case {
        files: &[("CMakeLists.txt", "project(a)\nenable_testing()\n")],
        checks: &[],
        setup: &[],
        notes: &["CMakeLists.txt defines tests.", "No checks found."],
    }
    .assert_detected();
}

#[test]
fn nothing_known_says_what_to_do() {
    let found = found(&[("README.md", "# A project")]);
    assert!(found.checks.is_empty() && found.setup.is_empty() && found.copy.is_empty());
    assert_eq!(notes(&found).len(), 1);
    assert!(notes(&found)[0].contains(".fixpoint/config.yaml"), "{:?}", found.notes);
}
