//! The overview: recurring jobs, and waste by job, user, queue and day.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::draw::{HEIGHT, MIN_BAR, Part, WIDTH};
use super::filters::cut_text;
use super::piece::WorstRun;
use super::{LONG_NAME, Page};
use crate::totals::saved_by_all;
use elephant_base::severity::Severity;
use elephant_base::units::{MbMillis, Millis, Timestamp, show_gb_hours};
use elephant_engine::results::{GroupName, JobGroup, JobTotal, Report, Rollup, Waste};

/// The recurring jobs that are listed.
const MOST_JOBS: usize = 20;
/// The choice of a filter for applications without the property.
const UNKNOWN: &str = "(unknown)";
/// A trend has room for at least this many bars.
const LEAST_BARS: usize = 10;
/// The kinds of trouble that are listed for a job.
const MOST_KINDS: usize = 4;

impl Page<'_> {
    /// The jobs with several runs, in the order of the report.
    pub(super) fn jobs(&self) -> Vec<JobRow<'_>> {
        let currency = self.report.currency.as_deref();
        let row = |job| JobRow { job, currency, worst: self.runs.get(&job.group) };
        self.recurring().take(MOST_JOBS).map(row).collect()
    }

    pub(super) fn jobs_left_out(&self) -> u64 {
        self.recurring().count().saturating_sub(MOST_JOBS) as u64
    }

    fn recurring(&self) -> impl Iterator<Item = &JobTotal> {
        recurring(self.report)
    }

    /// Rollups that have more than one group, so that there is something to compare.
    pub(super) fn rollups(&self) -> Vec<RollupView<'_>> {
        let rollups = &self.report.totals.rollups;
        let all = [
            ("job", "Job", &rollups.jobs),
            ("user", "User", &rollups.users),
            ("queue", "Queue", &rollups.queues),
            ("day", "Day", &rollups.days),
        ];
        let names_users = rollups.users.groups.len() > 1;
        let views =
            all.into_iter().map(|(key, title, rollup)| RollupView { key, title, rollup, names_users });
        views.filter(|view| view.rollup.groups.len() > 1 && view.most() > MbMillis::ZERO).collect()
    }
}

/// The jobs with several runs.
fn recurring(report: &Report) -> impl Iterator<Item = &JobTotal> {
    report.totals.jobs.iter().filter(|job| job.runs > 1)
}

/// The jobs in the table that have findings, and their severities: their worst runs are named.
pub(super) fn with_findings(report: &Report) -> FxHashMap<JobGroup, Severity> {
    let jobs = recurring(report).take(MOST_JOBS).filter(|job| job.severity > Severity::None);
    jobs.map(|job| (job.group, job.severity)).collect()
}

/// A row of the table of recurring jobs.
pub(super) struct JobRow<'a> {
    pub(super) job: &'a JobTotal,
    /// The run that has the severity of the job, if it is in the report.
    pub(super) worst: Option<&'a WorstRun>,
    currency: Option<&'a str>,
}

impl JobRow<'_> {
    pub(super) fn name(&self) -> &str {
        self.job.name.as_deref().unwrap_or_default()
    }

    /// The filter that shows the runs, the last one first.
    pub(super) fn filter(&self) -> String {
        format!("{}&sort=-started", job_filter(self.job.job.as_str(), self.job.user.as_deref()))
    }

    /// The run times of the last runs as bars: place and height, in SVG units. `None` if fewer than two are known.
    pub(super) fn trend(&self) -> Option<Trend> {
        let times = &self.job.run_times;
        let known = times.iter().flatten();
        let (least, most) = (known.clone().min()?, known.clone().max()?);
        if known.count() < 2 {
            return None;
        }
        // Two bars as wide as the drawing would look like areas.
        let width = WIDTH / times.len().max(LEAST_BARS) as f64;
        let bar = |(place, time): (usize, &Option<Millis>)| {
            let height = time.map(|time| (time.as_f64() / most.as_f64().max(1.0) * HEIGHT).max(MIN_BAR))?;
            Some((Part { x: place as f64 * width, width: width * 0.8 }, height))
        };
        let bars = times.iter().enumerate().filter_map(bar).collect();
        let text = if least == most { most.to_string() } else { format!("{least} to {most}") };
        Some(Trend { bars, text })
    }

    pub(super) fn last_started(&self) -> Option<Timestamp> {
        self.job.last_started
    }

    /// The saving of the remedies over all runs.
    pub(super) fn saves(&self) -> Option<String> {
        let savings = &self.job.savings;
        (savings.estimated_count > 0).then(|| saved_by_all(savings, self.currency))
    }

    /// "Skew in 28, Spill in 3".
    pub(super) fn kinds(&self) -> String {
        let kinds = &self.job.troubles;
        let shown = kinds.iter().take(MOST_KINDS).map(|(kind, runs)| format!("{} in {runs}", kind.words()));
        let mut shown = shown.collect::<Vec<_>>().join(", ");
        if let more @ 1.. = kinds.len().saturating_sub(MOST_KINDS) {
            let _ = write!(shown, " and {more} more");
        }
        shown
    }
}

