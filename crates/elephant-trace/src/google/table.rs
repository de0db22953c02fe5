//! The table `job_events`: when jobs were submitted and ended, and how many job names each logical name has.
//!
//! All of it is read before the first task, so nothing here depends on the order of its lines or files.

use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::attempts::Moment;
use super::super::lines::{Columns, Refusal, Unusable};
use super::{Event, event, time};
use elephant_base::limits::{Held, LimitReached, Limits};
use elephant_model::model::table::Outcome;
use elephant_model::model::{Interner, Status, Symbol};

/// The data on a job.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) submitted: Option<Moment>,
    pub(super) finished: Option<Moment>,
    pub(super) status: Status,
    pub(super) user: Option<Symbol>,
    /// The logical name, which is the same in all runs of a program.
    name: Option<Symbol>,
}

/// The table.
#[derive(Default)]
pub(super) struct JobTable {
    jobs: FxHashMap<u64, Told>,
    /// Users and logical names.
    texts: Interner,
    names: JobNames,
    /// The number of entries when they were last compared with the limits.
    compared: usize,
}

impl JobTable {
    /// Adds a line.
    ///
    /// # Errors
    /// If it cannot be used.
    pub(super) fn add(&mut self, columns: &Columns<'_>) -> Result<(), Unusable> {
        let at = time(columns)?.known();
        let id = columns.whole(3).ok_or(Unusable(3, "a job's id"))?;
        let event = event(columns, 4)?;
        let intern = |texts: &mut Interner, text: Option<&str>| text.and_then(|text| texts.intern(text));
        let told = self.jobs.entry(id).or_default();
        told.user = told.user.or_else(|| intern(&mut self.texts, columns.name(5)));
        let logical = intern(&mut self.texts, columns.name(8));
        told.name = told.name.or(logical);
        if let (Some(logical), Some(name)) = (logical, columns.name(7)) {
            self.names.add(logical, name);
        }
        match event {
            Event::Submit => told.submitted = told.submitted.or(at),
            Event::Schedule | Event::Update => {}
            Event::End(outcome) => {
                told.finished = told.finished.max(at);
                told.status = match outcome {
                    Outcome::Succeeded => Status::Succeeded,
                    Outcome::Failed => Status::Failed,
                    Outcome::Killed => Status::Killed,
                    Outcome::Unfinished => Status::Unknown,
                };
            }
        }
        Ok(())
    }

    /// Compares its size with the limits. If one is reached, job names are unknown: the rest of them is not read.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(super) fn within(&mut self, limits: &Limits) -> Result<(), Refusal> {
        let entries = self.jobs.len() + self.names.seen.len();
        if entries.abs_diff(self.compared) < 1000 {
            return Ok(());
        }
        self.compared = entries;
        let mut held = Held::within(limits);
        held.add(self.jobs.len() * size_of::<(u64, Told)>());
        held.add(self.texts.held());
        held.add(self.names.held());
        held.beyond().map_or(Ok(()), |reached: LimitReached| {
            self.names.give_up();
            Err(Refusal::Limit(reached))
        })
    }

    /// The data on a job, if the table has it.
    pub(super) fn job(&self, id: u64) -> Option<&Told> {
        self.jobs.get(&id)
    }

    /// The symbol of a user.
    pub(super) fn intern(&mut self, user: &str) -> Option<Symbol> {
        self.texts.intern(user)
    }

    /// The text of a symbol.
    pub(super) fn text(&self, symbol: Option<Symbol>) -> Option<String> {
        self.texts.get(symbol?).map(str::to_owned)
    }

    /// The logical name of a job, and the number of job names with it.
    pub(super) fn name(&self, told: &Told) -> (Option<String>, Option<u64>) {
        (self.text(told.name), told.name.and_then(|name| self.names.count(name)))
    }
}

/// The number of job names by logical name.
#[derive(Default)]
struct JobNames {
    /// A hash of each logical name and job name, 8 bytes instead of a name of 44. Of a million names, one is missed with
    /// a probability of 10⁻⁷.
    seen: FxHashSet<u64>,
    counts: FxHashMap<Symbol, u64>,
    is_cut_off: bool,
}

