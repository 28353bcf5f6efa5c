//! The life of a whole run: planning, judging and refining the plan, the task graph, replanning, bringing results
//! together, the judgement of the whole, and an end with its cause.
//!
//! Like a task's, a state machine in two halves. [`Run::decide`] looks at what happened and answers moves; it works
//! on a copy and changes nothing. [`Run::apply`] folds recorded moves and decides nothing. Each file below owns one
//! part: what an answer means there (`with_…`), and what that part needs next (`next_…`). Invariants: every command
//! has exactly one end; nothing is begun that the budget cannot pay for; every sequence of events ends the run or
//! leaves it waiting for somebody.

mod acceptance;
mod ending;
mod execution;
mod integration;
mod ledger;
mod legality;
mod material;
mod moves;
mod node;
mod nodes;
mod order;
mod planning;
mod reflecting;
mod replan;
mod review;
mod taking;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{Ask, ModelAnswer, Reading, Repair};
use fixpoint_vocabulary::brief::{Brief, PlacedCheck};
use fixpoint_vocabulary::documents::ActionPlan;
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandId, CommandResult, Event};
use fixpoint_vocabulary::{Cause, Redacted, TaskId};
use serde::{Deserialize, Serialize};

pub use self::ledger::Ledger;
pub use self::legality::OutOfPlace;
pub use self::moves::{Decision, Mended, Move, NewTask, On, Owner, Trouble};
pub use self::node::{Node, NodeKind};
use self::nodes::Nodes;
pub use self::order::{Extent, Judging, PlanOrder, PlanningCalls, RunOrder, TaskSource};
pub use self::planning::{Memory, Partial, Planning};
pub use self::review::{Review, Revision};
use crate::phases::Phase;
use crate::revision::Revisions;
use crate::task_run::TaskRun;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum Standing {
    /// Nothing has happened.
    New,
    /// Something is under way.
    Working,
    /// Somebody is awaited; going on takes up what was left.
    Paused {
        /// Why.
        cause: Cause,
    },
    /// Over.
    Ended {
        /// Why.
        cause: Cause,
    },
}

/// When something is decided: the number its record will have, and how long nothing was recorded before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The number of the record.
    pub seq: u64,
    /// Milliseconds since the record before, by a clock that does not jump.
    pub elapsed_ms: u64,
}

/// A command that has no end yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct UnderWay {
    owner: Owner,
    command: Command,
}

/// What the judgement of the whole came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Whole {
    /// Judgements made.
    rounds: u32,
    /// What the last one said; `None` before it and after tasks were added.
    is_complete: Option<bool>,
    /// What it found missing.
    missing: Vec<String>,
}

/// A run, between two events.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    order: Arc<RunOrder>,
    brief: Option<Arc<Brief>>,
    standing: Standing,
    under_way: BTreeMap<CommandId, Arc<UnderWay>>,
    held: Vec<(Owner, Command, Cause)>,
    /// Whose commands were cut short by crashes, each time, since one of theirs came to an end.
    lost: Vec<Owner>,
    /// Answers that could not be used, by what they were for.
    troubles: Vec<(Owner, Trouble)>,
    ledger: Ledger,
    planning: Arc<Planning>,
    review: Arc<Review>,
    nodes: Nodes,
    /// The checks by number: the brief's, then those that tasks brought.
    checks: Arc<Vec<PlacedCheck>>,
    left_out: BTreeSet<TaskId>,
    whole: Whole,
    revisions: Revisions,
    /// A revision that waits for consent.
    proposed: Option<(ActionPlan, String)>,
    reflections: u32,
    /// Whether this is the run itself, or a copy on which an event is tried out.
    copy: Copy,
}

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copy {
    /// The run itself.
    No,
    /// A copy on which an event is tried out. Tasks that go on are not folded there: nothing looks at them.
    Tentative,
}

