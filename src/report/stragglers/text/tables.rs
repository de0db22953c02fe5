//! Impact and causes over all applications.

use std::io::{self, Write};

use super::{Page, SERVERS, of, or_unknown, percent, seconds};
use crate::report::stragglers::text::counted;
use crate::report::stragglers::words;
use crate::report::wrap::clean;
use crate::stragglers::impact::Impact;

impl Page<'_> {
    /// Table 2 of Garraghan et al. (2019), by the median and by the mean.
    pub(super) fn impact(&self, out: &mut dyn Write) -> io::Result<()> {
        let total = &self.report.total;
        let (median, mean) = (&total.by_median, &total.by_mean);
        if median.tasks == 0 {
            return Ok(());
        }
        self.heading("Impact of stragglers            by the median     by the mean", out)?;
        let mut row = |name: &str, value: &dyn Fn(&Impact) -> String| {
            writeln!(out, "  {name:<28} {:>15} {:>15}", value(median), value(mean))
        };
        row("tasks that were stragglers", &|impact| of(impact.stragglers, impact.tasks))?;
        row("applications with stragglers", &|impact| of(impact.jobs_hit, impact.jobs))?;
        row("median time above it", &|impact| or_unknown(impact.median_excess.map(seconds)))?;
        row("delay after slowest other", &|impact| or_unknown(impact.median_job_delay.map(seconds)))?;
        row("extra task time", &|impact| or_unknown(impact.extra_compute.map(percent)))?;
        row("servers with stragglers", &|impact| of(impact.servers_hit, impact.servers))?;
        if let Some(waste) = total.speculation_waste.filter(|&waste| waste > 0.0) {
            self.paragraph(&format!("Losing attempts took {} of the task time.", percent(waste)), 2, out)?;
        }
        if median.servers_hit > 0 && median.servers > 1 {
            let named: Vec<String> = median
                .worst_servers
                .iter()
                .take(SERVERS)
                .map(|(node, ran)| {
                    format!("{} ({} of {})", clean(node), ran.stragglers, counted(ran.tasks, "task"))
                })
                .collect();
            self.paragraph(&format!("Most stragglers ran on {}.", named.join(", ")), 2, out)?;
        }
        writeln!(out)
    }

    pub(super) fn causes(&self, out: &mut dyn Write) -> io::Result<()> {
        let counts = &self.report.total.causes;
        if counts.stragglers() == 0 {
            return Ok(());
        }
        self.heading("Causes                            stragglers  share  apps  confidence", out)?;
        let mut found: Vec<_> = counts.shares().filter(|&(_, count, _)| count > 0).collect();
        found.sort_by_key(|&(cause, count, _)| (std::cmp::Reverse(count), cause));
        for (cause, count, share) in found {
            let share = share.map(|share| format!("{share:.0} %")).unwrap_or_default();
            let (name, apps) = (cause.display_name(), counts.applications_with(cause));
            let line = format!("  {name:<34} {count:>7} {share:>6} {apps:>5}");
            let confidence = counts.confidence(cause).to_string();
            if line.len() + 2 + confidence.len() <= self.columns {
                writeln!(out, "{}", format!("{line}  {confidence}").trim_end())?;
            } else {
                writeln!(out, "{line}\n    {confidence}")?;
            }
        }
        writeln!(out)
    }

    /// Stragglers by the day of submission (figures 5 and 6, and table 3 of Garraghan et al.).
    pub(super) fn days(&self, out: &mut dyn Write) -> io::Result<()> {
        let days = &self.report.total.days;
        if days.len() < 2 {
            return Ok(());
        }
        self.heading("Days               applications    tasks  stragglers  DoS >= 2.5  DoS >= 10", out)?;
        for day in days {
            writeln!(
                out,
                "  {:<16} {:>12} {:>8} {:>11} {:>11} {:>10}",
                words::date(day.begin).unwrap_or_default(),
                day.applications,
                day.tasks,
                day.stragglers,
                or_unknown(day.dos.map(|(report, _)| report.to_string())),
                or_unknown(day.dos.map(|(_, diagnose)| diagnose.to_string()))
            )?;
        }
        for correlation in &self.report.total.correlations {
            let text = format!(
                "{} and {}: correlation {:.2} over the days (of stragglers with a DoS-index of 10 or more, each counted for one cause).",
                correlation.one.display_name(),
                correlation.other.display_name(),
                correlation.pearson
            );
            self.paragraph(&text, 2, out)?;
        }
        writeln!(out)
    }
}