/// Run times of a job.
pub(super) struct Trend {
    /// The bars and their heights, the first run first.
    pub(super) bars: Vec<(Part, f64)>,
    /// "10 s to 20 s".
    pub(super) text: String,
}

/// Used and wasted memory of groups of applications, as bars.
pub(super) struct RollupView<'a> {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) rollup: &'a Rollup,
    /// Whether the names of jobs need their users.
    names_users: bool,
}

/// One bar.
pub(super) struct RollupRow {
    pub(super) name: Option<String>,
    /// For a job, if there are several users.
    pub(super) user: Option<String>,
    pub(super) filter: String,
    pub(super) waste: Waste,
    pub(super) used: Part,
    pub(super) wasted: Part,
}

impl RollupView<'_> {
    /// The end of the axis. The sum of all other groups may be longer than any bar, so it has none.
    fn most(&self) -> MbMillis {
        self.rollup.groups.iter().map(|(_, waste)| waste.used).max().unwrap_or_default()
    }

    /// "By day: the 31 that waste most".
    pub(super) fn caption(&self) -> String {
        match (self.key, self.rollup.others) {
            ("day", Some(_)) => format!("By day: the {} that waste most", self.rollup.groups.len()),
            (key, _) => format!("By {key}"),
        }
    }

    pub(super) fn ticks(&self) -> Vec<String> {
        let most = self.most().as_gb_hours();
        // The axis of a single figure is short, so it has only two numbers, and the unit at the last one.
        let [half, whole] = [most / 2.0, most].map(elephant_base::units::show_hours);
        vec!["0".to_owned(), half, format!("{whole} GB·h")]
    }

    pub(super) fn rows(&self) -> Vec<RollupRow> {
        let most = self.most();
        let part = |amount: MbMillis| Part {
            x: 0.0,
            width: amount.share_of(most).unwrap_or_default().min(1.0) * WIDTH,
        };
        let row = |(group, waste): &(GroupName, Waste)| {
            let (name, user) = (group.name.as_deref(), group.user.as_deref());
            let is_job = self.key == "job";
            let filter = match name {
                Some(name) if is_job => job_filter(name, user),
                Some(name) => parameter(self.key, &cut_text(name, LONG_NAME)),
                None => parameter(self.key, UNKNOWN),
            };
            RollupRow {
                name: name.map(|name| cut_text(name, if is_job { usize::MAX } else { LONG_NAME })),
                user: user.filter(|_| self.names_users).map(|user| cut_text(user, LONG_NAME)),
                filter,
                waste: *waste,
                used: part(waste.used),
                wasted: part(waste.wasted),
            }
        };
        self.rollup.groups.iter().map(row).collect()
    }

    /// "12 more: 3.4 of 41.2 GB·h wasted".
    pub(super) fn others(&self) -> Option<String> {
        let (groups, waste) = self.rollup.others?;
        let [wasted, used] = [waste.wasted, waste.used].map(show_gb_hours);
        Some(format!("{groups} more: {wasted} of {used} GB·h wasted"))
    }
}

/// The filter that shows the runs of a job by a user.
fn job_filter(job: &str, user: Option<&str>) -> String {
    let user = user.map(|user| format!("&{}", parameter("user", &cut_text(user, LONG_NAME))));
    format!("{}{}", parameter("job", &cut_text(job, usize::MAX)), user.unwrap_or_default())
}

/// `name=value` as a part of an address.
pub(super) fn parameter(name: &str, value: &str) -> String {
    let mut text = format!("{name}=");
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_a_parameter() {
        assert_eq!(parameter("job", "spark · a&b=c"), "job=spark%20%C2%B7%20a%26b%3Dc");
    }
}
