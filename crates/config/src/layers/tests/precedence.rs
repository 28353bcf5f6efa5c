//! Which layer wins.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Every layer but the built-in one, weakest first.
const LAYERS: [Layer; 6] = [
    Layer::UserFile,
    Layer::ProjectFile,
    Layer::LocalFile,
    Layer::Environment,
    Layer::UserConfigApi,
    Layer::CommandLine,
];

/// The fixture with one more key of the section `refinement`, in one layer.
fn set_in(fixture: Fixture, layer: Layer, key: &str, value: u32) -> Fixture {
    let text = format!("refinement: {{{key}: {value}}}\n");
    match layer {
        Layer::Default => fixture,
        Layer::UserFile => fixture.user(&text),
        Layer::ProjectFile => fixture.project(&text),
        Layer::LocalFile => fixture.local(&text),
        Layer::Environment => {
            fixture.variable(&format!("FIXPOINT_REFINEMENT__{}", key.to_uppercase()), &value.to_string())
        }
        Layer::UserConfigApi => fixture.user_config_api(json!({"refinement": {key: value}})),
        Layer::CommandLine => fixture.set(&format!("refinement.{key}={value}")),
    }
}

const NEW: &str = "max_refinement_attempts";
const OLD: &str = "max_quality_retries";
const PATH: &str = "refinement.max_refinement_attempts";

#[test]
fn of_any_two_layers_the_stronger_wins() {
    for (index, weaker) in LAYERS.into_iter().enumerate() {
        for stronger in LAYERS.into_iter().skip(index + 1) {
            let fixture = set_in(set_in(Fixture::new(), stronger, NEW, 5), weaker, NEW, 4);
            assert_eq!(fixture.value(PATH), (json!(5), stronger), "{stronger:?} over {weaker:?}");
        }
    }
}

#[test]
fn of_a_new_and_an_old_name_the_new_one_wins_in_any_layers() {
    for new in LAYERS {
        for old in LAYERS.into_iter().filter(|old| *old != new) {
            let fixture = set_in(set_in(Fixture::new(), old, OLD, 4), new, NEW, 5);
            assert_eq!(fixture.value(PATH), (json!(5), new), "new in {new:?}, old in {old:?}");
        }
        let alone = set_in(Fixture::new(), new, OLD, 4);
        assert_eq!(alone.value(PATH), (json!(4), new), "old in {new:?} alone");
        assert!(alone.load().is_explicit(PATH));
    }
}

#[test]
fn of_two_old_names_the_stronger_layer_wins() {
    let fixture = set_in(set_in(Fixture::new(), Layer::UserFile, OLD, 4), Layer::LocalFile, OLD, 6);
    assert_eq!(fixture.value(PATH), (json!(6), Layer::LocalFile));
}

#[test]
fn an_old_name_is_accepted_in_its_old_sections() {
    for text in [
        "maxQualityRetries: 7",
        "max_quality_retries: 7",
        "planning: {maxQualityRetries: 7}",
        "refinement: {max_quality_retries: 7}",
    ] {
        assert_eq!(Fixture::new().project(text).value(PATH), (json!(7), Layer::ProjectFile), "{text}");
        let both = Fixture::new()
            .project(&format!("{text}\njudge: {{max_samples: 2}}"))
            .user("refinement: {maxRefinementAttempts: 1}");
        assert_eq!(both.value(PATH), (json!(1), Layer::UserFile), "{text}");
    }
    assert_eq!(Fixture::new().set("maxQualityRetries=7").value(PATH), (json!(7), Layer::CommandLine));
    assert_eq!(
        Fixture::new().variable("FIXPOINT_MAX_QUALITY_RETRIES", "7").value(PATH),
        (json!(7), Layer::Environment)
    );
    assert_eq!(
        Fixture::new().project("\nmaxQualityRetries: 70").errors(),
        ["project/.fixpoint/config.yaml:2:20: refinement.max_quality_retries: 70 is out of range: \
             expected an integer from 0 to 10"]
    );
}

#[test]
fn lists_replace_and_maps_merge() {
    let fixture = Fixture::new()
        .user("scope: {allowed_paths: [a, b]}\nmodels: {prices: {one: {per_attempt: 1}, two: {per_attempt: 2}}}\n")
        .project("scope: {allowed_paths: [c]}\nmodels: {prices: {two: {input_per_million: 3}}}\n")
        .local("workspace: {env: []}\n");
    assert_eq!(fixture.value("scope.allowed_paths"), (json!(["c"]), Layer::ProjectFile));
    assert_eq!(fixture.value("models.prices.one.per_attempt"), (json!(1), Layer::UserFile));
    assert_eq!(fixture.value("models.prices.two.per_attempt"), (json!(2), Layer::UserFile));
    assert_eq!(fixture.value("models.prices.two.input_per_million"), (json!(3), Layer::ProjectFile));
    assert_eq!(fixture.value("workspace.env"), (json!([]), Layer::LocalFile));
}

#[test]
fn null_removes_a_limit() {
    let fixture = Fixture::new().user("budget: {tokens: 5}").project("budget: {tokens: null}");
    assert_eq!(fixture.value("budget.tokens"), (json!(null), Layer::ProjectFile));
}

#[test]
fn warnings_are_not_errors() {
    let loaded = Fixture::new().set("refinement.noise_threshold=5").load();
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Catches: any two layers in the wrong order, or one that is not read when another is there.
    #[test]
    fn the_strongest_layer_that_sets_a_key_wins(
        values in prop::collection::vec(prop::option::of(0u32..=10), 6),
    ) {
        let set: Vec<_> =
            LAYERS.into_iter().zip(values).filter_map(|(layer, value)| Some((layer, value?))).collect();
        let fixture = set
            .iter()
            .fold(Fixture::new(), |fixture, (layer, value)| set_in(fixture, *layer, NEW, *value));
        let expected =
            set.last().map_or((json!(2), Layer::Default), |(layer, value)| (json!(value), *layer));
        prop_assert_eq!(fixture.value(PATH), expected);
    }
}
