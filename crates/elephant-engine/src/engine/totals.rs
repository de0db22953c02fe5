//! Sums over all applications of a report, and the rules with most findings.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::results::{
    ApplicationReport, CauseSums, JobGroup, JobSums, NotEvaluatedTotal, RollupSums, RuleTotal, Totals,
};
use elephant_base::severity::Severity;
use elephant_rule::finding::{Name, NotEvaluated};
use elephant_verdict::savings;

/// Adds up applications one by one, in any order.
#[derive(Debug, Default)]
pub(super) struct Sums {
    totals: Totals,
    jobs: JobSums,
    causes: CauseSums,
    rollups: RollupSums,
    rules: BTreeMap<Name, RuleTotal>,
    not_evaluated: BTreeMap<Name, BTreeMap<String, u64>>,
}

impl Sums {
    /// Returns the job that the application belongs to.
    pub(super) fn add(&mut self, app: &ApplicationReport) -> JobGroup {
        add(&mut self.totals, app);
        for NotEvaluated { rule, reason } in &app.not_evaluated {
            let reasons = self.not_evaluated.entry(rule.clone()).or_default();
            match reasons.get_mut(reason) {
                Some(applications) => *applications += 1,
                None => drop(reasons.insert(reason.clone(), 1)),
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        for finding in app.findings.iter().filter(|finding| finding.severity > Severity::None) {
            let total = self.rules.entry(finding.rule.clone()).or_insert_with(|| RuleTotal {
                rule: finding.rule.clone(),
                title: finding.title.clone(),
                worst: Severity::None,
                applications: 0,
                findings: [0; 5],
                score: 0,
            });
            total.worst = total.worst.max(finding.severity);
            total.score = total.score.saturating_add(finding.score);
            count(&mut total.findings, finding.severity);
            if !seen.contains(&finding.rule.as_ref()) {
                seen.push(&finding.rule);
                total.applications += 1;
            }
        }
        self.rollups.add(app);
        let job = self.jobs.add(app);
        self.causes.add(app, job);
        job
    }

    pub(super) fn finish(self) -> Totals {
        let mut rules: Vec<_> = self.rules.into_values().collect();
        rules.sort_by_key(|total| (Reverse(total.worst), Reverse(total.score), Reverse(total.applications)));
        let mut not_evaluated: Vec<_> = (self.not_evaluated.into_iter())
            .flat_map(|(rule, reasons)| {
                reasons.into_iter().map(move |(reason, applications)| NotEvaluatedTotal {
                    rule: rule.clone(),
                    reason,
                    applications,
                })
            })
            .collect();
        not_evaluated.sort_by_key(|total| Reverse(total.applications));
        let jobs = self.jobs.finish();
        let first_savings = (jobs.len() > Totals::FIRST_JOBS).then(|| {
            let mut first = savings::Sums::default();
            jobs.iter().take(Totals::FIRST_JOBS).for_each(|job| first.add_all(&job.savings));
            first
        });
        let rollups = self.rollups.finish();
        let causes = self.causes.finish();
        Totals { first_savings, jobs, causes, rollups, rules, not_evaluated, ..self.totals }
    }
}

fn add(totals: &mut Totals, app: &ApplicationReport) {
    let metrics = &app.metrics;
    totals.used = totals.used + metrics.used.unwrap_or_default();
    totals.wasted = totals.wasted + metrics.wasted.unwrap_or_default();
    totals.used_unknown += u64::from(metrics.used.is_none());
    totals.wasted_unknown += u64::from(metrics.wasted.is_none());
    totals.incomplete += u64::from(!app.complete);
    if let Some((used, _)) = metrics.used.zip(metrics.wasted) {
        totals.used_where_waste_is_known = totals.used_where_waste_is_known + used;
    }
    app.troubles.iter().for_each(|trouble| totals.savings.add(&trouble.savings));
    count(&mut totals.applications, app.severity);
}

fn count(counts: &mut [u64; 5], severity: Severity) {
    if let Some(count) = usize::try_from(severity.value()).ok().and_then(|place| counts.get_mut(place)) {
        *count += 1;
    }
}
