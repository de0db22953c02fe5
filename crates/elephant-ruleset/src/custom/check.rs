//! Runs a custom rule on an application.

use elephant_base::whole::Whole;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;

use super::definition::{CustomRule, DefinedLimit};
use super::reason::{Limits, reason};
use super::scope::{Inner, Judged, Scope};
use super::template::shorten;
use super::value::{Gap, Value};
use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_model::model::Application;
use elephant_model::model::conf::{ConfKey, secrets};
use elephant_rule::finding::{Advice, Judgement, Measure, Name, SettingChange, Verdict};
use elephant_rule::wording;

/// At most this many stages or executors get their own finding.
const MAX_FINDINGS: usize = 10;

/// So many times as many are held before the worst are chosen.
const SPARE: usize = 100;

/// Why a rule that names counters is not evaluated.
const UNREADABLE: &str = "counters of some attempts cannot be read";

/// Why a rule has no judgement on a subject.
enum Unjudged {
    /// The reason, in words.
    NotEvaluated(String),
    TooExpensive,
}

impl CustomRule {
    /// The verdict on `app` with costs `metrics`. If there are many findings, only the worst are kept.
    #[must_use]
    pub(crate) fn check(&self, app: &Application, metrics: &Metrics) -> Verdict<Name> {
        self.judged(app, metrics, Kept::worst())
    }

    /// The verdict with a judgement for every subject, including those without a finding.
    #[must_use]
    pub fn judge_all(&self, app: &Application, metrics: &Metrics) -> Verdict<Name> {
        self.judged(app, metrics, Kept::all())
    }

