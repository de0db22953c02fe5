//! Jobs with their runs, as sections of a page: a table of all runs, and details of some.

use super::{Block, Cell, Column, Media, Row, Section, Table};
use crate::words::{more, plural};

/// Jobs that are listed.
pub(crate) const MAX_JOBS: usize = 500;
/// Runs of a job that are listed.
const MAX_RUNS: usize = 100;
/// Jobs in the navigation.
const LINKED: usize = 3;

/// A run of a job, or a pair of runs.
pub(crate) struct Run<T> {
    /// The id of its details, the same in each report.
    pub(crate) id: String,
    pub(crate) of: T,
    pub(crate) is_detailed: bool,
    /// Whether its details are left out, not missing.
    is_left_out: bool,
}

/// A job with its runs.
pub(crate) struct Job<'a, T> {
    /// The id of its section, the same in each report.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) user: Option<&'a str>,
    /// The one that is worth most attention comes first.
    pub(crate) runs: Vec<Run<T>>,
}

/// How many runs are shown with details.
pub(crate) struct Details {
    left: usize,
    of_job: usize,
}

impl Details {
    /// At most `all` runs, and `of_job` of each job if there are several.
    pub(crate) const fn new(all: usize, of_job: usize, jobs: usize) -> Self {
        Self { left: all, of_job: if jobs == 1 { all } else { of_job } }
    }

    /// The runs of a job, with details of the first ones that have some.
    pub(crate) fn runs<T>(
        &mut self,
        runs: impl IntoIterator<Item = T>,
        mut id: impl FnMut(&T) -> String,
        has_details: impl Fn(&T) -> bool,
    ) -> Vec<Run<T>> {
        let most = self.of_job.min(self.left);
        let run = |(place, of): (usize, T)| {
            let (id, has) = (id(&of), has_details(&of));
            Run { id, of, is_detailed: has && place < most, is_left_out: has && place >= most }
        };
        let runs: Vec<Run<T>> = runs.into_iter().enumerate().map(run).collect();
        self.left -= runs.iter().filter(|run| run.is_detailed).count();
        runs
    }
}

/// What the runs of a job are called.
pub(crate) struct Names {
    /// Runs in the table.
    pub(crate) table: &'static str,
    /// "run is" and "runs are".
    pub(crate) rows: [&'static str; 2],
    /// The same of runs without details.
    pub(crate) others: [&'static str; 2],
    /// How to see details of others.
    pub(crate) hint: &'static str,
}

impl<'a, T> Job<'a, T> {
    /// "30 runs, 2 changed, alice". The user is named because two users may have jobs with the same name.
    pub(crate) fn about(&self, runs: u64, what: &str, rest: Option<String>) -> String {
        let count = (runs > 1).then(|| plural(runs, what));
        [count, rest, self.user.map(str::to_owned)].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The section of the job. Its table is left out for a single run with details. The first cell of a row is the name of
    /// the run.
    pub(crate) fn section(
        &self,
        (place, about): (usize, String),
        told: Option<String>,
        names: &Names,
        (columns, row): (Vec<Column>, impl Fn(&Run<T>) -> Vec<Cell<'a>>),
        part: impl Fn(&Run<T>) -> Section<'a>,
    ) -> Section<'a> {
        let link = if place < LINKED { self.name.as_str() } else { "" };
        let rows: &[Run<T>] = match self.runs.as_slice() {
            [only] if only.is_detailed => &[],
            runs => runs.get(..MAX_RUNS).unwrap_or(runs),
        };
        let of_run = |run: &Run<T>| {
            let mut cells = row(run).into_iter();
            let name = cells.next().map(|name| if run.is_detailed { name.link(&run.id) } else { name });
            let row = Row::new(name.into_iter().chain(cells));
            if run.is_detailed { row } else { row.id(&run.id) }
        };
        let table = (!rows.is_empty())
            .then(|| Block::Table(Table::new(columns, rows.iter().map(of_run)).named(names.table)));
        let note = |count: usize, [one, several]: [&str; 2], rest: &str| {
            (count > 0).then(|| Block::Note(format!("{} {rest}", more(count as u64, one, several))))
        };
        let left_out = self.runs.len().saturating_sub(MAX_RUNS);
        let others = self.runs.iter().filter(|run| run.is_left_out).count();
        let hint = format!("only in the table. {}The JSON report has all.", names.hint);
        let section = Section::job(&self.id, link, &self.name, about)
            .only(Media::HTML, told.map(Block::Told))
            .only(Media::HTML, table)
            .only(Media::HTML, note(left_out, names.rows, "not shown; the JSON report has all."));
        let detailed = self.runs.iter().filter(|run| run.is_detailed).map(|run| Block::Part(part(run)));
        detailed
            .fold(section, |section, part| section.only(Media::HTML, part))
            .only(Media::HTML, note(others, names.others, &hint))
    }
}
