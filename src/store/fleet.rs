//! All applications of a store as one picture.

use super::selection::Selection;
use super::{Grouped, Grouping, Nodes, OverTime, Periods, Realised, Store, StoreError};
use crate::engine::Filter;

/// What all applications used and wasted, how that went on, and what can be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fleet {
    /// `None` if no submission is known.
    pub(crate) periods: Option<Periods>,
    /// All applications in each period.
    pub(crate) over_time: OverTime,
    pub(crate) jobs: Ranked,
    pub(crate) users: Ranked,
    pub(crate) queues: Ranked,
    pub(crate) troubles: Grouped,
    pub(crate) remedies: Vec<Remedy>,
    /// How many settings are recommended, shown or not.
    pub(crate) remedies_of: u64,
    pub(crate) realised: Vec<Realised>,
    /// How many changes of configurations were clear, shown or not.
    pub(crate) realised_of: u64,
    /// What all of them saved together, shown or not.
    pub(crate) realised_gb_hours: f64,
    pub(crate) nodes: Nodes,
    pub(crate) unread: Vec<Unread>,
    /// Files that could not be read, shown or not.
    pub(crate) unread_of: u64,
}

/// Groups with what each of them used and wasted over time, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) grouped: Grouped,
    pub(crate) over_time: Vec<OverTime>,
}

/// A setting that would help, over all applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remedy {
    pub(crate) setting: String,
    pub(crate) applications: u64,
    pub(crate) jobs: u64,
    /// The most frequent change: the value now, if it is set, and the recommended one.
    pub(crate) from: Option<String>,
    pub(crate) to: String,
    /// How many applications would change it so.
    pub(crate) alike: u64,
}

/// Files with the same problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) problem: String,
    pub(crate) files: u64,
    /// The first of them by name.
    pub(crate) example: String,
}

impl Store {
    /// The picture of the applications that `filter` admits, with at most `most` lines in each list.
    pub(super) fn fleet(&self, filter: &Filter, most: usize) -> Result<Fleet, StoreError> {
        let (from, until) = self.period(filter)?;
        let periods = from.zip(until).and_then(|(from, until)| Periods::between(from, until));
        let over_time = |grouping, groups: &Grouped| match &periods {
            Some(periods) => self.over_time(grouping, groups, periods, filter),
            None => Ok(Vec::new()),
        };
        let ranked = |grouping| {
            let grouped = self.grouped(grouping, filter, Some(most))?;
            let over_time = over_time(grouping, &grouped)?;
            Ok::<_, StoreError>(Ranked { grouped, over_time })
        };
        let everything = self.grouped(Grouping::Everything, filter, None)?;
        let mut realised = self.realised(filter)?;
        let (realised_of, realised_gb_hours) =
            (realised.len() as u64, realised.iter().map(|change| change.saved_gb_hours).sum());
        realised.truncate(most);
        let (remedies, remedies_of) = self.remedies(filter, most)?;
        let (unread, unread_of) = self.unread(most)?;
        Ok(Fleet {
            over_time: over_time(Grouping::Everything, &everything)?.pop().unwrap_or_default(),
            jobs: ranked(Grouping::Job)?,
            users: ranked(Grouping::User)?,
            queues: ranked(Grouping::Queue)?,
            troubles: self.grouped(Grouping::Trouble, filter, Some(most))?,
            remedies,
            remedies_of,
            realised,
            realised_of,
            realised_gb_hours,
            nodes: self.nodes(filter, most)?,
            unread,
            unread_of,
            periods,
        })
    }

    /// The settings that are recommended to most applications, and how many settings there are.
    fn remedies(&self, filter: &Filter, most: usize) -> Result<(Vec<Remedy>, u64), StoreError> {
        let selection = Selection::of(&self.connection, filter)?;
        let mut statement = self.connection.prepare(&format!(
            "SELECT setting.name, setting.old, setting.new, count(*), group_concat(DISTINCT job) FROM setting JOIN \
             application USING (application) WHERE {} GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC, 2, 3",
            selection.condition
        ))?;
        let mut rows = statement.query(&*selection.values())?;
        let mut remedies: Vec<(Remedy, std::collections::BTreeSet<String>)> = Vec::new();
        while let Some(row) = rows.next()? {
            let setting: String = row.get(0)?;
            let count = row.get::<_, i64>(3)?.max(0).cast_unsigned();
            let jobs: String = row.get(4)?;
            let jobs = jobs.split(',').map(str::to_owned);
            if let Some((known, all)) = remedies.last_mut().filter(|(known, _)| known.setting == setting) {
                known.applications += count;
                all.extend(jobs);
            } else {
                let (from, to) = (row.get(1)?, row.get(2)?);
                let remedy = Remedy { setting, applications: count, jobs: 0, from, to, alike: count };
                remedies.push((remedy, jobs.collect()));
            }
        }
        let counted = remedies.into_iter().map(|(remedy, jobs)| Remedy { jobs: jobs.len() as u64, ..remedy });
        let mut remedies: Vec<Remedy> = counted.collect();
        // The sort is stable: of equal ones, the first by name comes first.
        remedies.sort_by_key(|remedy| std::cmp::Reverse((remedy.applications, remedy.jobs)));
        let of = remedies.len() as u64;
        remedies.truncate(most);
        Ok((remedies, of))
    }

    /// Why files could not be read, most files first, and how many files that are.
    fn unread(&self, most: usize) -> Result<(Vec<Unread>, u64), StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT problem, count(*), min(path) FROM file WHERE problem IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
        )?;
        let unread = statement.query_map([], |row| {
            Ok(Unread {
                problem: row.get(0)?,
                files: row.get::<_, i64>(1)?.max(0).cast_unsigned(),
                example: String::from_utf8_lossy(&row.get::<_, Vec<u8>>(2)?).into_owned(),
            })
        })?;
        let mut unread = unread.collect::<Result<Vec<_>, _>>()?;
        let of = unread.iter().map(|kind| kind.files).sum();
        unread.truncate(most);
        Ok((unread, of))
    }
}
