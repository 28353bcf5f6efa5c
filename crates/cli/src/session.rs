//! Runs the engine: puts together everything that a run needs, and drives it to its end.
//!
//! The only place that names the concrete adapters. Invariant: when this returns, nothing that was started is running.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixpoint_agents::{Agent, GenericAgent};
use fixpoint_consult::{ModelsByRole, Person, PlanCache, QuestionHandler};
use fixpoint_decide::run::{Judging, Run, RunOptions, TaskSource};
use fixpoint_engine::{
    Engine, EngineDeps, EngineError, EngineExit, FORMAT, JournalHeader, Record, RecordedRun, ResumeRequest,
};
use fixpoint_execute::{
    ExecutionContext, ExecutionDeps, ExecutionPaths, LocalExecutor, agent_of, agent_words,
};
use fixpoint_journal::{Cut, FileJournal, FileStorage, OpenMode, Opened};
use fixpoint_ports::{Blobs, Clock, Journal, Seq, mailbox};
use fixpoint_runs::{ArtifactWriter, FoldedRun, RunDirectory, RunError, RunHistory, RunId, RunView};
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::{Lang, Redactor};

use crate::app_context::{AppContext, Detail, Screen};
use crate::cost::Forecast;
use crate::dispatcher::{Dispatcher, model_environment, models_by_role};
use crate::display::{Display, Speaker, Verbosity};
use crate::environment;
use crate::failure::Failure;
use crate::language::say;
use crate::person::{NoPerson, TerminalPerson};
use crate::repository::Repository;
use crate::sandbox::SandboxRequest;
use crate::scripted_person::ScriptedPerson;
use crate::signals::{self, SignalListener};
use crate::trust::Consent;

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

/// What a run is started in.
pub(crate) struct SessionContext<'a> {
    pub(crate) app: &'a AppContext,
    pub(crate) repository: &'a Repository,
    pub(crate) screen: Screen,
    /// Nothing is executed that nobody agreed to.
    _consent: Consent,
}

/// A run that ended or paused.
pub(crate) struct RunOutcome {
    pub(crate) folded: FoldedRun,
    pub(crate) ending: EngineExit,
}

/// A run before the engine is started.
pub(crate) struct RunStart {
    pub(crate) header: JournalHeader,
    /// What earlier processes recorded.
    pub(crate) history: Option<RunHistory>,
    /// `None` for `fixpoint check`, which stores nothing.
    pub(crate) artifacts: Option<ArtifactWriter>,
    /// What the run is expected to use, to be shown once its plan is known.
    pub(crate) forecast: Option<Forecast>,
}

impl<'a> SessionContext<'a> {
    pub(crate) fn new(app: &'a AppContext, repository: &'a Repository, consent: Consent) -> Self {
        Self { app, repository, screen: app.screen, _consent: consent }
    }

    /// Begins a run with a name of its own and drives it to its end.
    pub(crate) fn begin(
        &self,
        options: RunOptions,
        spec: RunSpec,
    ) -> Result<(RunDirectory, RunOutcome), Failure> {
        let forecast = self.announce(&options, &spec);
        let now = WallClock.now_ms();
        let entropy = format!("{} {:?}", std::process::id(), SystemTime::now());
        let run = self.repository.state.run(&RunId::new(now, entropy.as_bytes()));
        let _lock = run.lock()?;
        let journal = FileJournal::create(&run.path).map_err(|error| RunError::journal(&run.id, &error))?;
        let header = JournalHeader { format: FORMAT, at: now, options, spec: Some(spec) };
        let artifacts = Some(ArtifactWriter::new(&run, self.app.lang));
        let start = RunStart { header: header.clone(), history: None, artifacts, forecast };
        let blobs: Arc<dyn Blobs> = Arc::new(run.blobs()?);
        let storage = RunStorage { run: Some(&run), blobs: Arc::clone(&blobs) };
        let outcome = self.drive(&storage, start, |executor| {
            let deps = EngineDeps { journal, blobs, clock: Arc::new(WallClock) };
            Engine::begin(deps, executor, header)
        })?;
        Ok((run.clone(), outcome))
    }

