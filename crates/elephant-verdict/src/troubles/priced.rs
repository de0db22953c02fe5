//! The fourth stage: what removing each trouble saves, and which changes are not worth what they take.

use super::ranking::{self, Worth};
use super::recommended::Recommended;
use super::settled::Settled;
use super::settled_advice::WithoutChange;
use super::{
    Basis, Case, Telling, Trouble, cost_at_most, failed_run, measured_loss, memory_taken, reasons_first,
    removal, task_numbers, unproven,
};
use crate::savings::{Amounts, ApplicationSavings, Loss, Removal, SavingStatus, Savings, shares};
use elephant_base::severity::Severity;
use elephant_model::model::Status;
use elephant_rule::finding::{Finding, TroubleKind, drop_repeated};

/// Troubles with what they save.
pub(super) struct Priced<'f> {
    pub(super) findings: &'f mut [Finding],
    /// The troubles, the one whose removal is worth most first.
    pub(super) troubles: Vec<Trouble>,
    pub(super) recommended: Vec<Recommended>,
    /// What all of them save together; `None` without troubles.
    pub(super) savings: Option<ApplicationSavings>,
}

/// Prices the settled troubles.
pub(super) fn priced<'f>(case: &Case<'_>, settled: Settled<'f>) -> Priced<'f> {
    let Settled { findings, mut troubles, mut recommended, without } = settled;
    let mut savings = save(case, &mut troubles, (findings, &without));
    if case.is_by_saving() {
        // The others then save what they shared with those that are removed.
        if unproven::cap_unproven_numbers(&mut troubles, &mut recommended, findings) {
            savings = save(case, &mut troubles, (findings, &without));
        }
        unproven::cap_few_tasks(&mut troubles, findings);
        let used = Amounts::used(case.metrics).gb_hours.map(|used| used.point);
        unproven::drop_unpaid_memory(
            &mut troubles,
            &mut recommended,
            (findings, used),
            case.basis.rules.troubles(),
        );
        unproven::drop_useless_memory(&mut troubles, &mut recommended, (findings, &without.all));
        unproven::drop_unproven_splits(&mut troubles, &mut recommended, findings);
        task_numbers::agree(&mut troubles, findings);
        let of_troubles = troubles.iter_mut().map(|trouble| &mut trouble.advice);
        of_troubles.chain(findings.iter_mut().map(|finding| &mut finding.advice)).for_each(drop_repeated);
    }
    // Conditional advice does not count in the sum.
    let more = memory_taken::together(&mut troubles);
    if let Some(savings) = &mut savings {
        savings.more_gb_hours = more;
    }
    // A stream that falls behind fails at what it is for, whatever else could be saved.
    let fails = |trouble: &Trouble| {
        failed_run::is_failure(case.app, trouble)
            || (trouble.kind == TroubleKind::Stream && trouble.severity >= Severity::Moderate)
    };
    let is_first = |trouble: &Trouble| case.is_by_saving() && fails(trouble);
    troubles.sort_by(|a, b| (!is_first(a), a.worth, a.rank()).cmp(&(!is_first(b), b.worth, b.rank())));
    reasons_first::order(&mut troubles);
    Priced { findings, troubles, recommended, savings }
}

/// The part of the loss that the settings of a trouble's remedy give back, if it is not all.
fn part_given_back(trouble: &Trouble) -> Option<f64> {
    let remedy = trouble.advice.iter().find(|advice| !advice.settings.is_empty())?;
    remedy.gives_back.map(|thousandths| f64::from(thousandths) / 1000.0)
}

/// Computes what each trouble saves, and all of them together.
fn save(
    case: &Case<'_>,
    troubles: &mut [Trouble],
    (findings, without): (&[Finding], &WithoutChange),
) -> Option<ApplicationSavings> {
    if troubles.is_empty() {
        return None;
    }
    let Case { app, basis: Basis { rules, prices }, metrics, replays } = case;
    let cost = |amounts: &Amounts| (*prices)?.cost(app, amounts);
    let told = |trouble: &Trouble| -> Vec<&Finding> {
        let of = |telling: &Telling| {
            let is_it =
                |finding: &&Finding| telling.rule == finding.rule && telling.subject == finding.subject;
            findings.iter().find(is_it)
        };
        trouble.findings.iter().filter_map(of).collect()
    };
    let removal = |trouble: &Trouble| {
        if without.all.contains(&trouble.id) {
            return removal::WITHOUT_CHANGE;
        }
        removal::of(app, rules, metrics, (trouble, troubles), &told(trouble))
    };
    let removals: Vec<Removal> = troubles.iter().map(removal).collect();
    let leading: Vec<Option<&Finding>> =
        troubles.iter().map(|trouble| told(trouble).first().copied()).collect();
    let loss = |(trouble, leading): (&Trouble, Option<&Finding>)| Loss {
        part: part_given_back(trouble),
        ..measured_loss::of(trouble.kind, leading)
    };
    let losses: Vec<Loss> = troubles.iter().zip(leading.iter().copied()).map(loss).collect();
    let Savings { application, troubles: each } = shares(replays, &removals, false).bounded(&losses);
    let order = rules.order();
    let used = Amounts::used(metrics);
    let run = ranking::WholeRun { cost: cost(&used), used, run_time: metrics.run_time };
    for ((trouble, mut savings), leading) in troubles.iter_mut().zip(each).zip(leading) {
        if let SavingStatus::Unknown(_) = savings.status {
            savings.at_most = cost_at_most::of(app, metrics, trouble, leading);
        }
        savings.alone_cost = savings.alone.as_ref().and_then(cost);
        savings.share_cost = savings.share.as_ref().or(savings.at_most.as_ref()).and_then(cost);
        trouble.worth = if app.status == Status::Failed && trouble.kind == TroubleKind::Failures {
            // The whole run was for nothing.
            Worth::of_amounts(&run.used, run.cost, order)
        } else {
            Worth::of_trouble(&savings, order, &run)
        };
        trouble.savings = savings;
    }
    let currency = prices.map(|prices| prices.currency().into());
    Some(ApplicationSavings { joint_cost: cost(&application.joint), currency, ..application })
}
