//! `fixpoint calibrate`: measures how much a judge's scores of the same plan vary.
//!
//! A few fixed plans are scored several times each; only the variation within a plan counts. The result is stored for this
//! repository, and every later comparison of plans uses it.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_ports::{AnswerFormat, Cancel, Message, Model, ModelRequest};
use fixpoint_prompts::{Attachments, TokenBudget, read, render};
use fixpoint_vocabulary::ask::{Ask, Material, QuestionKind, Role, SavedPlan};
use fixpoint_vocabulary::documents::Document;
use fixpoint_vocabulary::settings::ModelSettings;
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::{Redactor, Score};
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::CalibrateArguments;
use crate::dispatcher::{model_environment, models_by_role};
use crate::failure::Failure;
use crate::judge_noise;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::sandbox::supervised_processes;
use crate::trust::AskedByProject;

const PLANS: &str = include_str!("../../calibration/plans.json");

pub(crate) fn run(
    arguments: &CalibrateArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let loaded = app.configuration(&arguments.set)?;
    AskedByProject::of(&loaded).require(app)?;
    let settings = loaded.settings.models;
    let repository = Repository::look(app)?;
    let environment = model_environment(app, &settings, Arc::new(supervised_processes()?), None);
    let (models, settings) =
        models_by_role(&settings, &environment).map_err(|error| Failure::Unavailable(error.to_string()))?;
    let no_judge =
        || Failure::Unavailable("there is no model for the role `judge`; see `fixpoint doctor`".into());
    let judge = models.get(&Role::Judge).ok_or_else(no_judge)?;
    let plans: Vec<SavedPlan> = serde_json::from_str(PLANS)
        .map_err(|error| Failure::Internal(format!("the built-in plans for calibration: {error}")))?;
    let mut usage = Usage::default();
    let mut scores: Vec<Vec<Score>> = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let mut of_plan = Vec::new();
        for sample in 1..=arguments.samples {
            let score = score(&**judge, plan, sample, &settings, &mut usage)?;
            let none = || say(app.lang, "no score", "採点なし");
            let shown = score.map_or_else(none, |score| format!("{:.0}", score.get()));
            let (number, all) = (number + 1, plans.len());
            app.notice(
                format!("plan {number} of {all}, sample {sample}: {shown}"),
                format!("計画{number}/{all}、{sample}回目: {shown}"),
            );
            of_plan.extend(score);
        }
        scores.push(of_plan);
    }
    judge_noise::add(&repository, &settings.judge, &scores)
        .map_err(|source| Failure::Unwritable { path: repository.state.memory(), source })?;
    let sigma = judge_noise::sigma(&repository, &settings.judge);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "judge": settings.judge,
            "scores": scores,
            "sigma": sigma.map(|sigma| sigma.estimate),
            "n": sigma.map(|sigma| sigma.n),
            "calls": usage.calls,
            "tokens": usage.tokens(),
            "usd": usage.cost.map(|cost| cost.usd()),
        }))?,
        Form::Text => match sigma {
            Some(sigma) => output.line(&format!(
                "{}: scores of the same plan vary by {:.1} points (standard deviation; {} degrees of freedom, all \
                 measurements of this repository)",
                settings.judge, sigma.estimate, sigma.n
            ))?,
            None => output.line(&format!("{}: no plan got two scores, so nothing could be measured", settings.judge))?,
        },
    }
    // A judge that gives no scores cannot be used to compare plans.
    Ok(if sigma.is_some() { 0 } else { 7 })
}

/// One score of a plan; `None` where the answer has none.
fn score(
    judge: &dyn Model,
    plan: &SavedPlan,
    sample: u32,
    settings: &ModelSettings,
    usage: &mut Usage,
) -> Result<Option<Score>, Failure> {
    let material = Material {
        goal: plan.goal.clone(),
        understanding: Some(plan.understanding.clone()),
        tasks: plan.tasks.clone(),
        actions: plan.actions.clone(),
        ..Material::default()
    };
    let ask = Ask { material, ..Ask::new(QuestionKind::JudgePlan { revision: 0, sample }) };
    let budget = TokenBudget::new(u64::from(settings.max_prompt_tokens));
    let prompt = render(&ask, &Attachments::default(), budget)
        .map_err(|error| Failure::Internal(format!("the built-in plans for calibration: {error}")))?;
    let request = ModelRequest {
        system: prompt.system,
        messages: vec![Message::User(prompt.user)],
        tools: Vec::new(),
        format: AnswerFormat::Json { name: prompt.format_name.to_string(), schema: prompt.schema },
        max_output_tokens: settings.max_output_tokens,
        deadline: Duration::from_secs(u64::from(settings.timeout)),
    };
    let reply = judge.ask(&request, &Cancel::default(), &mut |_| {}).map_err(|failure| {
        Failure::Unavailable(Redactor::default().redact(&failure.error.to_string()).to_string())
    })?;
    *usage += reply.usage;
    match read(&ask.about, &reply.text) {
        Ok(Document::PlanJudgement(judgement)) => Ok(judgement.overall_score),
        Ok(_) | Err(_) => Ok(None),
    }
}
