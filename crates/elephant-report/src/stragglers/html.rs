//! The survey as one HTML file: the answer, a table of all jobs, causes, detectors, and for each job its runs, with
//! histograms of causes and the slowest tasks of those that waited longest.

mod application;
mod causes;
mod days;
mod detectors;
mod jobs;

use std::io::{self, Write};

use askama::Template;

use super::{Shown, sentences};
use crate::html::filters::{self, counted, grouped};
use crate::html::frame::{self, Code};
use causes::{CauseRow, Palette};
use days::DayRow;
use detectors::DetectorsView;
use elephant_analysis::stragglers::impact::Impact;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{StragglerReport, Total, Waiting};
use jobs::{JobView, Listed};

/// Days that are listed.
const MAX_DAYS: usize = 60;

/// What the columns of days count.
const DAYS: &str = "The causes next to the day are those of all stragglers. The columns of the DoS-index (time per input over that of the group) count tasks, including those with so little input that they took no longer than others. The last column has the causes of the stragglers with an index of 10 or more.";

/// Servers that are named.
const MAX_SERVERS: usize = 5;

/// Writes the first jobs, and the first tasks of each group.
pub(super) fn write(report: &StragglerReport, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    let palette = Palette::of(&report.total.causes);
    let Listed { jobs, left_out } = jobs::listed(report, shown);
    Page { report, jobs, jobs_left_out: left_out, palette }.write_into(out)
}

#[derive(Template)]
#[template(path = "stragglers.html")]
struct Page<'a> {
    report: &'a StragglerReport,
    /// The jobs with stragglers that are listed, in the order of the report.
    jobs: Vec<JobView<'a>>,
    jobs_left_out: u64,
    palette: Palette,
}

/// A line of the table of costs.
struct Cost {
    name: &'static str,
    median: String,
    mean: String,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT, frame::JOBS];

    /// The answer in one line.
    fn headline(&self) -> String {
        let Total { tasks, stragglers, .. } = self.report.total;
        match (tasks, stragglers) {
            (0, _) => "No task can be judged".to_owned(),
            (_, 0) => format!("None of {} is a straggler", counted(tasks, "task")),
            (_, 1) => format!("1 of {} is a straggler", counted(tasks, "task")),
            _ => format!("{} of {} are stragglers", grouped(stragglers), counted(tasks, "task")),
        }
    }

    /// How long applications waited for stragglers.
    fn waited(&self) -> Option<String> {
        let waiting = &self.report.total.waiting;
        let stragglers = self.report.total.stragglers;
        if waiting.is_empty() {
            return (stragglers > 0).then(|| sentences::NO_WAIT.to_owned());
        }
        let (waited, delay) = (self.report.total.applications_waiting, Waiting::total(waiting));
        Some(format!("{} waited {delay} only for stragglers.", counted(waited, "application")))
    }

    fn all_causes(&self) -> Option<String> {
        sentences::all_causes(&self.report.total)
    }

    fn slow_nodes(&self) -> Option<String> {
        sentences::slow_nodes(self.report)
    }

    fn waiting(&self) -> &[Waiting] {
        &self.report.total.waiting
    }

    fn causes(&self) -> Vec<CauseRow> {
        self.palette.rows()
    }

    /// The last days of submission, if there are several.
    fn days(&self) -> Vec<DayRow<'a>> {
        let days = &self.report.total.days;
        let days = days.get(days.len().saturating_sub(MAX_DAYS)..).filter(|days| days.len() > 1);
        days.unwrap_or_default().iter().map(|day| DayRow::of(day, &self.palette)).collect()
    }

    /// The correlations of causes over the days.
    fn correlations(&self) -> Vec<String> {
        self.report.total.correlations.iter().map(sentences::correlation).collect()
    }

    fn days_left_out(&self) -> u64 {
        self.report.total.days.len().saturating_sub(MAX_DAYS) as u64
    }

    /// Table 2 of Garraghan et al. (2019), by the median and by the mean.
    fn costs(&self) -> Vec<Cost> {
        let total = &self.report.total;
        let row = |name, value: &dyn Fn(&Impact) -> String| Cost {
            name,
            median: value(&total.by_median),
            mean: value(&total.by_mean),
        };
        vec![
            row("tasks that were stragglers", &|impact| part(impact.stragglers, impact.tasks)),
            row("applications with stragglers", &|impact| part(impact.jobs_hit, impact.jobs)),
            row("median excess of stragglers", &|impact| seconds(impact.median_excess)),
            row("delay after the slowest other task", &|impact| seconds(impact.median_job_delay)),
            row("extra task time", &|impact| percent(impact.extra_compute)),
            row("nodes with stragglers", &|impact| part(impact.servers_hit, impact.servers)),
        ]
    }

    /// "Most stragglers ran on …".
    fn servers(&self) -> Option<String> {
        let impact = &self.report.total.by_median;
        let named = impact.worst_servers.iter().take(MAX_SERVERS).map(|(node, ran)| {
            format!(
                "{} ({} of {})",
                filters::cut_text(node, 80),
                grouped(ran.stragglers),
                counted(ran.tasks, "task")
            )
        });
        let named: Vec<String> = named.collect();
        (impact.servers_hit > 0 && impact.servers > 1)
            .then(|| format!("Most stragglers ran on {}.", named.join(", ")))
    }

    fn waste(&self) -> Option<String> {
        let waste = self.report.total.speculation_waste.filter(|&waste| waste > 0.0)?;
        Some(format!("Losing attempts took {} of the task time.", percent(Some(waste))))
    }

    fn detectors(&self) -> Vec<DetectorsView<'a>> {
        self.report.total.engines.iter().filter_map(DetectorsView::of).collect()
    }

    /// The usual time from which a task counts as a straggler for the detectors.
    fn usual_factor(&self) -> String {
        three_digits(self.report.settings.usual.factor)
    }

    /// Whether there is something to compare.
    fn has_several(&self) -> bool {
        self.jobs.len() > 1
    }

    /// "12 applications without stragglers.": those that are not on the page.
    fn without(&self) -> Option<String> {
        sentences::without(self.report, "", grouped).map(|text| format!("{text}."))
    }

    /// The jobs of traces that are not listed.
    fn unlisted(&self) -> Option<String> {
        (self.report.unlisted > 0).then(|| sentences::unlisted(self.report))
    }
}

/// A time in a table; empty if there is none.
fn waited(delay: Millis) -> String {
    if delay > Millis::ZERO { delay.to_string() } else { String::new() }
}

/// "12 (3 %)".
fn part(part: u64, whole: u64) -> String {
    let share = (whole > 0).then(|| format!(" ({:.0}\u{a0}%)", 100.0 * part as f64 / whole as f64));
    format!("{}{}", grouped(part), share.unwrap_or_default())
}

fn seconds(seconds: Option<f64>) -> String {
    let time = seconds.and_then(|seconds| Millis::from_f64(1000.0 * seconds));
    time.map_or_else(|| "unknown".to_owned(), |time| time.to_string())
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "unknown".to_owned(), |share| format!("{}\u{a0}%", three_digits(100.0 * share)))
}