    /// Says what the run will probably use and what limits it.
    fn announce(&self, options: &RunOptions, spec: &RunSpec) -> Option<Forecast> {
        let forecast = Forecast::new(options, &spec.settings, Some(&self.repository.state));
        self.app.notices.say(&forecast.first_line(self.app.lang));
        match self.app.detail {
            Detail::Verbose => self.app.notices.say(&forecast.worst_case_line(None, self.app.lang)),
            Detail::Usual => {}
        }
        Some(forecast)
    }

    /// Resumes a run and drives it to its end.
    pub(crate) fn resume(
        &self,
        run: &RunDirectory,
        mode: OpenMode,
        request: ResumeRequest,
    ) -> Result<RunOutcome, Failure> {
        let _lock = run.lock()?;
        let (opened, recorded) = self.open_journal(run, mode)?;
        let blobs: Arc<dyn Blobs> = Arc::new(run.blobs()?);
        let storage = RunStorage { run: Some(run), blobs: Arc::clone(&blobs) };
        let mut artifacts = ArtifactWriter::new(run, self.app.lang);
        let FoldedRun { run, history } =
            FoldedRun::watched(&recorded, |record, view| artifacts.note(record, view));
        if let Err(error) = artifacts.catch_up(RunView { run: &run, history: &history }) {
            self.app.notices.say(&artifact_words(&error, self.app.lang));
        }
        let next = recorded.next();
        let RecordedRun { header, records } = recorded;
        // The records are not needed any more, and there may be many.
        drop((records, opened.records));
        let is_planned = run.review().accepted.is_some();
        let forecast = header
            .spec
            .as_ref()
            .filter(|_| !is_planned)
            .map(|spec| Forecast::new(&header.options, &spec.settings, Some(&self.repository.state)));
        let start = RunStart { header, history: Some(history), artifacts: Some(artifacts), forecast };
        self.drive(&storage, start, |executor| {
            let deps = EngineDeps { journal: opened.journal, blobs, clock: Arc::new(WallClock) };
            Ok(Engine::resume(deps, executor, run, next, request))
        })
    }

    /// Opens the journal of a run. A repair also cuts off records whose blobs are damaged.
    fn open_journal(
        &self,
        run: &RunDirectory,
        mode: OpenMode,
    ) -> Result<(Opened<FileStorage>, RecordedRun), Failure> {
        let opened =
            FileJournal::open(&run.path, mode).map_err(|error| RunError::journal(&run.id, &error))?;
        if let Some(cut) = &opened.cut {
            self.app.notices.say(&cut_words(cut, self.app.lang));
        }
        let payloads = opened.records.iter().map(|record| record.payload.as_slice());
        match run.recorded(payloads) {
            Err(RunError::Damaged { damage, .. }) if mode == OpenMode::Repair && damage.is_repairable => {
                drop(opened);
                self.open_journal(run, OpenMode::RepairFrom(Seq(damage.record)))
            }
            recorded => Ok((opened, recorded?)),
        }
    }

    /// Drives an engine to its end.
    pub(crate) fn drive<J: Journal>(
        &self,
        storage: &RunStorage<'_>,
        start: RunStart,
        make: impl FnOnce(LocalExecutor) -> Result<Engine<J, LocalExecutor>, EngineError>,
    ) -> Result<RunOutcome, Failure> {
        let RunStart { header, history, mut artifacts, forecast } = start;
        let name = storage.name();
        let interrupted = |source| match storage.run {
            Some(run) => Failure::Interrupted { run: run.id.to_string(), source },
            // Nothing was stored that could be resumed.
            None => Failure::NotCompared(source),
        };
        let spec = header.spec.as_ref();
        let max_iterations = spec.map_or(0, |spec| spec.settings.convergence.max_iterations);
        let verbosity = match (self.app.detail, storage.run) {
            (Detail::Verbose, _) => Verbosity::Details,
            (Detail::Usual, Some(_)) => Verbosity::Everything,
            (Detail::Usual, None) => Verbosity::Notices,
        };
        let look = (self.screen, self.app.lang);
        let display = Display::new(look, verbosity, &name, max_iterations).with_forecast(forecast);
        let (outbox, inbox) = mailbox();
        let signals = SignalListener::begin(outbox.clone(), self.farewell(storage, display.speaker()))
            .map_err(|error| Failure::Internal(format!("cannot listen for signals: {error}")))?;
        let dispatcher = self.dispatcher(storage, &header, &display)?;
        let mut engine = make(LocalExecutor::new(Arc::new(dispatcher), outbox)).map_err(interrupted)?;
        let mut history = history.unwrap_or_else(|| RunHistory::new(engine.state(), header.at));
        let mut watch = |records: &[Record], run: &Run| {
            for record in records {
                let changed = history.add(record, run);
                let view = RunView { run, history: &history };
                display.record(record, view);
                let comments = self.app.demo_script().map(|script| script.comment(record, view));
                comments.iter().flatten().for_each(|line| display.comment(line));
                // Artifacts can be made again from the journal: a failure to write them does not stop the run.
                let written = artifacts.as_mut().map(|artifacts| artifacts.record(record, view, &changed));
                if let Some(Err(error)) = written {
                    display.line(&artifact_words(&error, self.app.lang));
                }
            }
            history.forget_ended(run);
        };
        let ending = engine.run(&inbox, &mut watch).map_err(interrupted);
        if signals.is_asked() {
            display.line(&say(
                self.app.lang,
                "waiting until agents and checks have ended",
                "エージェントとチェックの終了を待っています",
            ));
        }
        // An engine that failed has cancelled nothing; this cancels all commands and waits for them.
        let run = engine.into_state();
        Ok(RunOutcome { folded: FoldedRun { run, history }, ending: ending? })
    }

