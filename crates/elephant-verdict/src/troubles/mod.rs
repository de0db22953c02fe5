//! Troubles: findings of one root cause, with one remedy.
//!
//! A trouble is what is wrong ("stage 4 is skewed", "executors die out of memory"). Several findings may describe it:
//! those of one [`TroubleKind`] about one subject, and those that only repeat its consequences, its echoes. `diagnose`
//! groups the findings of one application and makes one value for each setting out of their advice (one root cause, one
//! remedy).

mod configuration;
mod echoes;
mod executors;
mod failed_run;
mod gain;
mod groups;
mod guide;
mod harm;
mod harm_to_jobs;
mod inert;
mod loss;
mod more;
mod numbers;
mod reasons;
mod recommended;
mod removal;
mod resources;
mod root_cause;
mod spare;
mod straggling;
mod task_memory;
mod value;
mod worth;

use crate::savings::{
    Amounts, ApplicationSavings, Loss, Prices, Removal, ReplaysOnce, Savings, TroubleSavings, shares,
};
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_model::model::{Application, Status, Subject};
use elephant_rule::finding::drop_repeated;
use elephant_rule::finding::{Advice, Failure, Finding, Name, SettingChange, TroubleKind};
use elephant_ruleset::RuleSet;
use elephant_ruleset::settings::OrderBy;

use guide::{Guide, WithoutChange};

pub use executors::heap_per_task;
pub use inert::why as why_inert;
pub use recommended::Recommended;
pub use removal::saves;
pub use value::same as same_value;
pub use worth::Worth;
pub use worth::WorthSum;

/// How sure the cause of a trouble is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
#[non_exhaustive]
pub enum Confidence {
    /// It was measured.
    Measured,
    /// It follows from measurements, but something else could explain them.
    Inferred,
    /// There is little evidence for it.
    Weak,
}

impl Confidence {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Inferred => "inferred",
            Self::Weak => "weak",
        }
    }

    /// How sure the cause of a trouble of this kind is.
    const fn of(kind: TroubleKind) -> Self {
        use TroubleKind as Kind;
        match kind {
            Kind::Stragglers | Kind::Speculation | Kind::FewExecutors | Kind::Imbalance | Kind::Waiting => {
                Self::Inferred
            }
            Kind::LongRun => Self::Weak,
            _ => Self::Measured,
        }
    }
}

/// A finding about a trouble.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Telling {
    /// The rule that found it.
    pub rule: Name,
    /// The part of the application that the finding is about.
    pub subject: Subject,
    /// Whether it only repeats a consequence of the trouble.
    pub is_echo: bool,
}

/// One root cause in one application.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Trouble {
    /// Its identity within the application: the kind, and the first subject unless it is the application.
    pub id: String,
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// The title of the rule that found it, if its kind does not describe it.
    pub(crate) title: Option<Name>,
    /// The cause in one sentence.
    pub cause: String,
    /// The root cause of a failure, if the trouble is one.
    pub failure: Option<Failure>,
    /// How sure the cause is.
    pub confidence: Confidence,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The highest score of its findings.
    pub score: u64,
    /// The parts of the application that have it.
    pub subjects: Vec<Subject>,
    /// The findings about it, the one that says most first.
    pub findings: Vec<Telling>,
    /// Whether skewed parts have stragglers, too, which may hold them up as long as the skewed tasks.
    has_stragglers: bool,
    /// The settings to change.
    pub change: Vec<SettingChange>,
    /// What to do.
    pub advice: Vec<Advice>,
    /// What removing it saves.
    pub savings: TroubleSavings,
    /// For the order of troubles.
    worth: Worth,
}

/// The rules and prices by which troubles are judged.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    /// The rules in force.
    pub rules: &'a RuleSet,
    /// Without them, no cost is computed.
    pub prices: Option<&'a Prices>,
}

/// The troubles of an application, and one configuration against all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosed {
    /// The troubles, worst first.
    pub troubles: Vec<Trouble>,
    /// One value for each setting.
    pub configuration: Vec<Recommended>,
    /// What all of them save together; `None` without troubles.
    pub savings: Option<ApplicationSavings>,
}

