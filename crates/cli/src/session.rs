//! One run under way: everything it needs put together, driven to its end, and told.
//!
//! The only place that names the concrete adapters. Invariant: when this returns, nothing that was started is running.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixpoint_agents::{Agent, GenericAgent};
use fixpoint_consult::{ModelsByRole, Person, PlanCache, QuestionHandler};
use fixpoint_decide::run::{Judging, RunOrder, TaskSource};
use fixpoint_engine::{Desk, Ending, Engine, EngineError, FORMAT, Opening, Record, Recorded, Return};
use fixpoint_execute::{Duty, LocalExecutor, Places, Tools, agent_of, agent_words};
use fixpoint_journal::{Cut, FileJournal, OpenMode};
use fixpoint_ports::{Blobs, Clock, Journal, mailbox};
use fixpoint_processes::SupervisedProcesses;
use fixpoint_runs::{RunDirectory, RunError, RunId, Story, write_artifacts};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::brief::Brief;

use crate::dispatcher::{Dispatcher, model_environment, models_by_role};
use crate::display::{Display, Speaker, Telling};
use crate::environment;
use crate::failure::Failure;
use crate::person::{NoPerson, TerminalPerson};
use crate::repository::Repository;
use crate::signals::Listening;
use crate::staging::Played;
use crate::surroundings::{Screen, Surroundings};

/// The argument by which this program is started again to supervise.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The clock on the wall.
#[derive(Debug)]
pub(crate) struct WallClock;

impl Clock for WallClock {
    fn elapsed_ms(&self) -> u64 {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        u64::try_from(BEGAN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Where a run is recorded, beside its journal.
pub(crate) struct Around<'a> {
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) repository: &'a Repository,
    pub(crate) screen: Screen,
}

/// What a run came to.
pub(crate) struct Driven {
    pub(crate) recorded: Recorded,
    pub(crate) ending: Ending,
}

impl Around<'_> {
    /// Begins a run with a name of its own and drives it to its end.
    pub(crate) fn begin(&self, order: RunOrder, brief: Brief) -> Result<(RunDirectory, Driven), Failure> {
        let now = WallClock.now_ms();
        let entropy = format!("{} {:?}", std::process::id(), SystemTime::now());
        let run = self.repository.home.run(&RunId::new(now, entropy.as_bytes()));
        let _lock = run.lock()?;
        let journal = FileJournal::create(&run.path).map_err(|source| RunError::unopened(&run.id, source))?;
        let opening = Opening { format: FORMAT, at: now, order, brief: Some(brief) };
        let recorded = Recorded { opening: opening.clone(), records: Vec::new() };
        let blobs: Arc<dyn Blobs> = Arc::new(run.blobs()?);
        let seat = Seat { run: Some(&run), blobs: Arc::clone(&blobs) };
        let driven = self.drive(&seat, recorded, |executor| {
            let desk = Desk { journal, blobs, clock: Arc::new(WallClock) };
            Engine::begin(desk, executor, opening)
        })?;
        Ok((run.clone(), driven))
    }

    /// Takes a run up and drives it to its end.
    pub(crate) fn resume(&self, run: &RunDirectory, mode: OpenMode, back: Return) -> Result<Driven, Failure> {
        let _lock = run.lock()?;
        let opened =
            FileJournal::open(&run.path, mode).map_err(|source| RunError::unopened(&run.id, source))?;
        if let Some(cut) = &opened.cut {
            self.surroundings.notices.say(&cut_words(cut));
        }
        let payloads = opened.records.iter().map(|record| record.payload.as_slice());
        let recorded = run.recorded(payloads)?;
        let blobs: Arc<dyn Blobs> = Arc::new(run.blobs()?);
        let seat = Seat { run: Some(run), blobs: Arc::clone(&blobs) };
        // The process may have died between a record and what is written about it.
        if recorded.records.iter().any(is_told)
            && let Err(error) = write_artifacts(run, &recorded, self.surroundings.lang)
        {
            self.surroundings.notices.say(&format!("the artifacts could not be written: {error}"));
        }
        self.drive(&seat, recorded.clone(), |executor| {
            let desk = Desk { journal: opened.journal, blobs, clock: Arc::new(WallClock) };
            Ok(Engine::resume(desk, executor, &recorded, back))
        })
    }