    /// What is said when a second signal ends this process. The run of a demo is deleted, and `fixpoint check` has none.
    fn farewell(&self, storage: &RunStorage<'_>, speaker: Speaker) -> impl Fn() + Send + 'static {
        let run = storage.run.filter(|_| !signals::has_temp_dir()).map(|run| &run.id);
        let line = run.map(|run| {
            say(
                self.app.lang,
                format!("stopped; `fixpoint resume {run}` continues it"),
                format!("停止しました。再開するには `fixpoint resume {run}`"),
            )
        });
        move || line.iter().for_each(|line| speaker.say(line))
    }

    /// What executes the commands of this run.
    fn dispatcher(
        &self,
        storage: &RunStorage<'_>,
        header: &JournalHeader,
        display: &Display,
    ) -> Result<Dispatcher, Failure> {
        let Some(spec) = header.spec.clone() else {
            return Err(Failure::Internal("the run has no recorded settings".into()));
        };
        let context = self.execution_context(storage, spec, display)?;
        let TaskSource::Planned(options) = &header.options.tasks else {
            return Ok(Dispatcher { context, questions: None });
        };
        let environment = model_environment(
            self.app,
            &context.spec.settings.models,
            Arc::clone(&context.deps.processes),
            storage.run.map(|run| run.path.as_path()),
        );
        let models = match (models_by_role(&context.spec.settings.models, &environment), options.judging) {
            (Ok((models, _)), _) => models,
            (Err(_), Judging::ByChecksAlone) => ModelsByRole::new(),
            (Err(error), Judging::ByModel) => return Err(Failure::Unavailable(error.to_string())),
        };
        let person = self.person(display.speaker(), context.deps.redactor.clone());
        let outputs = context.paths.outputs.clone();
        let questions = QuestionHandler {
            spec: context.spec.clone(),
            models,
            workspaces: Arc::clone(&context.deps.workspaces),
            person,
            plan_cache: PlanCache::new(self.repository.state.memory().join("plans")),
            redactor: context.deps.redactor.clone(),
            agent_text_file: Box::new(move |id| agent_words(&outputs, id)),
            prompts: context.paths.prompts.clone(),
            on_progress: display.ask_progress(),
            contexts: Mutex::default(),
        };
        Ok(Dispatcher { context, questions: Some(questions) })
    }

    /// The person who may be asked.
    fn person(&self, speaker: Speaker, redactor: Redactor) -> Arc<dyn Person> {
        match self.app.demo_script() {
            Some(script) => Arc::new(ScriptedPerson { speaker, redactor, script: Arc::clone(script) }),
            None if self.app.can_ask() => {
                let name = self.app.variable("USER").map(|name| name.to_string_lossy().into_owned());
                let (name, lang) = (name.unwrap_or_default(), self.app.lang);
                Arc::new(TerminalPerson { speaker, redactor, name, lang })
            }
            None => Arc::new(NoPerson),
        }
    }

    pub(crate) fn execution_context(
        &self,
        storage: &RunStorage<'_>,
        spec: RunSpec,
        display: &Display,
    ) -> Result<ExecutionContext, Failure> {
        let environment = self.app.environment();
        let agent = agent_name(&spec);
        let named = &spec.settings.workspace.env;
        let sandbox = SandboxRequest {
            app: self.app,
            settings: &spec.settings.sandbox,
            repository: Some(self.repository),
            agent: &agent,
        };
        let processes = sandbox.processes()?;
        Ok(ExecutionContext {
            run: storage.name(),
            task: crate::selected_checks::TASK.into(),
            goals: None,
            host: Arc::default(),
            agent_environment: environment::of_agent(environment, named, &agent),
            check_environment: environment::of_checks(environment, named),
            paths: storage.execution_paths(self.repository)?,
            deps: ExecutionDeps {
                workspaces: Arc::new(self.repository.workspaces.clone()),
                processes,
                blobs: Arc::clone(&storage.blobs),
                redactor: environment::redactor(environment, &spec.settings.models),
                progress: display.progress_listener(),
            },
            spec,
        })
    }
}

/// Where a run is stored.
pub(crate) struct RunStorage<'a> {
    /// Its directory; `None` for `fixpoint check`.
    pub(crate) run: Option<&'a RunDirectory>,
    /// Its large payloads.
    pub(crate) blobs: Arc<dyn Blobs>,
}