    fn judged(&self, app: &Application, metrics: &Metrics, mut kept: Kept) -> Verdict<Name> {
        let engine = self.over.engine().or(self.engine);
        if engine.is_some_and(|engine| engine != app.engine) || !self.only_for.applies_to(app) {
            return Verdict::NotApplicable;
        }
        let work = Cell::new(0);
        let (mut first_reason, mut is_too_expensive) = (None, false);
        Judged::each(app, self.over, &mut |judged| {
            match self.judge(Scope { app, metrics, judged, values: Vec::new(), work: &work }) {
                Ok(Some(judgement)) => kept.add(judgement),
                Ok(None) => {}
                Err(Unjudged::NotEvaluated(reason)) => first_reason = first_reason.take().or(Some(reason)),
                Err(Unjudged::TooExpensive) => {
                    is_too_expensive = true;
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if is_too_expensive {
            return Verdict::NotEvaluated(too_expensive(app));
        }
        match (kept.judgements.is_empty(), first_reason) {
            (true, Some(reason)) => Verdict::NotEvaluated(reason),
            (true, None) => Verdict::NotApplicable,
            _ => kept.told(),
        }
    }

    /// The judgement on one subject; `None` if the rule's condition does not hold.
    fn judge<'w>(&'w self, mut scope: Scope<'_, 'w>) -> Result<Option<Judgement<Name>>, Unjudged> {
        let outside = Inner::default();
        if !scope.judged.any_unreadable(scope.app).and(self.reads).is_empty() {
            let why = scope.app.unreadable_counters(|kind| self.reads(kind));
            return Err(Unjudged::NotEvaluated(why.unwrap_or_default()));
        }
        if scope.spend(scope.judged.preparation()).is_err() {
            return Err(Unjudged::TooExpensive);
        }
        let mut groups = scope.judged.groups(scope.app);
        if self.names_counters && groups.any(|group| group.attempts.has_unreadable_others()) {
            return Err(Unjudged::NotEvaluated(UNREADABLE.to_owned()));
        }
        match self.when.as_ref().map(|when| when.flag(&scope, outside)) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => return Ok(None),
            Some(Err(Gap::TooExpensive)) => return Err(Unjudged::TooExpensive),
            Some(Err(gap)) => return Err(Unjudged::NotEvaluated(reason(gap, "when", &scope))),
        }
        // A rule runs on each subject, so their number counts as well.
        if scope.spend(self.values.iter().map(|value| value.node.cost()).sum()).is_err() {
            return Err(Unjudged::TooExpensive);
        }
        for value in &self.values {
            let known = value.node.eval(&scope, outside);
            if matches!(known, Err(Gap::TooExpensive)) {
                return Err(Unjudged::TooExpensive);
            }
            scope.values.push(known);
        }
        let decided = self.severity.severity(&mut |place| self.limit(place, &scope));
        let (severity, by) = decided.map_err(Unjudged::NotEvaluated)?;
        Ok(Some(self.judgement(&scope, severity, by)))
    }

    /// The severity by one threshold.
    pub(super) fn limit(&self, place: usize, scope: &Scope<'_, '_>) -> Result<Severity, String> {
        let Some(DefinedLimit { name, value, limit, .. }) = self.limits.get(place) else {
            return Ok(Severity::None);
        };
        match scope.values.get(*value) {
            Some(Ok(Value::Number(number))) => Ok(limit.severity(*number)),
            Some(Err(gap)) => Err(reason(*gap, name, scope)),
            _ => Err(format!("{name} is not a number")),
        }
    }

    fn judgement(&self, scope: &Scope<'_, '_>, severity: Severity, by: usize) -> Judgement<Name> {
        let limit = self.decisive(scope, severity, by);
        let tasks = match self.score_tasks.as_ref().map(|node| node.number(scope, Inner::default())) {
            Some(Ok(number)) => number.as_u64(),
            _ => scope.judged.task_count(scope.app),
        };
        let advice = self.advice.iter().filter(|advice| {
            advice.when.as_ref().is_none_or(|when| matches!(when.flag(scope, Inner::default()), Ok(true)))
        });
        let statement = self.message.fill(scope);
        Judgement {
            severity,
            subject: scope.judged.subject(),
            tasks,
            message: format!("{statement} ({limit})"),
            statement,
            evidence: self.evidence(scope),
            advice: match severity {
                Severity::None => Vec::new(),
                _ => advice.map(|advice| advice.told(scope)).collect(),
            },
            tells: None,
            repartition: None,
            of_more_parts: false,
            also_about: Vec::new(),
            in_queries: Vec::new(),
            conditions: None,
            failure: None,
        }
    }

    /// The deciding threshold, in words.
    fn decisive(&self, scope: &Scope<'_, '_>, severity: Severity, by: usize) -> String {
        let describe = |limit: &DefinedLimit, level| {
            let cutoff = limit.limit.judge.describe(level, limit.limit.in_percent);
            if self.limits.len() == 1 { cutoff } else { format!("{} {cutoff}", limit.name) }
        };
        if severity > Severity::None {
            return self.limits.get(by).map(|limit| describe(limit, severity)).unwrap_or_default();
        }
        let mut harmless = Limits::default();
        self.severity.thresholds(&mut |place| {
            if matches!(self.limit(place, scope), Ok(Severity::None)) {
                harmless.add(self.limits.get(place).map(|limit| describe(limit, Severity::Low)));
            }
        });
        format!("not reached: {harmless}")
    }

    /// The values, each with its name and the unit as suffix.
    pub(super) fn evidence(&self, scope: &Scope<'_, '_>) -> Vec<(Name, Measure)> {
        let mut evidence = Vec::with_capacity(self.values.len());
        for (value, known) in self.values.iter().zip(&scope.values) {
            let measure = match known {
                Ok(Value::Number(number)) => {
                    value.kind.unit().unwrap_or(super::unit::Unit::NUMBER).measure(*number)
                }
                Ok(Value::Text(text)) => Some(Measure::Text(shorten(text))),
                Ok(Value::Flag(flag)) => Some(Measure::Text(flag.to_string())),
                Ok(Value::Groups(_)) => None,
                Err(_) => value.kind.unit().map(super::unit::Unit::unknown),
            };
            evidence.extend(measure.map(|measure| (Cow::Owned(key(&value.name, &measure)), measure)));
        }
        evidence
    }
}

impl super::definition::Advice {
    /// The advice with the settings whose values are known and not in force already.
    fn told(&self, scope: &Scope<'_, '_>) -> Advice {
        let changes = self.set.iter().filter_map(|(name, value)| {
            let to = value.fill_known(scope)?.trim().to_owned();
            let change = change(scope.app, name, to);
            let is_new = change.from.as_ref().is_none_or(|from| !from.eq_ignore_ascii_case(&change.to));
            is_new.then_some(change)
        });
        Advice::new(self.text.fill(scope)).set(changes)
    }
}

/// The change of a setting, by the name that the application uses for it.
fn change(app: &Application, name: &str, to: String) -> SettingChange {
    if let Some(key) = ConfKey::named(name) {
        return wording::change(app, key, to);
    }
    let from = app.conf.setting(name).map(|from| secrets::shown(name, &from).to_owned());
    SettingChange { setting: name.to_owned(), from, to }
}

/// A value's name with the suffix of its unit.
fn key(name: &str, measure: &Measure) -> String {
    let ending = measure.key_ending();
    if name.ends_with(ending) { name.to_owned() } else { format!("{name}{ending}") }
}

/// The judgements that are kept, all or the worst.
struct Kept {
    judgements: Vec<Judgement<Name>>,
    /// How many are kept while there may be more; `None` for all.
    most: Option<usize>,
    /// The number of findings.
    found: usize,
}

impl Kept {
    fn all() -> Self {
        Self { judgements: Vec::new(), most: None, found: 0 }
    }

    fn worst() -> Self {
        Self { most: Some(MAX_FINDINGS), ..Self::all() }
    }

    fn add(&mut self, judgement: Judgement<Name>) {
        self.found += usize::from(judgement.severity > Severity::None);
        self.judgements.push(judgement);
        // An application may have a million operators.
        if let Some(most) = self.most.filter(|most| self.judgements.len() > most * SPARE) {
            self.keep_worst(most);
        }
    }

    /// Keeps the first of the worst.
    fn keep_worst(&mut self, most: usize) {
        self.judgements.sort_by_key(|judgement| std::cmp::Reverse(judgement.severity));
        self.judgements.truncate(self.found.clamp(1, most));
    }

    /// All judgements, or the worst; if nothing was found, one judgement of severity none.
    fn told(mut self) -> Verdict<Name> {
        let Some(most) = self.most else { return Verdict::Several(self.judgements) };
        self.keep_worst(most);
        let more = self.found.saturating_sub(most);
        if more > 0
            && let Some(last) = self.judgements.last_mut()
        {
            let are = if more == 1 { "is 1" } else { &format!("are {more}") };
            last.message = format!("{}; there {are} more of this kind", last.message);
        }
        match <[Judgement<Name>; 1]>::try_from(self.judgements) {
            Ok([one]) => Verdict::Judged(one),
            Err(several) => Verdict::Several(several),
        }
    }
}

fn too_expensive(app: &Application) -> String {
    format!(
        "too expensive: {} tasks need more than {} steps of the rule",
        app.task_count(),
        super::scope::MAX_WORK
    )
}
