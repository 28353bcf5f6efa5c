//! What a repository's own files ask for, and whether a person has agreed to exactly that.
//!
//! Pure: records are read and written by the caller. Invariant: settings are compared by the hash of their values, so that
//! no two different requests count as the same; detected commands are compared one by one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layers::Setting;

/// Increased if older records can no longer be compared.
const VERSION: u32 = 1;

/// What a command would obey, run or hand over because files of the repository say so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrustRequest {
    /// Every setting of the repository's configuration files, by its path.
    pub settings: BTreeMap<String, Setting>,
    /// What was detected and is going to be used, with the file that led to each, if that is known.
    pub detected: BTreeMap<Detected, String>,
}

/// Something that Fixpoint would do because of the files of a project, without any configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Detected {
    pub kind: DetectedKind,
    /// The command, or the files to copy.
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetectedKind {
    Check,
    Setup,
    Copy,
}

/// What a person agreed to, for one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRecord {
    version: u32,
    /// The root of the project, as text.
    pub repository: String,
    /// Milliseconds since 1970.
    pub at: u64,
    settings: BTreeMap<String, Value>,
    detected: BTreeSet<Detected>,
    /// Hash of everything above.
    digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustDecision {
    /// Nothing comes from the repository, so there is nothing to agree to.
    NothingAsked,
    Trusted,
    /// No agreement is recorded.
    NotTrusted,
    /// Something else was agreed to.
    Changed(TrustChange),
}

/// How a request differs from what was agreed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustChange {
    pub added: Vec<TrustItem>,
    pub removed: Vec<TrustItem>,
}

/// One thing that is asked for, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TrustItem {
    pub kind: TrustKind,
    pub text: String,
}

/// In the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustKind {
    /// A command that is run.
    Check,
    /// A command that is run before checks and agents.
    Setup,
    /// A setting of the agent.
    Agent,
    /// Variables that agents and checks get.
    Environment,
    /// Ignored files that agents and checks get.
    Copy,
    /// The name of a model that is asked.
    Model,
    /// Any other setting.
    Setting,
}

/// An item, and which file asks for it; empty if it was detected from several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestedItem {
    #[serde(flatten)]
    pub item: TrustItem,
    pub from: String,
}

impl TrustRequest {
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.detected.is_empty()
    }

    /// Everything that is asked for, sorted.
    pub fn items(&self) -> Vec<RequestedItem> {
        let of_setting = |(key, setting): (&String, &Setting)| {
            let from = setting.origin.to_string();
            items_of(key, &setting.value)
                .into_iter()
                .map(move |item| RequestedItem { item, from: from.clone() })
                .collect::<Vec<_>>()
        };
        let of_detected = |(detected, because): (&Detected, &String)| RequestedItem {
            item: TrustItem::from(detected),
            from: because.clone(),
        };
        let detected = self.detected.iter().map(of_detected);
        let mut items: Vec<RequestedItem> =
            self.settings.iter().flat_map(of_setting).chain(detected).collect();
        items.sort();
        items
    }

    /// Whether what is recorded for the repository covers this request.
    pub fn decide(&self, recorded: Option<&TrustRecord>) -> TrustDecision {
        if self.is_empty() {
            return TrustDecision::NothingAsked;
        }
        let Some(recorded) = recorded else { return TrustDecision::NotTrusted };
        let values = values(&self.settings);
        let is_same = values.is_empty() || digest(&values) == digest(&recorded.settings);
        if is_same && self.detected.keys().all(|detected| recorded.detected.contains(detected)) {
            return TrustDecision::Trusted;
        }
        let before: BTreeSet<TrustItem> = recorded.items().into_iter().collect();
        let now: BTreeSet<TrustItem> = self.items().into_iter().map(|requested| requested.item).collect();
        // What was detected before and is not used now is no change.
        let kept: BTreeSet<TrustItem> = recorded.detected.iter().map(TrustItem::from).collect();
        TrustDecision::Changed(TrustChange {
            added: now.difference(&before).cloned().collect(),
            removed: before.difference(&now).filter(|item| !kept.contains(item)).cloned().collect(),
        })
    }
}

impl TrustRecord {
    /// The agreement to a request. What was detected and agreed to before stays agreed to.
    pub fn new(request: &TrustRequest, repository: &str, at: u64, earlier: Option<&Self>) -> Self {
        let earlier = earlier.into_iter().flat_map(|earlier| earlier.detected.iter().cloned());
        let mut record = Self {
            version: VERSION,
            repository: repository.to_owned(),
            at,
            settings: values(&request.settings),
            detected: request.detected.keys().cloned().chain(earlier).collect(),
            digest: String::new(),
        };
        record.digest = record.own_digest();
        record
    }

    /// Whether it is as it was written: damage must not look like an agreement to something else.
    pub fn is_intact(&self) -> bool {
        self.version == VERSION && self.digest == self.own_digest()
    }