impl RunStorage<'_> {
    /// Removes what a run without a directory left: its files, and the commits it compared.
    pub(crate) fn forget(&self, repository: &Repository) -> Result<(), Failure> {
        if self.run.is_none() {
            // If this fails, the next process with the same number overwrites it.
            drop(std::fs::remove_dir_all(scratch(repository)));
            let prefix = format!("{}/", self.name());
            let mut kept = repository.workspaces.stored_refs()?;
            kept.retain(|kept| kept.reference.starts_with(&prefix));
            repository.workspaces.delete_refs(&kept)?;
        }
        Ok(())
    }

    pub(crate) fn name(&self) -> String {
        self.run.map_or_else(|| format!("check-{}", std::process::id()), |run| run.id.to_string())
    }

    fn execution_paths(&self, repository: &Repository) -> Result<ExecutionPaths, Failure> {
        let (outputs, prompts) = match self.run {
            Some(run) => (run.outputs(), run.prompts()),
            None => (scratch(repository).join("output"), scratch(repository).join("prompts")),
        };
        let homes = match self.run {
            Some(run) => run.path.join("homes"),
            None => scratch(repository).join("homes"),
        };
        for directory in [&outputs, &prompts] {
            std::fs::create_dir_all(directory)
                .map_err(|source| Failure::Unwritable { path: directory.clone(), source })?;
        }
        Ok(ExecutionPaths {
            outputs,
            prompts,
            baselines: repository.state.baselines(),
            locks: repository.state.locks(),
            homes,
        })
    }
}

/// Where a run without a directory stores its output.
fn scratch(repository: &Repository) -> std::path::PathBuf {
    repository.state.runs().join(".check").join(std::process::id().to_string())
}

fn artifact_words(error: &impl std::fmt::Display, lang: Lang) -> String {
    say(
        lang,
        format!("the artifacts could not be written: {error}"),
        format!("成果ファイルを書き込めません: {error}"),
    )
}

fn cut_words(cut: &Cut, lang: Lang) -> String {
    match cut {
        Cut::Torn(_) => say(
            lang,
            "the last record of the journal was incomplete, after a crash or a power loss; it was cut off",
            "クラッシュまたは停電のため、ジャーナルの最後の記録が不完全でした。その記録を切り捨てました",
        ),
        Cut::Damaged { damage, kept } => say(
            lang,
            format!("the journal was {damage}; the cut bytes are in {}", kept.display()),
            format!("ジャーナルが破損していました（{damage}）。切り取った部分: {}", kept.display()),
        ),
    }
}

/// The name of an agent: its kind, or the name of its program without the directory.
fn agent_name(spec: &RunSpec) -> String {
    let kind = agent_of(spec).name();
    if kind != GenericAgent.name() {
        return kind.to_string();
    }
    let program = spec.agent.first().map(Path::new).and_then(Path::file_name);
    program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