/// Groups the findings of `app`, and settles the settings that they propose: afterwards the advice of `findings` proposes
/// no other values either.
pub fn diagnose(
    app: &Application,
    basis: Basis<'_>,
    (metrics, recorded): (&Metrics, RecordedOnce),
    findings: &mut [Finding],
) -> Diagnosed {
    let order = basis.rules.order();
    let mut troubles =
        echoes::under_their_causes(app, groups::of(findings), findings, order.idle_by_stragglers.get());
    if order.by == OrderBy::Saving {
        failed_run::hold_back(app, &mut troubles, findings);
    }
    troubles.sort_by(|a, b| a.rank().cmp(&b.rank()));
    let replays = ReplaysOnce::new(app, basis.rules, metrics, recorded);
    let grounds = harm::Grounds {
        app,
        replays: &replays,
        run_time: metrics.run_time,
        idle_application: order.idle_application.get(),
    };
    let mut settled = configuration::settle(app, &mut troubles, |judged| harm::of(&grounds, judged));
    let without = guide::guide(app, &mut troubles, &mut settled);
    // The presets of Dr. Elephant advise as its rules did.
    if order.by == OrderBy::Saving {
        let guide = Guide::of(app, &settled);
        for finding in findings.iter_mut() {
            guide.lead(&mut finding.advice);
        }
        excuse_right_settings(&mut troubles, findings, &without);
    }
    let mut savings = (!troubles.is_empty())
        .then(|| save(app, basis, (metrics, &replays), &mut troubles, (findings, &without)));
    if order.by == OrderBy::Saving {
        // The others then save what they shared with those that are removed.
        if gain::lower_unproven(&mut troubles, &mut settled.recommended, findings) {
            savings = (!troubles.is_empty())
                .then(|| save(app, basis, (metrics, &replays), &mut troubles, (findings, &without)));
        }
        gain::lower_spare(&mut troubles, findings);
        let used = Amounts::used(metrics).gb_hours.map(|used| used.point);
        gain::drop_unpaid(&mut troubles, &mut settled.recommended, (findings, used));
        gain::drop_useless(&mut troubles, &mut settled.recommended, (findings, &without.all));
        gain::drop_unproven_splits(&mut troubles, &mut settled.recommended, findings);
        numbers::agree(&mut troubles, findings);
        let of_troubles = troubles.iter_mut().map(|trouble| &mut trouble.advice);
        of_troubles.chain(findings.iter_mut().map(|finding| &mut finding.advice)).for_each(drop_repeated);
    }
    tell_what_decides(&mut troubles, findings);
    root_cause::name(&mut troubles);
    // Conditional advice does not count in the sum.
    let more = more::together(&mut troubles);
    if let Some(savings) = &mut savings {
        savings.more_gb_hours = more;
    }
    let is_first = |trouble: &Trouble| order.by == OrderBy::Saving && failed_run::is_failure(app, trouble);
    troubles.sort_by(|a, b| (!is_first(a), a.worth, a.rank()).cmp(&(!is_first(b), b.worth, b.rank())));
    reasons::first(&mut troubles);
    Diagnosed { troubles, configuration: settled.recommended, savings }
}

/// If the severity of a trouble comes from another finding than the one that leads, adds that finding's message to the
/// cause.
fn tell_what_decides(troubles: &mut [Trouble], findings: &[Finding]) {
    for trouble in troubles {
        let of = |telling: &Telling| {
            findings.iter().find(|it| it.rule == telling.rule && it.subject == telling.subject)
        };
        let mut told = trouble.findings.iter().filter_map(of);
        let Some(leading) = told.next().filter(|leading| leading.severity < trouble.severity) else {
            continue;
        };
        let deciding = told.find(|finding| finding.severity == trouble.severity);
        if let Some(deciding) = deciding.filter(|deciding| deciding.message != leading.message) {
            let severity = trouble.severity.name();
            trouble.cause = format!("{}; {severity}: {}", trouble.cause, deciding.message);
        }
    }
}

