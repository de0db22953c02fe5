//! Impact and causes over all applications.

use std::io::{self, Write};

use super::{Page, SERVERS, of, or_unknown, percent, seconds};
use crate::grid::{Column, Grid};
use crate::stragglers::text::counted;
use crate::stragglers::{sentences, words};
use crate::wrap::clean;
use elephant_analysis::stragglers::impact::Impact;

impl Page<'_> {
    /// Table 2 of Garraghan et al. (2019), by the median and by the mean.
    pub(super) fn impact(&self, out: &mut dyn Write) -> io::Result<()> {
        let total = &self.report.total;
        let (median, mean) = (&total.by_median, &total.by_mean);
        if median.tasks == 0 {
            return Ok(());
        }
        let numbers = ["by the median", "by the mean"].map(|title| Column::number(title, 15));
        let names = [Column::key("Impact of stragglers", 28, usize::MAX)];
        let mut grid = Grid::new(2, names.into_iter().chain(numbers)).heading(self.bold());
        let mut row = |name: &str, value: &dyn Fn(&Impact) -> String| {
            grid.row([name.into(), value(median).into(), value(mean).into()]);
        };
        row("tasks that were stragglers", &|impact| of(impact.stragglers, impact.tasks));
        row("applications with stragglers", &|impact| of(impact.jobs_hit, impact.jobs));
        row("median excess of stragglers", &|impact| or_unknown(impact.median_excess.map(seconds)));
        row("delay after slowest other task", &|impact| or_unknown(impact.median_job_delay.map(seconds)));
        row("extra task time", &|impact| or_unknown(impact.extra_compute.map(percent)));
        row("nodes with stragglers", &|impact| of(impact.servers_hit, impact.servers));
        grid.write(self.columns, out)?;
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
        let mut grid = Grid::new(
            2,
            [
                Column::key("Causes", 20, 34),
                Column::number("stragglers", 10),
                Column::number("share", 6),
                Column::number("apps", 5),
                Column::text("confidence", 10),
            ],
        )
        .heading(self.bold());
        for (count, share) in counts.by_frequency() {
            grid.row([
                count.cause.display_name().into(),
                count.primary.to_string().into(),
                format!("{share:.0} %").into(),
                count.applications.to_string().into(),
                count.confidence().to_string().into(),
            ]);
        }
        grid.write(self.columns, out)?;
        writeln!(out)
    }

    /// Stragglers by the day of submission (figures 5 and 6, and table 3 of Garraghan et al.).
    pub(super) fn days(&self, out: &mut dyn Write) -> io::Result<()> {
        let days = &self.report.total.days;
        if days.len() < 2 {
            return Ok(());
        }
        let mut grid = Grid::new(
            2,
            [
                Column::key("Days", 16, usize::MAX),
                Column::number("applications", 12),
                Column::number("tasks", 8),
                Column::number("stragglers", 11),
                Column::number("DoS >= 2.5", 11),
                Column::number("DoS >= 10", 10),
            ],
        )
        .heading(self.bold());
        for day in days {
            grid.row([
                words::date(day.begin).unwrap_or_default().into(),
                day.applications.to_string().into(),
                day.tasks.to_string().into(),
                day.stragglers.to_string().into(),
                or_unknown(day.dos.map(|(report, _)| report.to_string())).into(),
                or_unknown(day.dos.map(|(_, diagnose)| diagnose.to_string())).into(),
            ]);
        }
        grid.write(self.columns, out)?;
        for correlation in &self.report.total.correlations {
            self.paragraph(&sentences::correlation(correlation), 2, out)?;
        }
        writeln!(out)
    }
}
