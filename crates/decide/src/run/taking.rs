//! Folding what was decided into the run. Nothing is decided here: a recorded run is taken up by another version
//! without being judged anew.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixpoint_vocabulary::brief::PlacedCheck;
use fixpoint_vocabulary::documents::{Complexity, Subtask};
use fixpoint_vocabulary::settings::{Check, CheckKind};
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandId, Event};
use fixpoint_vocabulary::{TaskId, TaskState};

use super::ledger::begun;
use super::planning::{Memory, Partial};
use super::review::Revision;
use super::{Copy, Move, NewTask, Node, NodeKind, On, Owner, Run, Standing, Turn, UnderWay};
use crate::refinement;
use crate::task_run::{self, Step, TaskRun};

impl Node {
    /// The only task of a run.
    pub(super) fn given(run: TaskRun) -> Self {
        let task = Subtask {
            id: run.order().task.clone(),
            description: String::new(),
            dependencies: Vec::new(),
            estimated_complexity: Complexity::Medium,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: Vec::new(),
            goals: Vec::new(),
            context: String::new(),
            subtasks: Vec::new(),
        };
        let new = NewTask { task, kind: NodeKind::Given, lineage: None, ground: None };
        Self { state: TaskState::Running, run: Some(Arc::new(run)), ..Self::new(new, BTreeSet::new()) }
    }

    pub(super) fn new(new: NewTask, goals: BTreeSet<u32>) -> Self {
        Self {
            task: new.task,
            kind: new.kind,
            state: TaskState::Ready,
            cause: None,
            lineage: new.lineage,
            replaced_by: Vec::new(),
            goals,
            ground: new.ground,
            merged: None,
            run: None,
            step: Step::New,
            last_attempt: None,
            reflected: false,
        }
    }
}

impl Run {
    /// Records that an event happened, before what follows from it.
    pub(super) fn note(&mut self, turn: Turn, event: &Event) {
        self.settle(turn, event);
        match event {
            Event::Begun => self.standing = Standing::Working,
            Event::Ended { command, end, .. } => {
                let Some(under_way) = self.under_way.remove(command) else { return };
                let owner = &under_way.owner;
                match end {
                    CommandEnd::Completed(_) => self.lost.retain(|whose| whose != owner),
                    CommandEnd::Lost => self.lost.push(owner.clone()),
                    CommandEnd::Failed { .. } | CommandEnd::Cancelled => {}
                }
            }
            Event::Resumed { .. } => {
                self.lost.clear();
                self.standing = Standing::Working;
            }
            Event::StopAsked => {}
        }
    }

    /// Records one move. `id` is the name of the command it begins, if it begins one.
    pub(super) fn take(&mut self, id: CommandId, event: &Event, step: &Move) {
        if let Some(command) = begun(step) {
            self.set_aside(id, command);
        }
        match step {
            Move::Task { task, on, decision } => self.take_task(id, event, task, *on, decision),
            Move::Begin { owner, command } => {
                let (owner, command) = (owner.clone(), command.clone());
                self.under_way.insert(id, Arc::new(UnderWay { owner, command }));
            }
            Move::Hold { owner, command, cause } => {
                self.held.push((owner.clone(), command.clone(), *cause));
            }
            Move::Released => self.held.clear(),
            Move::Unusable { owner, trouble } => self.troubles.push((owner.clone(), trouble.clone())),
            Move::Pause { cause } => self.come_to(Standing::Paused { cause: *cause }),
            Move::End { cause } => self.come_to(Standing::Ended { cause: *cause }),
            Move::BaseTaken { .. }
            | Move::Heard { .. }
            | Move::NobodyThere
            | Move::Understood { .. }
            | Move::Decomposed { .. }
            | Move::Coarser { .. }
            | Move::PartialOffered { .. }
            | Move::Recalled { .. } => self.take_planning(event, step),
            Move::Planned { .. }
            | Move::PlanScored { .. }
            | Move::PlanDecided { .. }
            | Move::PlanAccepted { .. }
            | Move::PlanSuspect { .. }
            | Move::Revised { .. } => self.take_review(step),
            Move::TasksAdded { .. }
            | Move::TaskStarted { .. }
            | Move::TaskMoved { .. }
            | Move::TaskReplaced { .. }
            | Move::TaskRewired { .. }
            | Move::SidesMerged { .. }
            | Move::LeftOut { .. }
            | Move::WholeJudged { .. }
            | Move::RevisionProposed { .. }
            | Move::Reflected { .. } => self.take_graph(step),
        }
    }

