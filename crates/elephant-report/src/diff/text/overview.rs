//! The answer over all pairs, and a row for each job.

use std::io;

use super::{LISTED, Page};
use crate::diff::words::{answer, change, hint, moved, paired, run_times, value};
use crate::words::plural;
use crate::wrap::clean;
use elephant_engine::diff::{Diff, Figure, JobPairs, Move, Pair};

impl Page<'_> {
    /// The change over all pairs, and the rules whose findings changed.
    pub(super) fn answer(&mut self, diff: &Diff) -> io::Result<()> {
        self.heading(diff)?;
        let moved = moved(diff.pairs.iter().flat_map(|pair| &pair.findings));
        if moved.is_empty() { Ok(()) } else { self.paragraph(0, &format!("findings: {moved}")) }
    }

    /// Whether B is better or worse, and how many pairs there are.
    fn heading(&mut self, diff: &Diff) -> io::Result<()> {
        match diff.pairs.as_slice() {
            [] => {}
            [pair] => self.paragraph(0, &run_times(pair))?,
            _ => self.paragraph(0, &answer(&diff.total()))?,
        }
        self.paragraph(0, &paired(diff))?;
        hint(diff).map_or(Ok(()), |hint| self.paragraph(0, hint))
    }

    /// The heading, and a row for each of the jobs that changed most.
    pub(super) fn overview(&mut self, diff: &Diff, jobs: &[JobPairs<'_>]) -> io::Result<()> {
        self.heading(diff)?;
        self.blank()?;
        if jobs.is_empty() {
            return Ok(());
        }
        let mut grid = self.grid("run time");
        let most = self.most(LISTED);
        for job in jobs.iter().take(most) {
            let run_time = job.total.run_time();
            let show = |pick: fn(&Figure) -> Option<f64>| {
                run_time.map(|figure| value(figure.unit, pick(figure))).unwrap_or_default()
            };
            let name = job.changed.first().map(|pair| clean(&pair.b.job)).unwrap_or_default();
            let change = run_time.map(change).unwrap_or_default();
            let (a, b) = (show(|figure| figure.a), show(|figure| figure.b));
            grid.row([name.into(), a.into(), b.into(), change.into()]);
            for note in notes(job) {
                grid.note(6, note);
            }
        }
        grid.write(self.columns, self.out)?;
        if let Some(more) = jobs.len().checked_sub(most).filter(|&more| more > 0) {
            self.paragraph(
                4,
                &format!("… and {} (--top, --details)", plural(more as u64, "more changed job")),
            )?;
        }
        self.blank()
    }
}

/// The number of pairs in a row, the range of their changes, and the pair that changed most; then the
/// findings.
fn notes(job: &JobPairs<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if job.pairs.len() > 1 {
        let mut parts = vec![format!("{} in total", plural(job.pairs.len() as u64, "pair"))];
        if job.changed.len() < job.pairs.len() {
            parts.push(format!("{} changed", job.changed.len()));
        }
        parts.extend(range(&job.pairs));
        parts.extend(job.changed.first().map(|pair| largest(pair)));
        notes.push(parts.join("; "));
    }
    let found = findings(job);
    if !found.is_empty() {
        notes.push(found);
    }
    notes
}

/// "run times from −3 % to +44 %"; `None` unless two pairs have different changes.
fn range(pairs: &[&Pair]) -> Option<String> {
    let known = pairs.iter().filter_map(|pair| pair.run_time().filter(|figure| figure.change().is_some()));
    let mut known: Vec<&Figure> = known.collect();
    known.sort_by(|one, other| {
        one.change().unwrap_or_default().total_cmp(&other.change().unwrap_or_default())
    });
    let (least, most) =
        (known.first().map(|figure| change(figure))?, known.last().map(|figure| change(figure))?);
    let named = |text: String| if text == "=" { "0 %".to_owned() } else { text };
    (least != most && !least.is_empty() && !most.is_empty())
        .then(|| format!("run times from {} to {}", named(least), named(most)))
}

/// "largest change: app-1 took 59.4 s, app-2 3m 51s".
fn largest(pair: &Pair) -> String {
    let (a, b) = (clean(&pair.a.id), clean(&pair.b.id));
    match pair.run_time() {
        Some(figure) if figure.a.is_some() && figure.b.is_some() => {
            let (took, takes) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
            format!("largest change: {a} took {took}, {b} took {takes}")
        }
        _ => format!("largest change: from {a} to {b}"),
    }
}

/// "new: spark-skew in 3; gone: spark-executor-gc": the rules whose findings changed, and in how many pairs of several.
fn findings(job: &JobPairs<'_>) -> String {
    let of = |wanted: Move| {
        let rules: Vec<String> = job
            .moved(wanted)
            .into_iter()
            .map(|(rule, pairs)| match job.pairs.len() {
                1 => clean(rule),
                _ => format!("{} in {pairs}", clean(rule)),
            })
            .collect();
        (!rules.is_empty()).then(|| format!("{}: {}", wanted.name(), rules.join(", ")))
    };
    let moves = [Move::Came, Move::Worse, Move::Better, Move::Went];
    moves.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}