impl Run {
    /// A run that has not begun. One that is planned needs a brief.
    pub fn new(order: RunOrder, brief: Option<Brief>) -> Self {
        let checks = brief.as_ref().map(|brief| brief.checks.clone()).unwrap_or_default();
        let mut nodes = Nodes::default();
        match &order.tasks {
            TaskSource::Given(task) => nodes.push(Node::given(TaskRun::new((**task).clone()))),
            TaskSource::Planned(_) => {}
        }
        Self {
            ledger: Ledger::new(order.budget),
            planning: Arc::new(Planning::new(&order)),
            order: Arc::new(order),
            brief: brief.map(Arc::new),
            standing: Standing::New,
            under_way: BTreeMap::new(),
            held: Vec::new(),
            lost: Vec::new(),
            troubles: Vec::new(),
            review: Arc::new(Review::default()),
            nodes,
            checks: Arc::new(checks),
            left_out: BTreeSet::new(),
            whole: Whole::default(),
            revisions: Revisions::default(),
            proposed: None,
            reflections: 0,
            copy: Copy::No,
        }
    }

    /// Where it stands.
    pub const fn standing(&self) -> Standing {
        self.standing
    }

    /// Whether it is over.
    pub const fn is_over(&self) -> bool {
        matches!(self.standing, Standing::Ended { .. })
    }

    /// What is fixed about it.
    pub fn order(&self) -> &RunOrder {
        &self.order
    }

    /// Its tasks, in the order in which they came.
    pub fn tasks(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// One of its tasks.
    pub fn task(&self, id: &TaskId) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// The checks by number.
    pub fn checks(&self) -> &[PlacedCheck] {
        &self.checks
    }

    /// The commands that have no end yet.
    pub fn under_way(&self) -> impl Iterator<Item = (CommandId, &Owner, &Command)> {
        self.under_way.iter().map(|(id, under_way)| (*id, &under_way.owner, &under_way.command))
    }

    /// Whether a command has no end yet.
    pub fn is_under_way(&self, id: CommandId) -> bool {
        self.under_way.contains_key(&id)
    }

    /// What was spent so far.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The plan and what was said of it.
    pub fn review(&self) -> &Review {
        &self.review
    }

    /// How far planning has come.
    pub fn planning(&self) -> &Planning {
        &self.planning
    }

    /// What the judgement of the whole found missing.
    pub fn missing_aspects(&self) -> &[String] {
        &self.whole.missing
    }

    /// Says what follows from an event.
    pub fn decide(&self, turn: Turn, event: &Event) -> Result<Decision, OutOfPlace> {
        let run = Self { copy: Copy::Tentative, ..self.clone() };
        let mut deciding = Deciding { run, turn, event, moves: Vec::new(), astray: None };
        deciding.run.note(turn, event);
        deciding.react(self)?;
        deciding.take_up_affordable(self)?;
        deciding.go_on()?;
        deciding.decision(self.phase())
    }

    /// Records what happened and what was decided then.
    pub fn apply(&mut self, turn: Turn, event: &Event, decision: &Decision) {
        self.note(turn, event);
        for (index, step) in (0u32..).zip(&decision.moves) {
            self.take(CommandId { seq: turn.seq, index }, event, step);
        }
    }

    fn settings(&self) -> Option<&Settings> {
        self.brief.as_ref().map(|brief| &brief.settings)
    }

    fn plan_order(&self) -> Option<&PlanOrder> {
        match &self.order.tasks {
            TaskSource::Planned(order) => Some(order),
            TaskSource::Given(_) => None,
        }
    }

    fn is_busy(&self, with: &Owner) -> bool {
        self.under_way.values().any(|under_way| under_way.owner == *with)
            || self.held.iter().any(|(owner, ..)| owner == with)
    }

    /// How often in a row a crash cut something short.
    fn times_lost(&self, owner: &Owner) -> u32 {
        u32::try_from(self.lost.iter().filter(|whose| *whose == owner).count()).unwrap_or(u32::MAX)
    }

    /// Answers in a row that could not be used for something.
    fn tries(&self, owner: &Owner) -> u32 {
        u32::try_from(self.troubles.iter().filter(|(whose, _)| whose == owner).count()).unwrap_or(u32::MAX)
    }
}

/// A run on which an event is being tried out: every move is folded at once, so that the next can rest on it.
struct Deciding<'a> {
    run: Run,
    turn: Turn,
    event: &'a Event,
    moves: Vec<Move>,
    /// The first move that no table allows.
    astray: Option<OutOfPlace>,
}