    /// Everything that was agreed to, sorted.
    pub fn items(&self) -> Vec<TrustItem> {
        let settings = self.settings.iter().flat_map(|(key, value)| items_of(key, value));
        let mut items: Vec<TrustItem> = settings.chain(self.detected.iter().map(TrustItem::from)).collect();
        items.sort();
        items
    }

    fn own_digest(&self) -> String {
        digest(&(self.version, &self.repository, self.at, &self.settings, &self.detected))
    }
}

impl From<&Detected> for TrustItem {
    fn from(detected: &Detected) -> Self {
        let kind = match detected.kind {
            DetectedKind::Check => TrustKind::Check,
            DetectedKind::Setup => TrustKind::Setup,
            DetectedKind::Copy => TrustKind::Copy,
        };
        Self { kind, text: detected.what.clone() }
    }
}

fn values(settings: &BTreeMap<String, Setting>) -> BTreeMap<String, Value> {
    settings.iter().map(|(key, setting)| (key.clone(), setting.value.clone())).collect()
}

fn digest(content: &impl Serialize) -> String {
    // Maps with text as keys and plain values can always be written; two errors would still be two equal errors, so
    // an error gets a hash that no content has.
    match serde_json::to_vec(content) {
        Ok(bytes) => blake3::hash(&bytes).to_hex().to_string(),
        Err(error) => format!("not hashed: {error}"),
    }
}

/// The items of one setting. Lists are shown item by item.
fn items_of(key: &str, value: &Value) -> Vec<TrustItem> {
    let kind = match key {
        "checks" => TrustKind::Check,
        "workspace.setup" => TrustKind::Setup,
        "workspace.env" => TrustKind::Environment,
        "workspace.copy" => TrustKind::Copy,
        "models.planner" | "models.judge" | "models.reflector" => TrustKind::Model,
        other if other.starts_with("agent.") => TrustKind::Agent,
        _ => TrustKind::Setting,
    };
    let is_listed =
        matches!(kind, TrustKind::Check | TrustKind::Setup | TrustKind::Environment | TrustKind::Copy);
    match value {
        Value::Array(entries) if is_listed && !entries.is_empty() => {
            entries.iter().map(|entry| TrustItem { kind, text: entry_text(entry) }).collect()
        }
        // An empty list replaces that of the user.
        Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_) => {
            let kind = if is_listed { TrustKind::Setting } else { kind };
            vec![TrustItem { kind, text: format!("{key}: {}", plain(value)) }]
        }
    }
}

/// A check begins with its command; the rest of it follows in brackets.
fn entry_text(entry: &Value) -> String {
    let Value::Object(fields) = entry else { return plain(entry) };
    let command = fields.get("command").map(plain).unwrap_or_default();
    let others = fields.iter().filter(|(name, _)| *name != "command");
    let others: Vec<String> = others.map(|(name, value)| format!("{name}: {}", plain(value))).collect();
    if others.is_empty() { command } else { format!("{command}  ({})", others.join(", ")) }
}