    /// What is under way is given up and counts in full.
    fn come_to(&mut self, standing: Standing) {
        let given_up: Vec<CommandId> = self.under_way.keys().copied().collect();
        given_up.into_iter().for_each(|id| self.write_off(id));
        self.under_way.clear();
        self.standing = standing;
    }

    fn take_task(
        &mut self,
        id: CommandId,
        event: &Event,
        task: &TaskId,
        on: On,
        decision: &task_run::Decision,
    ) {
        let copy = self.copy;
        self.change(task, |node| {
            // What goes on is folded in the run itself only, where its history is not copied.
            let is_folded = copy == Copy::No || matches!(decision.step, Step::Ended { .. });
            if let Some(run) = node.run.as_mut().filter(|_| is_folded) {
                let run = Arc::make_mut(run);
                match on {
                    On::TheEvent => run.record(event),
                    On::Begun | On::StopAsked | On::Resumed => run.record(&on.seen(event)),
                }
                run.apply(decision);
            }
            node.step = decision.step;
            if let Some(Command::RunAttempt(_)) = decision.command {
                node.last_attempt = Some(id);
            }
        });
        if let Some(command) = &decision.command {
            let (owner, command) = (Owner::Task(task.clone()), command.clone());
            self.under_way.insert(id, Arc::new(UnderWay { owner, command }));
        }
    }

    fn take_planning(&mut self, event: &Event, step: &Move) {
        let planning = Arc::make_mut(&mut self.planning);
        if let Move::BaseTaken { base } = step {
            planning.base = Some(base.clone());
        } else if let Move::Heard { said } = step {
            // What somebody says unasked answers no question.
            planning.unclear += u32::from(!matches!(event, Event::Resumed { .. }));
            planning.remarks.extend(said.iter().cloned());
        } else if let Move::NobodyThere = step {
            planning.unclear += 1;
            planning.asking = fixpoint_vocabulary::ask::Asking::NobodyThere;
        } else if let Move::Understood { understanding } = step {
            planning.understanding = Some(understanding.clone());
            self.forgive(&Owner::Planning);
        } else if let Move::Decomposed { decomposition } = step {
            planning.decomposition = Some(decomposition.clone());
            self.forgive(&Owner::Planning);
        } else if let Move::Coarser { level } = step {
            planning.level = Some(*level);
        } else if let Move::PartialOffered { feasible, infeasible, alternatives } = step {
            planning.partial = Some(Partial {
                feasible: feasible.clone(),
                infeasible: infeasible.clone(),
                alternatives: alternatives.clone(),
            });
        } else if let Move::Recalled { draft } = step {
            planning.memory = draft.clone().map_or(Memory::Nothing, Memory::Draft);
        }
    }

    fn take_review(&mut self, step: &Move) {
        let review = Arc::make_mut(&mut self.review);
        if let Move::Planned { tasks, actions, mended } = step {
            let (tasks, actions, mended) = (tasks.clone(), actions.clone(), *mended);
            review.revisions.push(Revision { tasks, actions, mended, samples: Vec::new() });
            self.forgive(&Owner::Planning);
            self.forgive(&Owner::Review);
        } else if let Move::PlanScored { revision, judgement } = step {
            if let Some(plan) = review.revisions.get_mut(*revision as usize) {
                plan.samples.push(judgement.clone());
            }
            self.forgive(&Owner::Review);
        } else if let Move::PlanDecided { answer } = step {
            if answer.reason.code == refinement::Code::ApplyingSuggestions {
                review.suggestion_replans += 1;
            }
            review.decisions.push(answer.clone());
        } else if let Move::PlanAccepted { revision } = step {
            review.accepted = Some(*revision);
        } else if let Move::PlanSuspect { findings } = step {
            review.findings.extend(findings.iter().cloned());
        } else if let Move::Revised { actions, error } = step {
            let accepted = review.accepted.and_then(|accepted| review.revisions.get_mut(accepted as usize));
            if let Some(plan) = accepted {
                plan.actions = actions.clone();
            }
            self.revisions.record(error);
            self.proposed = None;
        }
        let order = self.review.plan().map(|plan| plan.actions.execution_order.as_slice());
        self.nodes.put_in_order(order.unwrap_or_default());
    }

