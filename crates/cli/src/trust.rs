//! Asks whether what a repository's files say may be obeyed, before anything of it is run or handed over.
//!
//! What the user typed needs no agreement; configured and detected commands do. What is agreed to is compared in
//! `fixpoint-config`; here it is asked for and stored. Invariant: a [`Consent`] exists only where a person agreed, and no
//! session begins without one.

pub(crate) mod store;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use fixpoint_config::{
    Detected, Loaded, Origin, Setting, TrustChange, TrustDecision, TrustRecord, TrustRequest,
};
use fixpoint_ports::Clock;

use self::store::{StoredTrust, TrustStore};
use self::words::RequestWords;
use crate::app_context::AppContext;
use crate::arguments::SetArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::complain;
use crate::session::WallClock;

/// Shows that a person agreed to everything that a session may execute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Consent(());

impl Consent {
    /// For `init --verify`: the flag says that what is detected is run.
    pub(crate) const fn by_flag() -> Self {
        Self(())
    }

    /// For `resume`: the run was begun with an agreement, and executes only what was recorded then.
    pub(crate) const fn of_recorded_run() -> Self {
        Self(())
    }
}

/// What the files of a project ask for.
#[derive(Debug, Clone)]
pub(crate) struct AskedByProject {
    /// The root of the project; `None` outside of any.
    root: Option<PathBuf>,
    pub(crate) request: TrustRequest,
}

impl AskedByProject {
    /// What its configuration files ask for.
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let canonical = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
        Self {
            root: loaded.project_root.as_ref().map(canonical),
            request: TrustRequest { settings: loaded.of_project.clone(), detected: BTreeMap::new() },
        }
    }

    /// Also what was detected and is going to be used.
    pub(crate) fn with_detected(mut self, detected: &BTreeMap<Detected, String>) -> Self {
        self.request.detected.extend(detected.clone());
        self
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.as_deref().unwrap_or(Path::new("."))
    }

    /// Whether the user has agreed, in this command or before. Nobody is asked.
    pub(crate) fn standing(&self, app: &AppContext) -> Result<Standing, Failure> {
        if app.trusts_all() || self.request.is_empty() {
            let decision =
                if self.request.is_empty() { TrustDecision::NothingAsked } else { TrustDecision::Trusted };
            return Ok(Standing { decision, recorded: None, problem: None });
        }
        let (recorded, problem) = match TrustStore::of(app)?.read(self.root()) {
            StoredTrust::None => (None, None),
            StoredTrust::Agreed(record) => (Some(record), None),
            StoredTrust::Damaged(problem) => (None, Some(problem)),
        };
        let decision = self.request.decide(recorded.as_ref());
        Ok(Standing { decision, recorded, problem })
    }

    /// Fails unless the user agrees or has agreed.
    pub(crate) fn require(&self, app: &AppContext) -> Result<Consent, Failure> {
        let standing = self.standing(app)?;
        let change = match &standing.decision {
            TrustDecision::NothingAsked | TrustDecision::Trusted => return Ok(Consent(())),
            TrustDecision::NotTrusted => None,
            TrustDecision::Changed(change) => Some(change),
        };
        standing.complain_about_damage(app);
        let words = self.words(change, app);
        if !app.is_attended() {
            return Err(Failure::NotTrusted(words.refusal().join("\n")));
        }
        words.question_lines().iter().for_each(|line| complain(line));
        if !is_confirmed(&words.question())? {
            return Err(Failure::NotTrusted(say(
                app.lang,
                "not trusted; nothing was run",
                "信頼されていないため、何も実行していません",
            )));
        }
        self.record(standing.recorded.as_ref(), app)?;
        Ok(Consent(()))
    }

    pub(crate) fn words<'a>(&'a self, change: Option<&'a TrustChange>, app: &AppContext) -> RequestWords<'a> {
        RequestWords { request: &self.request, root: self.root(), change, lang: app.lang }
    }

    /// Stores the agreement to this.
    pub(crate) fn record(&self, earlier: Option<&TrustRecord>, app: &AppContext) -> Result<(), Failure> {
        let repository = self.root().to_string_lossy();
        let record = TrustRecord::new(&self.request, &repository, WallClock.now_ms(), earlier);
        TrustStore::of(app)?.write(self.root(), &record)
    }
}

/// What is known about an agreement.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) decision: TrustDecision,
    pub(crate) recorded: Option<TrustRecord>,
    /// Why the record cannot be used.
    problem: Option<String>,
}

impl Standing {
    pub(crate) fn allows(&self) -> bool {
        matches!(self.decision, TrustDecision::NothingAsked | TrustDecision::Trusted)
    }

    pub(crate) fn complain_about_damage(&self, app: &AppContext) {
        let told = |problem: &String| {
            say(
                app.lang,
                format!("fixpoint: the record that you trusted this repository cannot be used: {problem}"),
                format!("fixpoint: このリポジトリを信頼した記録を使用できません: {problem}"),
            )
        };
        self.problem.iter().for_each(|problem| complain(&told(problem)));
    }
}

/// Writing a configuration with `fixpoint init` is an agreement to what was written, and to nothing else.
pub(crate) fn agree_to_written(file: &Path, app: &AppContext) -> Result<(), Failure> {
    let Ok(loaded) = app.configuration(&SetArguments { sets: Vec::new() }) else { return Ok(()) };
    let mut asked = AskedByProject::of(&loaded);
    let written = file.canonicalize().ok();
    let is_written = |setting: &Setting| match &setting.origin {
        Origin::ProjectFile { path, .. } => path.canonicalize().ok() == written,
        Origin::LocalFile { .. }
        | Origin::Default
        | Origin::UserFile { .. }
        | Origin::Environment { .. }
        | Origin::UserConfigApi
        | Origin::CommandLine { .. } => false,
    };
    asked.request.settings.retain(|_, setting| is_written(setting));
    if asked.request.is_empty() { Ok(()) } else { asked.record(None, app) }
}

/// Asks the person at the terminal. Anything but a yes is a no.
pub(crate) fn is_confirmed(question: &str) -> Result<bool, Failure> {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::NoInput)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes" | "はい"))
}