/// Text without quotes, everything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::layers::Origin;

    const REPOSITORY: &str = "/home/me/project";

    fn request(settings: Value, checks: &[&str]) -> TrustRequest {
        let Value::Object(settings) = settings else { panic!("{settings}") };
        let origin = Origin::ProjectFile { path: "c.yaml".into(), line: Some(3) };
        let settings = settings.into_iter();
        let detected = checks.iter().map(|command| {
            (Detected { kind: DetectedKind::Check, what: (*command).to_owned() }, "package.json".to_owned())
        });
        TrustRequest {
            settings: settings.map(|(key, value)| (key, Setting { value, origin: origin.clone() })).collect(),
            detected: detected.collect(),
        }
    }

    fn record(request: &TrustRequest) -> TrustRecord {
        TrustRecord::new(request, REPOSITORY, 1, None)
    }

    fn item(kind: TrustKind, text: &str) -> TrustItem {
        TrustItem { kind, text: text.to_owned() }
    }

    #[test]
    fn what_needs_an_agreement() {
        let (setup, none) = (json!({"workspace.setup": ["make deps"]}), json!({}));
        let agreed = record(&request(setup.clone(), &["npm test"]));
        let changed = |added: &[TrustItem], removed: &[TrustItem]| {
            TrustDecision::Changed(TrustChange { added: added.to_vec(), removed: removed.to_vec() })
        };
        let deps = item(TrustKind::Setup, "make deps");
        for (row, asked, expected) in [
            ("nothing", request(none.clone(), &[]), TrustDecision::NothingAsked),
            ("the same", request(setup.clone(), &["npm test"]), TrustDecision::Trusted),
            ("without what was detected", request(setup.clone(), &[]), TrustDecision::Trusted),
            ("without settings", request(none.clone(), &["npm test"]), TrustDecision::Trusted),
            (
                "another detected check",
                request(setup, &["make test"]),
                changed(&[item(TrustKind::Check, "make test")], &[]),
            ),
            (
                "one setting more",
                request(json!({"workspace.setup": ["make deps"], "max_workers": 9}), &[]),
                changed(&[item(TrustKind::Setting, "max_workers: 9")], &[]),
            ),
            (
                "another value",
                request(json!({"workspace.setup": ["curl evil"]}), &[]),
                changed(&[item(TrustKind::Setup, "curl evil")], std::slice::from_ref(&deps)),
            ),
            (
                "one setting less",
                request(json!({"max_workers": 9}), &[]),
                changed(&[item(TrustKind::Setting, "max_workers: 9")], &[deps]),
            ),
        ] {
            assert_eq!(asked.decide(Some(&agreed)), expected, "{row}");
            let without = asked.decide(None);
            let expected =
                if asked.is_empty() { TrustDecision::NothingAsked } else { TrustDecision::NotTrusted };
            assert_eq!(without, expected, "{row}");
        }
    }

    #[test]
    fn everything_that_is_asked_for_is_shown() {
        let asked = request(
            json!({
                "checks": [{"name": "test", "command": "make test", "kind": "goal"}],
                "workspace.setup": ["npm ci"], "workspace.env": ["AWS_*"], "workspace.copy": [],
                "agent.command": ["sh", "-c", "x"], "models.planner": "openai/x", "max_workers": 2,
            }),
            &["npm test"],
        );
        let shown: Vec<(TrustKind, String, String)> = asked
            .items()
            .into_iter()
            .map(|requested| (requested.item.kind, requested.item.text, requested.from))
            .collect();
        let file = |kind, text: &str| (kind, text.to_owned(), "c.yaml:3".to_owned());
        assert_eq!(
            shown,
            [
                file(TrustKind::Check, "make test  (kind: goal, name: test)"),
                (TrustKind::Check, "npm test".to_owned(), "package.json".to_owned()),
                file(TrustKind::Setup, "npm ci"),
                file(TrustKind::Agent, "agent.command: [\"sh\",\"-c\",\"x\"]"),
                file(TrustKind::Environment, "AWS_*"),
                file(TrustKind::Model, "models.planner: openai/x"),
                file(TrustKind::Setting, "max_workers: 2"),
                file(TrustKind::Setting, "workspace.copy: []"),
            ]
        );
        let recorded: Vec<TrustItem> = asked.items().into_iter().map(|requested| requested.item).collect();
        assert_eq!(record(&asked).items(), recorded);
    }

    #[test]
    fn requests_that_look_the_same_are_not_the_same() {
        let one = request(json!({"checks": [{"name": "a", "command": "x  (kind: goal)"}]}), &[]);
        let other = request(json!({"checks": [{"name": "a", "command": "x", "kind": "goal"}]}), &[]);
        assert!(matches!(one.decide(Some(&record(&other))), TrustDecision::Changed(_)));
    }

    #[test]
    fn a_later_agreement_keeps_what_was_detected() {
        let first = record(&request(json!({}), &["npm test"]));
        let second = TrustRecord::new(&request(json!({"max_workers": 2}), &[]), REPOSITORY, 2, Some(&first));
        assert_eq!(
            request(json!({"max_workers": 2}), &["npm test"]).decide(Some(&second)),
            TrustDecision::Trusted
        );
    }

    #[test]
    fn a_changed_record_is_not_intact() {
        let written =
            serde_json::to_value(record(&request(json!({"max_workers": 2}), &["npm test"]))).unwrap();
        let read = |value: Value| serde_json::from_value::<TrustRecord>(value).unwrap();
        assert!(read(written.clone()).is_intact());
        for (field, value) in [
            ("version", json!(2)),
            ("repository", json!("/elsewhere")),
            ("at", json!(2)),
            ("settings", json!({"max_workers": 3})),
            ("detected", json!([])),
            ("digest", json!("0")),
        ] {
            let mut changed = written.clone();
            changed[field] = value;
            assert!(!read(changed).is_intact(), "{field}");
        }
    }

    fn settings() -> impl Strategy<Value = Value> {
        let keys = prop::sample::select(vec!["checks", "workspace.setup", "agent.model", "max_workers"]);
        let values = prop_oneof![
            any::<u8>().prop_map(Value::from),
            "[ab() ]{0,3}".prop_map(Value::from),
            prop::collection::vec("[ab]{0,2}", 0..3).prop_map(Value::from),
        ];
        prop::collection::btree_map(keys, values, 0..4).prop_map(|map| json!(map))
    }

    proptest! {
        /// Catches: comparing items instead of hashes, or leaving out a key or a value.
        #[test]
        fn only_what_was_agreed_to_is_trusted(agreed in settings(), asked in settings()) {
            let decision = request(asked.clone(), &[]).decide(Some(&record(&request(agreed.clone(), &[]))));
            let is_allowed = matches!(decision, TrustDecision::Trusted | TrustDecision::NothingAsked);
            prop_assert_eq!(is_allowed, agreed == asked || asked == json!({}));
        }
    }
}