impl JobNames {
    fn add(&mut self, logical: Symbol, name: &str) {
        let mut hasher = DefaultHasher::new();
        (logical, name).hash(&mut hasher);
        if !self.is_cut_off && self.seen.insert(hasher.finish()) {
            *self.counts.entry(logical).or_default() += 1;
        }
    }

    /// `None` if no job name is known, or not all are.
    fn count(&self, logical: Symbol) -> Option<u64> {
        self.counts.get(&logical).copied()
    }

    fn held(&self) -> usize {
        self.seen.len() * size_of::<u64>() + self.counts.len() * size_of::<(Symbol, u64)>()
    }

    fn give_up(&mut self) {
        *self = Self { is_cut_off: true, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use elephant_base::units::Bytes;

    /// A line of the table with these ids of a job, a job name and a logical name; 0 is an empty text.
    fn line((job, name, logical): (u64, u8, u8)) -> String {
        let text = |start: &str, id: u8| if id == 0 { String::new() } else { format!("{start}{id}") };
        format!("0,,{job},0,user,2,{},{}", text("job", name), text("logical", logical))
    }

    fn table(lines: &[(u64, u8, u8)]) -> JobTable {
        let mut table = JobTable::default();
        for &row in lines {
            assert!(table.add(&Columns::of(line(row).as_bytes())).is_ok());
        }
        table
    }

    fn found(table: &JobTable, job: u64) -> (Option<String>, Option<u64>) {
        table.name(table.job(job).unwrap())
    }

    #[test]
    fn job_names_are_counted_once_each_for_their_logical_name() {
        // Job 1 has two events, and jobs 3 and 4 the same name.
        let table =
            table(&[(1, 1, 1), (2, 2, 1), (1, 1, 1), (3, 3, 2), (4, 3, 2), (5, 3, 1), (6, 9, 0), (7, 0, 7)]);
        assert_eq!(found(&table, 1), (Some("logical1".to_owned()), Some(3)));
        assert_eq!(found(&table, 4), (Some("logical2".to_owned()), Some(1)));
        // Without a logical name or a job name, nothing is known.
        assert_eq!((found(&table, 6), found(&table, 7)), ((None, None), (Some("logical7".to_owned()), None)));
        assert!(table.job(8).is_none());
    }

    #[test]
    fn a_limit_makes_the_number_of_job_names_unknown() {
        let limits = Limits { memory: Some(Bytes::new(40_000)), ..Limits::NONE };
        let mut table = JobTable::default();
        let refused = (0..5_000u64).find(|&job| {
            let text = format!("0,,{job},0,user,2,job{job},logical");
            assert!(table.add(&Columns::of(text.as_bytes())).is_ok());
            matches!(table.within(&limits), Err(Refusal::Limit(LimitReached::Memory(_))))
        });
        assert!(refused.is_some_and(|job| (499..1_500).contains(&job)), "{refused:?}");
        assert_eq!(found(&table, 0), (Some("logical".to_owned()), None));
        // Further files are not counted either.
        assert!(table.add(&Columns::of(line((9_000, 1, 1)).as_bytes())).is_ok());
        assert_eq!(found(&table, 9_000).1, None);
    }

    proptest! {
        #[test]
        fn the_order_of_lines_does_not_matter(
            lines in prop::collection::vec((0..8u64, 0..5u8, 0..4u8), 0..40).prop_shuffle(),
        ) {
            let mut names: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
            for &(_, name, logical) in lines.iter().filter(|line| line.1 > 0 && line.2 > 0) {
                names.entry(logical).or_default().insert(name);
            }
            let mut backwards = lines.clone();
            backwards.reverse();
            for table in [table(&lines), table(&backwards)] {
                for &(job, ..) in &lines {
                    let (name, count) = found(&table, job);
                    let logical = name.map(|name| name["logical".len()..].parse::<u8>().unwrap());
                    let expected = logical.and_then(|logical| names.get(&logical)).map(|names| names.len() as u64);
                    prop_assert_eq!(count, expected);
                }
            }
        }
    }
}