    /// Drives an engine to its end. `recorded` is what is on record so far.
    pub(crate) fn drive<J: Journal>(
        &self,
        seat: &Seat<'_>,
        mut recorded: Recorded,
        make: impl FnOnce(LocalExecutor) -> Result<Engine<J, LocalExecutor>, EngineError>,
    ) -> Result<Driven, Failure> {
        let name = seat.name();
        let interrupted = |source| Failure::Interrupted { run: name.clone(), source };
        let brief = recorded.opening.brief.as_ref();
        let max_iterations = brief.map_or(0, |brief| brief.settings.convergence.max_iterations);
        let telling = if seat.run.is_some() { Telling::Everything } else { Telling::Notices };
        let look = (self.screen, self.surroundings.lang);
        let display = Display::new(look, telling, &name, max_iterations);
        let (outbox, inbox) = mailbox();
        let listening = Listening::begin(outbox.clone())
            .map_err(|error| Failure::Internal(format!("signals cannot be listened to: {error}")))?;
        let dispatcher = self.dispatcher(seat, &recorded, &display)?;
        let mut engine = make(LocalExecutor::new(Arc::new(dispatcher), outbox)).map_err(interrupted)?;
        let mut story = Story::of(&recorded);
        let mut watch = |record: &Record, _: &fixpoint_decide::run::Run| {
            story.add(record);
            recorded.records.push(record.clone());
            display.record(record, &story);
            let comments = self.surroundings.staging().map(|staging| staging.comment(record, &story));
            comments.iter().flatten().for_each(|line| display.comment(line));
            self.keep_artifacts(seat, record, &recorded, &display);
        };
        let ending = engine.run(&inbox, &mut watch).map_err(interrupted);
        if listening.is_asked() {
            display.line("waiting for what was started to end");
        }
        // An engine that could not go on has called nothing off; this does, and waits.
        drop(engine);
        Ok(Driven { ending: ending?, recorded })
    }

    /// Everybody who performs the errands of this run.
    fn dispatcher(
        &self,
        seat: &Seat<'_>,
        recorded: &Recorded,
        display: &Display,
    ) -> Result<Dispatcher, Failure> {
        let duty = self.duty(seat, recorded, display)?;
        let TaskSource::Planned(order) = &recorded.opening.order.tasks else {
            return Ok(Dispatcher { duty, questions: None });
        };
        let environment = model_environment(
            self.surroundings,
            &duty.brief.settings.models,
            Arc::clone(&duty.tools.processes),
            seat.run.map(|run| run.path.as_path()),
        );
        let models = match (models_by_role(&duty.brief.settings.models, &environment), order.judging) {
            (Ok((models, _)), _) => models,
            (Err(_), Judging::ByChecksAlone) => ModelsByRole::new(),
            (Err(error), Judging::ByModel) => return Err(Failure::Unavailable(error.to_string())),
        };
        let person = self.person(display.speaker(), duty.tools.redactor.clone());
        let outputs = duty.places.outputs.clone();
        let questions = QuestionHandler {
            brief: duty.brief.clone(),
            models,
            workspaces: Arc::clone(&duty.tools.workspaces),
            person,
            plan_cache: PlanCache::new(self.repository.home.memory().join("plans")),
            redactor: duty.tools.redactor.clone(),
            agent_text_file: Box::new(move |id| agent_words(&outputs, id)),
            prompts: duty.places.prompts.clone(),
            on_progress: display.ask_progress(),
            contexts: Mutex::default(),
        };
        Ok(Dispatcher { duty, questions: Some(questions) })
    }

    /// Whoever may be asked.
    fn person(&self, speaker: Speaker, redactor: Redactor) -> Arc<dyn Person> {
        match self.surroundings.staging() {
            Some(staging) => Arc::new(Played { speaker, redactor, staging: Arc::clone(staging) }),
            None if self.surroundings.can_ask() => {
                let name = self.surroundings.variable("USER").map(|name| name.to_string_lossy().into_owned());
                Arc::new(TerminalPerson::new(speaker, redactor, name.unwrap_or_default()))
            }
            None => Arc::new(NoPerson),
        }
    }