/// Troubles of settings that all stay are at most low, and are removed if changing the settings would do no good.
/// Troubles of short tasks are removed, too, if fewer tasks would do no good. Their findings get the same severities.
fn excuse_right_settings(troubles: &mut Vec<Trouble>, findings: &mut [Finding], without: &WithoutChange) {
    let stays = |trouble: &&mut Trouble| match trouble.kind {
        TroubleKind::Settings => without.all.contains(&trouble.id),
        TroubleKind::ManyTasks => {
            without.no_good.contains(&trouble.id) && trouble.findings.iter().all(|told| !told.is_echo)
        }
        _ => false,
    };
    for trouble in troubles.iter_mut().filter(stays) {
        let no_good = without.no_good.contains(&trouble.id);
        let most = if no_good { Severity::None } else { Severity::Low };
        trouble.severity = trouble.severity.min(most);
        for finding in findings.iter_mut().filter(|finding| trouble.tells(finding).is_some()) {
            finding.severity = finding.severity.min(most);
            finding.is_excused = finding.raw_severity > most;
            if no_good {
                finding.advice.clear();
            }
        }
    }
    troubles.retain(|trouble| trouble.severity > Severity::None);
}

/// Computes what each trouble saves, and all of them together.
fn save(
    app: &Application,
    basis: Basis<'_>,
    (metrics, replays): (&Metrics, &ReplaysOnce<'_>),
    troubles: &mut [Trouble],
    (findings, without): (&[Finding], &WithoutChange),
) -> ApplicationSavings {
    let Basis { rules, prices } = basis;
    let cost = |amounts: &Amounts| prices?.cost(app, amounts);
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
    let losses: Vec<Loss> =
        troubles.iter().map(|trouble| loss::of(trouble.kind, told(trouble).first().copied())).collect();
    let Savings { application, troubles: each } = shares(replays, &removals, false).bounded(&losses);
    let order = rules.order();
    let used = Amounts::used(metrics);
    let run = worth::WholeRun { cost: cost(&used), used, run_time: metrics.run_time };
    for (trouble, mut savings) in troubles.iter_mut().zip(each) {
        savings.alone_cost = savings.alone.as_ref().and_then(cost);
        savings.share_cost = savings.share.as_ref().and_then(cost);
        trouble.worth = if app.status == Status::Failed && trouble.kind == TroubleKind::Failures {
            // The whole run was for nothing.
            Worth::of_amounts(&run.used, run.cost, order)
        } else {
            Worth::of_trouble(&savings, order, &run)
        };
        trouble.savings = savings;
    }
    let currency = prices.map(|prices| prices.currency().into());
    ApplicationSavings { joint_cost: cost(&application.joint), currency, ..application }
}

impl Trouble {
    /// Smaller is worse.
    fn rank(&self) -> impl Ord + '_ {
        use std::cmp::Reverse;
        let at_most = worth::AtMost::of(&self.savings);
        (Reverse(self.severity), at_most, Reverse(self.score), self.kind, &self.subjects)
    }

    /// What is wrong in a few words, to begin a sentence.
    #[must_use]
    pub fn words(&self) -> &str {
        self.title.as_deref().unwrap_or(self.kind.words())
    }

    /// What its removal is worth.
    #[must_use]
    pub const fn worth(&self) -> Worth {
        self.worth
    }

    /// Whether the finding is an echo of this trouble; `None` if it does not belong to this trouble.
    #[must_use]
    pub fn tells(&self, finding: &Finding) -> Option<bool> {
        let of = |telling: &&Telling| telling.rule == finding.rule && telling.subject == finding.subject;
        self.findings.iter().find(of).map(|telling| telling.is_echo)
    }
}

impl Trouble {
    /// A trouble in which every text is `text`.
    #[must_use]
    pub fn named(text: &str) -> Self {
        let change =
            SettingChange { setting: text.to_owned(), from: Some(text.to_owned()), to: text.to_owned() };
        Self {
            id: text.to_owned(),
            kind: TroubleKind::Skew,
            title: None,
            cause: text.to_owned(),
            failure: None,
            confidence: Confidence::Measured,
            severity: Severity::Critical,
            score: 8,
            subjects: vec![Subject::Executor(text.to_owned())],
            findings: vec![Telling {
                rule: text.to_owned().into(),
                subject: Subject::Executor(text.to_owned()),
                is_echo: false,
            }],
            has_stragglers: false,
            change: vec![change.clone()],
            advice: vec![Advice::new(text).set([change])],
            savings: TroubleSavings::unknown(text.to_owned()),
            worth: Worth::default(),
        }
    }
}

#[cfg(test)]
mod tests;