impl Deciding<'_> {
    /// What was decided, if all of it is allowed to follow from where the run was.
    fn decision(self, before: Phase) -> Result<Decision, OutOfPlace> {
        let after = self.run.phase();
        match self.astray {
            Some(astray) => Err(astray),
            None if !before.leads_to(after) => Err(OutOfPlace::Phase { from: before, to: after }),
            None => Ok(Decision { moves: self.moves }),
        }
    }

    fn push(&mut self, step: Move) {
        if self.astray.is_none() {
            self.astray = self.run.forbids(&step);
        }
        let index = u32::try_from(self.moves.len()).unwrap_or(u32::MAX);
        self.run.take(CommandId { seq: self.turn.seq, index }, self.event, &step);
        self.moves.push(step);
    }

    fn end(&mut self, cause: Cause) {
        self.push(Move::End { cause });
    }

    /// Has something performed, or holds it back if it cannot be afforded.
    fn begin(&mut self, owner: Owner, command: Command) {
        if self.run.can_afford(&command) {
            self.push(Move::Begin { owner, command });
        } else {
            self.push(Move::Hold { owner, command, cause: Cause::Budget });
        }
    }

    /// Puts a question to a model, with what was wrong with the last answer if there was one.
    fn ask(&mut self, owner: Owner, mut ask: Ask) {
        let last = self.run.troubles.iter().rev().find(|(whose, _)| *whose == owner);
        ask.repair = last.map(|(_, trouble)| Repair {
            tries: self.run.tries(&owner),
            problem: trouble.problem.clone(),
            answer: Redacted::default(),
        });
        self.begin(owner, Command::Ask(ask));
    }

    /// An answer that cannot be used. Says whether it may be asked for again.
    fn is_asked_again(&mut self, owner: &Owner, trouble: Trouble) -> bool {
        let tries = self.run.tries(owner);
        let most = self.run.settings().map_or(0, |settings| settings.models.max_format_retries);
        self.push(Move::Unusable { owner: owner.clone(), trouble });
        tries < most
    }

    /// What an event leads to at once, by where the run stood.
    fn react(&mut self, before: &Run) -> Result<(), OutOfPlace> {
        let standing = before.standing;
        match (self.event, standing) {
            (Event::Begun, Standing::New) => self.begun(),
            (Event::Ended { command, end, .. }, Standing::Working) => match before.under_way.get(command) {
                Some(under_way) => self.ended(under_way, end),
                None => Ok(()),
            },
            (Event::StopAsked, Standing::Working) => self.halt(Cause::Stopped),
            (Event::StopAsked, Standing::New) => {
                self.end(Cause::Stopped);
                Ok(())
            }
            // What was under way when the stop came may still end, and asking twice changes nothing.
            (Event::StopAsked | Event::Ended { .. }, Standing::Paused { .. } | Standing::Ended { .. }) => {
                Ok(())
            }
            // A crash may have left it working when somebody brings more to spend, or something to say.
            (Event::Resumed { unblocked, said, .. }, Standing::Paused { .. } | Standing::Working) => {
                self.resume(unblocked, said)
            }
            (Event::Resumed { unblocked, said, .. }, Standing::Ended { .. }) if !unblocked.is_empty() => {
                self.resume(unblocked, said)
            }
            (Event::Begun | Event::Ended { .. } | Event::Resumed { .. }, _) => {
                Err(OutOfPlace::Run { standing })
            }
        }
    }

    fn begun(&mut self) -> Result<(), OutOfPlace> {
        let given: Vec<TaskId> = self.run.tasks().map(|node| node.id().clone()).collect();
        given.iter().try_for_each(|task| self.tell(task, On::Begun))
    }

    /// A command ended: its owner says what that means.
    fn ended(&mut self, under_way: &UnderWay, end: &CommandEnd) -> Result<(), OutOfPlace> {
        let (owner, command) = (under_way.owner.clone(), under_way.command.clone());
        if let Owner::Task(task) = &owner {
            return self.tell(task, On::TheEvent);
        }
        match end {
            CommandEnd::Completed(result) => return self.completed(&owner, &command, result),
            CommandEnd::Lost if self.run.times_lost(&owner) < self.run.order.max_interruptions => {
                self.begin(owner, command);
            }
            CommandEnd::Lost | CommandEnd::Failed { .. } => {
                self.push(Move::Hold { owner, command, cause: Cause::Infrastructure });
            }
            CommandEnd::Cancelled => self.push(Move::Hold { owner, command, cause: Cause::Stopped }),
        }
        Ok(())
    }

    fn completed(
        &mut self,
        owner: &Owner,
        command: &Command,
        result: &CommandResult,
    ) -> Result<(), OutOfPlace> {
        let is_unanswered =
            matches!(result, CommandResult::Answer(ModelAnswer { reading: Reading::Unanswered { .. }, .. }));
        // A task that nobody plans anew is blocked; what does not rest on it goes on.
        if is_unanswered && !matches!(owner, Owner::Replan(_)) {
            let (owner, command) = (owner.clone(), command.clone());
            self.push(Move::Hold { owner, command, cause: Cause::ModelUnavailable });
            return Ok(());
        }
        match owner {
            Owner::Task(_) => {}
            Owner::Planning => self.with_planning(command, result),
            Owner::Review => self.with_review(command, result),
            Owner::Replan(task) => self.with_replan(task, result),
            Owner::Merge(task) => return self.with_merge(task, result),
            Owner::Whole => self.with_whole(result),
            Owner::Reflection(task) => return self.with_reflection(task, result),
        }
        Ok(())
    }

    /// Tells a task what happened, and takes its decision in.
    fn tell(&mut self, task: &TaskId, on: On) -> Result<(), OutOfPlace> {
        let Some(run) = self.run.task(task).and_then(|node| node.run.as_ref()) else { return Ok(()) };
        let seen = on.seen(self.event);
        let mut tentative = TaskRun::clone(run);
        tentative.record(&seen);
        let decision =
            tentative.decide(&seen).map_err(|error| OutOfPlace::Task { task: task.clone(), error })?;
        let decision = self.run.within_limits(task, decision);
        self.push(Move::Task { task: task.clone(), on, decision });
        Ok(())
    }

    /// Everything that works is told to stop, so that it can be taken up again, and the run waits.
    fn halt(&mut self, cause: Cause) -> Result<(), OutOfPlace> {
        let mut tasks = Vec::new();
        for under_way in self.run.under_way.clone().into_values() {
            let (owner, command) = (under_way.owner.clone(), under_way.command.clone());
            match owner {
                Owner::Task(task) => tasks.push(task),
                Owner::Planning
                | Owner::Review
                | Owner::Replan(_)
                | Owner::Merge(_)
                | Owner::Whole
                | Owner::Reflection(_) => self.push(Move::Hold { owner, command, cause: Cause::Stopped }),
            }
        }
        tasks.iter().try_for_each(|task| self.tell(task, On::StopAsked))?;
        self.push(Move::Pause { cause });
        Ok(())
    }

    /// What is needed next, part by part, until nothing more can be begun now.
    fn go_on(&mut self) -> Result<(), OutOfPlace> {
        loop {
            let before = self.moves.len();
            match self.run.standing {
                Standing::New | Standing::Working => {}
                Standing::Paused { .. } | Standing::Ended { .. } => return Ok(()),
            }
            match &self.run.order.tasks {
                TaskSource::Given(_) => self.next_of_given(),
                TaskSource::Planned(_) if self.run.nodes.is_empty() => self.next_of_planning(),
                TaskSource::Planned(_) => self.next_of_tasks()?,
            }
            if self.moves.len() == before {
                self.rest();
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod regressions;
#[cfg(test)]
mod small_world;
#[cfg(test)]
mod tests;