    fn take_graph(&mut self, step: &Move) {
        if let Move::TasksAdded { tasks } = step {
            self.whole.is_complete = None;
            tasks.iter().for_each(|task| self.add(task.clone()));
        } else if let Move::TaskStarted { order } = step {
            let run = TaskRun::new((**order).clone());
            self.change(&order.task, |node| {
                node.state = TaskState::Running;
                node.run = Some(Arc::new(run));
                node.step = Step::New;
            });
        } else if let Move::TaskMoved { task, state, cause } = step {
            self.change(task, |node| {
                let is_again = node.state == TaskState::Blocked && *state == TaskState::Ready;
                (node.state, node.cause) = (*state, *cause);
                if is_again {
                    (node.run, node.last_attempt, node.reflected) = (None, None, false);
                    node.step = Step::New;
                }
            });
            if *state == TaskState::Ready {
                self.reconsider(task);
            }
        } else if let Move::TaskReplaced { task, children, .. } = step {
            self.forgive(&Owner::Replan(task.clone()));
            let names: Vec<TaskId> = children.iter().map(|child| child.task.id.clone()).collect();
            self.change(task, |node| {
                node.state = TaskState::ReplacedByReplan;
                node.replaced_by = names;
            });
            children.iter().for_each(|child| self.add(child.clone()));
        } else if let Move::TaskRewired { task, dependencies } = step {
            self.change(task, |node| node.task.dependencies.clone_from(dependencies));
        } else if let Move::SidesMerged { task, merged } = step {
            self.change(task, |node| node.merged = Some(merged.clone()));
        } else if let Move::LeftOut { task } = step {
            self.left_out.insert(task.clone());
        } else if let Move::WholeJudged { is_complete, missing } = step {
            self.whole.rounds += 1;
            self.whole.is_complete = Some(*is_complete);
            self.whole.missing.clone_from(missing);
            self.forgive(&Owner::Whole);
        } else if let Move::Reflected { task, document } = step {
            self.change(task, |node| node.reflected = true);
            self.reflections += u32::from(document.is_some());
            self.forgive(&Owner::Reflection(task.clone()));
        } else if let Move::RevisionProposed { actions, error } = step {
            self.proposed = Some((actions.clone(), error.clone()));
        }
    }

    /// A task may try again: what was said of the whole without it is no longer true, and what was left out because of
    /// it may yet be in.
    fn reconsider(&mut self, task: &TaskId) {
        self.whole.is_complete = None;
        if let Some(NodeKind::Merge { theirs, .. }) = self.task(task).map(|node| node.kind.clone()) {
            self.left_out.remove(&theirs);
        }
    }

    /// What was wrong with earlier answers no longer matters.
    fn forgive(&mut self, owner: &Owner) {
        self.troubles.retain(|(whose, _)| whose != owner);
    }

    fn change(&mut self, task: &TaskId, change: impl FnOnce(&mut Node)) {
        self.nodes.change(task, change);
    }

    /// A task enters the graph, and the commands that must pass when it is done become checks.
    fn add(&mut self, new: NewTask) {
        let goals: BTreeSet<u32> = new.task.goals.iter().map(|command| self.check_number(command)).collect();
        let own = self.plan_order().map(|order| order.goals.clone()).unwrap_or_default();
        // Smaller tasks in its place each do a part only; what must pass in the end is seen to then.
        let is_only =
            new.kind == NodeKind::Planned && self.review.plan().is_some_and(|plan| plan.tasks.len() == 1);
        let goals = if is_only { goals.union(&own).copied().collect() } else { goals };
        self.nodes.push(Node::new(new, goals));
    }

    /// The number of the check that runs a command, which is made one if it is none.
    fn check_number(&mut self, command: &str) -> u32 {
        let position = self.checks.iter().position(|placed| placed.check.command == command);
        let number = position.unwrap_or_else(|| {
            let directory = self.brief.as_ref().map(|brief| brief.directory.clone()).unwrap_or_default();
            let name = alloc::format!("goal-{}", self.checks.len() + 1);
            let check = Check::new(name, command.to_string(), CheckKind::Goal);
            Arc::make_mut(&mut self.checks).push(PlacedCheck { check, directory });
            self.checks.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}
