//! What the files of a repository may not say, and what is read of them.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;

const OWN: &str = "cannot set this; move it to your own file, user/config.yaml";

#[test]
fn where_code_and_keys_are_sent_is_decided_by_the_user_alone() {
    for (text, at, key) in [
        ("models:\n  endpoints:\n    a: {url: x}\n", "3:5", "models.endpoints"),
        ("models: {endpoints: {openai: {apiKeyEnv: SECRET}}}", "1:21", "models.endpoints"),
        ("sandbox: off", "1:10", "sandbox"),
        ("userConfigApi: {enabled: true, url: x}", "1:16", "user_config_api"),
    ] {
        let told =
            |file: &str| format!("project/.fixpoint/{file}:{at}: {key}: a file of the repository {OWN}");
        let project = Fixture::new().user("models: {endpoints: {openai: {url: y}}}").project(text);
        assert_eq!(project.errors(), [told("config.yaml")], "{text}");
        let local = Fixture::new().user("models: {endpoints: {openai: {url: y}}}").local(text);
        assert_eq!(local.errors(), [told("config.local.yaml")], "{text}");
        Fixture::new().user("models: {endpoints: {openai: {url: y}}}").load();
    }
    let service = Fixture::new().user_config_api(json!({"models": {"endpoints": {"a": {"url": "x"}}}}));
    assert_eq!(
        service.errors(),
        [format!("user config API: models.endpoints: the user config service {OWN}")]
    );
    let typed = Fixture::new().set("sandbox=off").variable("FIXPOINT_MODELS__ENDPOINTS__A__URL", "x");
    assert_eq!(typed.value("sandbox.mode"), (json!("off"), Layer::CommandLine));
    assert_eq!(typed.value("models.endpoints.a.url"), (json!("x"), Layer::Environment));
}

#[test]
fn what_the_repository_sets_is_known_even_where_it_is_overridden() {
    let fixture = Fixture::new()
        .user("max_workers: 7")
        .project("max_workers: 5\nplanning: {}\nmodels: {planner: openai/x, endpoints: {}}\nscope:\n")
        .local("workspace: {env: []}\nmaxQualityRetries: 3\n")
        .variable("FIXPOINT_MAX_WORKERS", "2");
    let loaded = fixture.load();
    let set: Vec<_> =
        loaded.of_project.iter().map(|(key, setting)| (key.as_str(), setting.value.clone())).collect();
    assert_eq!(
        set,
        [
            ("max_workers", json!(5)),
            ("models.planner", json!("openai/x")),
            ("refinement.max_refinement_attempts", json!(3)),
            ("workspace.env", json!([])),
        ]
    );
    assert_eq!(loaded.settings.max_workers, 2);
    assert!(Fixture::new().user("max_workers: 7").load().of_project.is_empty());
}

#[test]
fn the_files_of_a_project_can_be_ignored() {
    let mut fixture = Fixture::new().user("max_workers: 7").project("max_workers: 5").local("a: b: c");
    fixture.sources.project_files = ProjectFiles::Ignored;
    assert_eq!(fixture.value("max_workers"), (json!(7), Layer::UserFile));
    assert!(fixture.load().of_project.is_empty());
}

#[test]
fn links_in_a_repository_are_not_followed() {
    let expected = |name: &str| {
        format!("{name}: a symbolic link is not followed here; replace it by what it points to, or remove it")
    };
    for name in ["config.yaml", "config.json", "config.local.yaml"] {
        let fixture = Fixture::new().file("elsewhere.yaml", "max_workers: 5");
        symlink(fixture.path("elsewhere.yaml"), fixture.path("project/.fixpoint").join(name)).unwrap();
        assert_eq!(fixture.errors(), [expected(&format!("project/.fixpoint/{name}"))]);
    }
    for target in ["user", "nowhere"] {
        let fixture = Fixture::new().user("max_workers: 5");
        fs::remove_dir(fixture.path("project/.fixpoint")).unwrap();
        symlink(fixture.path(target), fixture.path("project/.fixpoint")).unwrap();
        assert_eq!(fixture.errors(), [expected("project/.fixpoint")], "{target}");
    }
    let users = Fixture::new().file("elsewhere.yaml", "max_workers: 5");
    symlink(users.path("elsewhere.yaml"), users.path("user/config.yaml")).unwrap();
    assert_eq!(users.value("max_workers"), (json!(5), Layer::UserFile));
}

#[test]
fn pipes_and_large_files_in_a_repository_are_refused() {
    let fixture = Fixture::new();
    let path = fixture.path("project/.fixpoint/config.local.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(fixture.errors(), ["project/.fixpoint/config.local.yaml: cannot be read: not a regular file"]);
    let large = Fixture::new().project(&" ".repeat(crate::parse::MAX_TEXT_BYTES + 1));
    assert_eq!(large.errors(), ["project/.fixpoint/config.yaml: too large: 1048576 bytes are the limit"]);
}