    fn duty(&self, seat: &Seat<'_>, recorded: &Recorded, display: &Display) -> Result<Duty, Failure> {
        let Some(brief) = recorded.opening.brief.clone() else {
            return Err(Failure::Internal("the run does not say what was asked for".into()));
        };
        let environment = self.surroundings.environment();
        let agent = agent_name(&brief);
        let processes = SupervisedProcesses::by_this_program([SUPERVISE.into()]).map_err(|error| {
            Failure::Unavailable(format!("this program cannot be started again: {error}"))
        })?;
        let named = &brief.settings.workspace.env;
        Ok(Duty {
            run: seat.name(),
            task: crate::evidence::TASK.into(),
            goals: None,
            agent_environment: environment::of_agent(environment, named, &agent),
            check_environment: environment::of_checks(environment, named),
            places: seat.places(self.repository)?,
            tools: Tools {
                workspaces: Arc::new(self.repository.workspaces.clone()),
                processes: Arc::new(processes),
                blobs: Arc::clone(&seat.blobs),
                redactor: environment::redactor(environment, &brief.settings.models),
                watcher: display.watcher(),
            },
            brief,
        })
    }

    /// Artifacts can be made again from the journal, so that they cannot be written ends nothing.
    fn keep_artifacts(&self, seat: &Seat<'_>, record: &Record, recorded: &Recorded, display: &Display) {
        let Some(run) = seat.run.filter(|_| is_told(record)) else { return };
        if let Err(error) = write_artifacts(run, recorded, self.surroundings.lang) {
            display.line(&format!("the artifacts could not be written: {error}"));
        }
    }
}

/// Whether artifacts tell of a record.
fn is_told(record: &Record) -> bool {
    let is_judged = record.decision.of_tasks().any(|(_, decision)| decision.judged.is_some());
    is_judged || record.decision.commands().next().is_none()
}

/// Where a run keeps its things.
pub(crate) struct Seat<'a> {
    /// Its directory; a comparison that nobody will look at again has none.
    pub(crate) run: Option<&'a RunDirectory>,
    /// Its large payloads.
    pub(crate) blobs: Arc<dyn Blobs>,
}

impl Seat<'_> {
    /// Removes what a run without a directory left: its files, and the commits it compared.
    pub(crate) fn forget(&self, repository: &Repository) -> Result<(), Failure> {
        if self.run.is_none() {
            // It is found by nobody, and the next process of this number overwrites it.
            drop(std::fs::remove_dir_all(scratch(repository)));
            let prefix = format!("{}/", self.name());
            let mut kept = repository.workspaces.kept()?;
            kept.retain(|kept| kept.reference.starts_with(&prefix));
            repository.workspaces.forget(&kept)?;
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.run.map_or_else(|| format!("check-{}", std::process::id()), |run| run.id.to_string())
    }

    fn places(&self, repository: &Repository) -> Result<Places, Failure> {
        let (outputs, prompts) = match self.run {
            Some(run) => (run.outputs(), run.prompts()),
            None => (scratch(repository).join("output"), scratch(repository).join("prompts")),
        };
        for directory in [&outputs, &prompts] {
            std::fs::create_dir_all(directory)
                .map_err(|source| Failure::Unwritable { path: directory.clone(), source })?;
        }
        Ok(Places {
            outputs,
            prompts,
            baselines: repository.home.baselines(),
            locks: repository.home.locks(),
        })
    }
}

/// Where a run without a directory keeps its output.
fn scratch(repository: &Repository) -> std::path::PathBuf {
    repository.home.runs().join(".check").join(std::process::id().to_string())
}

fn cut_words(cut: &Cut) -> String {
    match cut {
        Cut::Torn(_) => {
            "the last record was unfinished when the power or the process went; it was cut off".to_string()
        }
        Cut::Damaged { damage, kept } => {
            format!("the journal was {damage}; what was cut off is in {}", kept.display())
        }
    }
}

/// What an agent is known by: its kind, or the name of its program without the directory.
fn agent_name(brief: &Brief) -> String {
    let kind = agent_of(brief).name();
    if kind != GenericAgent.name() {
        return kind.to_string();
    }
    let program = brief.agent.first().map(Path::new).and_then(Path::file_name);
    program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
