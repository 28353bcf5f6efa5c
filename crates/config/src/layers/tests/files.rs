//! What files may contain, and the errors about the rest.

use serde_json::json;

use super::*;

const PROJECT: &str = "project/.fixpoint/config.yaml";

#[test]
fn without_files_the_defaults_apply() {
    let loaded = Fixture::new().load();
    assert_eq!(loaded.settings, fixpoint_vocabulary::settings::Settings::default());
    assert!(loaded.origins.values().all(|setting| setting.origin == Origin::Default));
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(load(&Sources::default()).unwrap().settings, loaded.settings);
}

#[test]
fn empty_files_and_empty_sections_set_nothing() {
    let fixture =
        Fixture::new().user("").project("planning:\nrefinement:\n  noise_threshold:\n").local("# later\n");
    assert_eq!(fixture.load().settings, fixpoint_vocabulary::settings::Settings::default());
    assert!(!fixture.load().is_explicit("planning"));
}

#[test]
fn a_value_remembers_its_file_and_line() {
    let fixture = Fixture::new().project("refinement:\n  noise_threshold: 2\nmax_workers: 5\n");
    let loaded = fixture.load();
    let path = fixture.path(PROJECT);
    let at = |line| Origin::ProjectFile { path: path.clone(), line: Some(line) };
    assert_eq!(loaded.origins["refinement.noise_threshold"], Setting { value: json!(2), origin: at(2) });
    assert_eq!(loaded.origins["max_workers"], Setting { value: json!(5), origin: at(3) });
    assert_eq!(loaded.project_root, Some(fixture.path("project")));
    for (key, explicit) in [
        ("refinement.noise_threshold", true),
        ("refinement", true),
        ("max_workers", true),
        ("refinement.delta_threshold", false),
        ("planning.decomposition_level", false),
        ("max", false),
    ] {
        assert_eq!(loaded.is_explicit(key), explicit, "{key}");
    }
}

#[test]
fn setting_a_default_again_is_explicit() {
    let loaded = Fixture::new().project("planning: {decomposition_level: moderate}").load();
    assert!(loaded.is_explicit("planning.decomposition_level"));
}

