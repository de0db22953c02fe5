//! `speculation-waste`: time wasted on speculative copies that lost their race (S2 section 4, S0 tables 2
//! and 3).

use super::support::groups::tasks;
use super::support::speculation_settings::defaults;
use crate::declare::any as rule;
use elephant_analysis::stragglers::detect::spark::SparkSpeculation;
use elephant_analysis::stragglers::speculation::Copies;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{Advice, Judgement, Measure, SettingChange, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Unit as _};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, decisive, percent};

/// Spark 4 copies tasks later, and fewer of them, than earlier versions.
const CAREFUL: SparkSpeculation = SparkSpeculation::V4;

rule_params! {
    /// Parameters of `speculation-waste`.
    pub(super) struct Waste / WasteLayer {
        /// Time of losing speculative copies / time of all attempts.
        lost_share: Ascending<Ratio>,
        /// Time of losing speculative copies. Small jobs lose little, however large the share.
        lost_time: Ascending<Duration>,
        /// Copies launched, whatever they took. Few copies that win cost little, so the time lost decides by default.
        many_copies: Ascending<Count>,
        /// The share of the running tasks of a MapReduce job that advice lets Hadoop copy: half of its default.
        copied_share: Quantity<Ratio>,
        /// The number of tasks that Hadoop may copy whatever that share: a fifth of its default.
        copied_tasks: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "speculation-waste", "Speculation Waste", tells Speculation, Waste, |layers, _| load(layers, Lost))
        .measured_by("lost_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{copies} launched, {copies_won_count} won; losing copies took {lost_by_copies_time_ms}, \
    {lost_ratio:%} of all task time ({limit})";

struct Lost(Waste);

impl Check for Lost {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let of_groups: Vec<(TaskKind, Copies)> =
            app.groups.iter().map(|group| (group.kind, Copies::of(group))).collect();
        let all = of_groups.iter().fold(Copies::default(), |sum, (_, copies)| sum.and(*copies));
        if all.launched == 0 {
            return Verdict::NotApplicable;
        }
        let Some(share) = all.lost_share() else {
            return Verdict::NotEvaluated("no attempt has a run time".to_owned());
        };
        let low = Severity::Low;
        let by_share = params.lost_share.severity(share);
        let by_time = params.lost_time.severity(all.lost_by_copies.as_f64());
        let by_copies = params.many_copies.severity(all.launched as f64);
        let by_loss = by_share.min(by_time);
        let severity = by_loss.max(by_copies);
        let level = severity.max(low);
        let limits = [
            (by_share, params.lost_share.describe_in(level, percent)),
            (by_time, params.lost_time.describe(level)),
        ];
        let limit = if by_copies > by_loss {
            params.many_copies.describe_in(level, |cutoff| format!("{} copies", Count::show(cutoff)))
        } else {
            decisive(severity, &limits)
        };
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .fact("copies_count", Measure::Count(all.launched))
            .fact("copies_won_count", Measure::Count(all.won))
            .fact("lost_attempts_untold_count", Measure::Count(all.unknown_duration))
            .fact("lost_time_ms", Measure::Time(all.lost))
            .fact("lost_by_copies_time_ms", Measure::Time(all.lost_by_copies))
            .fact("task_time_ms", Measure::Time(all.all))
            .fact("lost_ratio", Measure::Ratio(Some(share)))
            .message(MESSAGE, &[("copies", &copies(all.launched)), ("limit", &limit)])
            .advice(|| advice(app, &of_groups, params))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// "1 copy", "2 copies".
fn copies(count: u64) -> String {
    format!("{count} {}", if count == 1 { "copy" } else { "copies" })
}

/// The settings for fewer copies at a time. None in Hadoop 1, which has neither application masters nor their
/// settings.
fn fewer_copies(app: &Application, params: &Waste) -> Vec<SettingChange> {
    if app.masters.is_empty() {
        return Vec::new();
    }
    let (share, number) = (params.copied_share.get(), params.copied_tasks.get());
    let (of_running, at_least) = (ConfKey::SpeculativeCapRunning, ConfKey::SpeculativeMinimum);
    let of_running =
        app.conf.fraction(of_running).is_none_or(|now| now > share).then(|| change(app, of_running, share));
    let at_least = app
        .conf
        .integer(at_least)
        .is_none_or(|now| now as f64 > number)
        .then(|| change(app, at_least, number));
    of_running.into_iter().chain(at_least).collect()
}

fn advice(app: &Application, groups: &[(TaskKind, Copies)], params: &Waste) -> Vec<Advice> {
    match app.engine {
        Engine::Spark => {
            let defaults = defaults(app);
            let multiplier = app.conf.fraction(ConfKey::SpeculationMultiplier).unwrap_or(defaults.multiplier);
            let quantile = app.conf.fraction(ConfKey::SpeculationQuantile).unwrap_or(defaults.quantile);
            let mut changes = Vec::new();
            if multiplier < CAREFUL.multiplier {
                changes.push(change(app, ConfKey::SpeculationMultiplier, CAREFUL.multiplier));
            }
            if quantile < CAREFUL.quantile {
                changes.push(change(app, ConfKey::SpeculationQuantile, CAREFUL.quantile));
            }
            if changes.is_empty() {
                vec![
                    "tasks are already copied late: the copies lost because they were not faster; \
                     `elephant-rs stragglers` shows why the originals were slow"
                        .into(),
                ]
            } else {
                vec![Advice::new("start speculative copies later, and of fewer tasks").set(changes)]
            }
        }
        Engine::Tez => {
            let off = change(app, ConfKey::TezSpeculation, false);
            vec![Advice::new("disable speculative execution").set([off])]
        }
        Engine::MapReduce => {
            let lost = |kind| {
                groups
                    .iter()
                    .find(|(known, _)| *known == kind)
                    .map(|(_, copies)| copies.lost_by_copies)
                    .unwrap_or_default()
            };
            let (maps, reduces) = (lost(TaskKind::Map), lost(TaskKind::Reduce));
            let (key, which) = if maps >= reduces {
                (ConfKey::MapSpeculative, "map tasks")
            } else {
                (ConfKey::ReduceSpeculative, "reduce tasks")
            };
            let fewer = fewer_copies(app, params);
            let disable = |what: &str| {
                Advice::new(format!("{what} speculative execution for the {which}, which lost most"))
                    .set([change(app, key, false)])
            };
            if fewer.is_empty() {
                return vec![disable("disable")];
            }
            let fewer = Advice::new("copy fewer tasks at a time")
                .set(fewer)
                .and(" (by default Hadoop copies up to 10 % of the running tasks, but always up to 10)");
            vec![fewer, disable("or disable").conditional()]
        }
    }
}