/// The mistakes people make, each with the one error it gives.
const MISTAKES: [(&str, &str, &str); 26] = [
    (
        "out of range",
        "refinement:\n  noise_threshold: 11\n",
        ":2:20: refinement.noise_threshold: 11 is out of range: expected a number from 1 to 10",
    ),
    (
        "misspelt key",
        "refinement:\n  noiseTreshold: 2\n",
        ":2:3: refinement.noiseTreshold: unknown key; did you mean `noise_threshold`?",
    ),
    (
        "key in the wrong section",
        "noise_threshold: 2\n",
        ":1:1: noise_threshold: unknown key; did you mean `refinement.noise_threshold`?",
    ),
    (
        "key of two other sections",
        "planning: {max_iterations: 2}\n",
        ":1:12: planning.max_iterations: unknown key; did you mean `convergence.max_iterations` or \
         `replanning.max_iterations`?",
    ),
    (
        "text for a number",
        "max_workers: many\n",
        ":1:14: max_workers: expected an integer, found text \"many\"",
    ),
    (
        "quoted number",
        "max_workers: \"3\"\n",
        ":1:14: max_workers: expected an integer, found text \"3\"; remove the quotes",
    ),
    (
        "huge number",
        "max_workers: 99999999999999999999999\n",
        ":1:14: max_workers: 1e+23 is out of range: expected an integer from 1 to 64",
    ),
    (
        "number that is too large to be one",
        "budget: {usd: 1e999}\n",
        ":1:15: the number \"1e999\" is too large or not finite; quote it if it is text",
    ),
    (
        "yes for true",
        "planning: {enabled: yes}\n",
        ":1:21: planning.enabled: expected true or false, found text \"yes\"",
    ),
    (
        "misspelt choice",
        "sandbox: of\n",
        ":1:10: sandbox.mode: \"of\" is not one of `auto`, `required`, `off`; did you mean `off`?",
    ),
    (
        "text for a list",
        "scope:\n  allowed_paths: src\n",
        ":2:18: scope.allowed_paths: expected a list, found text \"src\"; put it in brackets: [ ]",
    ),
    ("missing key", "checks:\n  - name: test\n", ":2:5: checks[0]: missing field `command`"),
    (
        "command for a check",
        "checks:\n  - cargo test\n",
        ":2:5: checks[0]: expected a map with `command`, `name`, found text \"cargo test\"",
    ),
    (
        "two checks of one name",
        "checks: [{name: a, command: b}, {name: a, command: c}]\n",
        ":1: checks[1].name: another check is called `a`; rename one of them",
    ),
    (
        "baseline of an unknown check",
        "checks: [{name: a, command: b}]\nbaseline: {checks: [b]}\n",
        ":2: baseline.checks: there is no check `b`; `checks` has `a`",
    ),
    (
        "malformed glob of allowed files",
        "scope:\n  allowed_paths: [src, \"src/[a\"]\n",
        ":2: scope.allowed_paths[1]: `src/[a`: the glob has an unclosed or unknown bracket class, or ends in a \
         backslash",
    ),
    (
        "malformed glob of files to copy",
        "workspace: {copy: ['.env\\']}\n",
        ":1: workspace.copy[0]: `.env\\`: the glob has an unclosed or unknown bracket class, or ends in a \
         backslash",
    ),
    (
        "malformed glob of a companion",
        "scope:\n  companions: [{file: a, with: b}, {file: '[[:nope:]]', with: b}]\n",
        ":2: scope.companions[1].file: `[[:nope:]]`: the glob has an unclosed or unknown bracket class, or ends in \
         a backslash",
    ),
    (
        "empty glob of a companion",
        "scope: {companions: [{file: a, with: ' '}]}\n",
        ":1: scope.companions[0].with: ` `: the glob is empty",
    ),
    ("key twice", "a: 1\na: 2\n", ":2:1: the key \"a\" occurs twice; keep one of them"),
    (
        "key in two spellings",
        "max_workers: 1\nmaxWorkers: 2\n",
        ":2:1: max_workers: given twice, as `max_workers` and as `maxWorkers`; keep one of them",
    ),
    (
        "bracket that is not closed",
        "a: [1\n",
        ":2:1: not valid YAML: while parsing a flow sequence, expected ',' or ']'; look at the indentation, quotes and \
         brackets here and in the lines before",
    ),
    (
        "indentation with a tab",
        "planning:\n\tenabled: true\n",
        ":2:1: the line is indented with a tab; YAML allows only spaces",
    ),
    (
        "Windows line ends",
        "max_workers: 2\r\njudge:\r\n  max_samples: 0\r\n",
        ":3:16: judge.max_samples: 0 is out of range: expected an integer from 1 to 20",
    ),
    ("list instead of keys", "- a\n", ":1:1: expected a map, found a list"),
    (
        "tag",
        "a: !!int 1\n",
        ":1:4: tags such as `!!str` are not supported; remove the tag, and quote the value if it is text",
    ),
];

#[test]
fn errors_name_file_line_key_value_and_what_to_do() {
    for (mistake, text, expected) in MISTAKES {
        assert_eq!(Fixture::new().project(text).errors(), [format!("{PROJECT}{expected}")], "{mistake}");
    }
}

#[test]
fn an_endpoint_without_an_address() {
    let fixture = Fixture::new().user("models:\n  endpoints:\n    office: {protocol: openai}\n");
    let expected = "user/config.yaml:3: models.endpoints.office.url: missing; write the address, such as \
                    `http://localhost:8080/v1`";
    assert_eq!(fixture.errors(), [expected]);
}

#[test]
fn a_byte_order_mark_windows_line_ends_and_anchors_are_accepted() {
    let text =
        "\u{feff}max_workers: 2\r\nscope:\r\n  allowed_paths: &paths [src]\r\n  denied_paths: *paths\r\n";
    let fixture = Fixture::new().project(text);
    assert_eq!(fixture.value("max_workers"), (json!(2), Layer::ProjectFile));
    assert_eq!(fixture.value("scope.denied_paths"), (json!(["src"]), Layer::ProjectFile));
}

#[test]
fn all_errors_are_reported_at_once() {
    let fixture = Fixture::new()
        .user("max_workers: 0\nfoo_bar: 1\n")
        .project("a: b: c")
        .local("judge: {max_samples: 99}\n")
        .variable("FIXPOINT_MAX_WORKRES", "1")
        .set("max_workers");
    let errors = fixture.errors();
    let starts = [
        "project/.fixpoint/config.yaml:1:",
        "$FIXPOINT_MAX_WORKRES: ",
        "--set ",
        "user/config.yaml:1:14: ",
        "user/config.yaml:2:1: ",
        "project/.fixpoint/config.local.yaml:1:22: ",
    ];
    assert_eq!(errors.len(), starts.len(), "{errors:#?}");
    for start in starts {
        assert!(errors.iter().any(|error| error.starts_with(start)), "{start} in {errors:#?}");
    }
}

#[test]
fn json_files() {
    let text = "{\n\t\"$schema\": \"x\",\n\t\"planning\": {\"maxSubtasks\": 7.0}\n}";
    let fixture = Fixture::new().file("user/config.json", text);
    assert_eq!(fixture.value("planning.max_subtasks"), (json!(7), Layer::UserFile));
    let wrong = Fixture::new().file("user/config.json", "{\n\t\"maxWorkers\": 99\n}");
    assert_eq!(
        wrong.errors(),
        ["user/config.json:2:16: max_workers: 99 is out of range: expected an integer from 1 to 64"]
    );
    let broken = Fixture::new().file("project/.fixpoint/config.local.json", "{\n\t\"a\": }");
    assert_eq!(broken.errors(), ["project/.fixpoint/config.local.json:2:7: not valid JSON: expected value"]);
    let twice = Fixture::new().file("user/config.json", "{\"a\": 1, \"a\": 2}");
    assert!(
        twice.errors()[0].ends_with("the key \"a\" occurs twice; keep one of them"),
        "{:?}",
        twice.errors()
    );
}

#[test]
fn two_files_of_one_layer_are_refused() {
    let fixture = Fixture::new().user("").file("user/config.json", "{}");
    assert_eq!(fixture.errors(), ["user/config.yaml: user/config.json exists too; keep one of them"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path(PROJECT)).unwrap();
    let errors = fixture.errors();
    assert!(errors[0].starts_with(&format!("{PROJECT}: cannot be read: ")), "{errors:?}");
    let large = Fixture::new().user(&" ".repeat(crate::parse::MAX_TEXT_BYTES + 1));
    assert_eq!(large.errors(), ["user/config.yaml: too large: 1048576 bytes are the limit"]);
}

#[test]
fn credentials_are_refused_and_never_shown() {
    const KEY: &str = "sk-abcdef0123456789abcd";
    let told = |key: &str| {
        format!(
            "{key}this looks like a credential, which settings must not contain; put it into an environment \
             variable and write the name of the variable, as in `api_key_env`"
        )
    };
    let file = Fixture::new().project(&format!("models:\n  planner: {KEY}\n"));
    assert_eq!(file.errors(), [format!("{PROJECT}:2:12: {}", told("models.planner: "))]);
    let variable = Fixture::new().variable("FIXPOINT_MODELS__PLANNER", KEY);
    assert_eq!(variable.errors(), [format!("$FIXPOINT_MODELS__PLANNER: {}", told("models.planner: "))]);
    for fixture in [
        Fixture::new().set(&format!("models.planner={KEY}")),
        Fixture::new().set(&format!("max_workers={KEY}")),
        Fixture::new().set(&format!("sandbox={KEY}")),
        Fixture::new().set(KEY),
        Fixture::new().set(&format!("{KEY}=1")),
        Fixture::new().project(&format!("{KEY}: 1")),
        Fixture::new().project(&format!("workspace: {{setup: ['curl -H \"Authorization: {KEY}\"']}}")),
        Fixture::new().user_config_api(json!({"models": {"endpoints": {"a": {"url": KEY}}}})),
    ] {
        let errors = fixture.errors().join("\n");
        assert!(!errors.contains(KEY) && errors.contains("credential"), "{errors}");
    }
}
