//! Turns the tasks of an application into z-scores of hosts.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::losses::Losses;
use super::run::{Host, Run};
use super::score::ZScale;
use super::settings::Settings;
use crate::conditions::{Conditions, Facts, StageNames};
use elephant_analysis::stragglers::cause::faults::{Faults, hosts_of_lost_executors};
use elephant_analysis::stragglers::executions::overtaken_originals;
use elephant_analysis::stragglers::labels::multiple;
use elephant_base::state::State;
use elephant_base::stats::descriptive::median;
use elephant_base::stats::strata::Strata;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Interner, Symbol, job_type};
use elephant_trace::{Attempt, Job};

const MILLIS_OF_A_DAY: i64 = 86_400_000;

/// A day (UTC) as the number of days since 1970-01-01. Day 0 is not allowed; no log is that old.
pub type DayNumber = NonZeroU16;

/// The hosts of all applications. Host numbers depend on the order in which applications are read, so reports
/// must not depend on them.
#[derive(Debug, Default)]
pub struct Hosts(Mutex<HostTable>);

#[derive(Debug, Default)]
struct HostTable {
    numbers: FxHashMap<Box<str>, u32>,
    racks: Vec<Option<Box<str>>>,
}

/// The name of a host, and its rack.
pub(super) type NamedHost = (Box<str>, Option<Box<str>>);

impl Hosts {
    /// Finds or adds the host of this name; `None` if there are 2³² hosts already. If several racks are
    /// logged, the first by name is kept.
    #[must_use]
    pub fn host(&self, name: &str, rack: Option<&str>) -> Option<Host> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = if let Some(&number) = table.numbers.get(name) {
            number
        } else {
            let number = u32::try_from(table.racks.len()).ok()?;
            table.numbers.insert(name.into(), number);
            table.racks.push(None);
            number
        };
        if let (Some(known), Some(rack)) = (table.racks.get_mut(number as usize), rack)
            && known.as_deref().is_none_or(|known| rack < known)
        {
            *known = Some(rack.into());
        }
        Some(Host::new(number))
    }

    /// The names and racks of all hosts in the order of their names, and the place of each host in that order.
    #[must_use]
    pub(super) fn in_places(&self) -> (Vec<NamedHost>, Vec<Host>) {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<(&str, u32)> = table.numbers.iter().map(|(name, host)| (&**name, *host)).collect();
        names.sort_unstable();
        let mut places = vec![Host::new(0); names.len()];
        for (place, (_, number)) in (0..).zip(&names) {
            if let Some(slot) = places.get_mut(Host::new(*number).index()) {
                *slot = Host::new(place);
            }
        }
        let rack = |number: u32| table.racks.get(Host::new(number).index()).cloned().flatten();
        (names.into_iter().map(|(name, number)| (name.into(), rack(number))).collect(), places)
    }

    /// All hosts with name and rack, sorted by name.
    #[must_use]
    pub(crate) fn into_sorted(self) -> Vec<(Box<str>, Option<Box<str>>, Host)> {
        let HostTable { numbers, mut racks } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut hosts: Vec<(Box<str>, Host)> =
            numbers.into_iter().map(|(name, number)| (name, Host::new(number))).collect();
        hosts.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let rack = |racks: &mut Vec<Option<Box<str>>>, host: Host| racks.get_mut(host.index())?.take();
        hosts.into_iter().map(|(name, host)| (name, rack(&mut racks, host), host)).collect()
    }
}

/// The z-scores of one application. Rows are small because tens of thousands of applications may be in
/// memory.
#[derive(Debug, Clone, Default, State)]
pub struct Sample {
    /// Successful attempts, and originals that a copy overtook, with a known host, group by group.
    pub rows: Vec<Row>,
    /// The groups they come from.
    pub groups: GroupCounts,
    /// Stragglers on each host and on others, group by group.
    pub peers: Vec<(Host, Strata)>,
    /// What was lost on which hosts.
    pub losses: Vec<(Host, Losses)>,
    /// Executors of each host and of others, and those that were lost.
    pub executors: Vec<(Host, Strata)>,
}

/// An attempt with its z-score.
#[derive(Debug, Clone, Copy, PartialEq, State)]
pub struct Row {
    /// Its deviation from the group's mean duration, in standard deviations.
    pub score: f64,
    /// The host it ran on.
    pub host: Host,
    /// The day it started on.
    pub day: Option<DayNumber>,
    /// Whether it was a straggler in its group.
    pub straggler: bool,
    /// Whether a copy overtook it: it was killed, and would have had a greater z-score.
    pub overtaken: bool,
}

/// Counts of task groups by how they were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct GroupCounts {
    /// Groups whose tasks have z-scores.
    pub used: u64,
    /// Groups with too few successful tasks.
    pub too_small: u64,
    /// Groups whose tasks all have the same duration.
    pub without_spread: u64,
    /// Successful attempts in the groups used.
    pub tasks: u64,
    /// Originals that a copy overtook, and that were stragglers by then. They count in addition, for the node on which
    /// they ran.
    pub overtaken: u64,
    /// Tasks whose node is not logged. They count towards their group, but not towards any node.
    pub tasks_without_node: u64,
}

impl GroupCounts {
    /// Adds the counts of other groups.
    pub(crate) fn add(&mut self, other: Self) {
        self.used += other.used;
        self.too_small += other.too_small;
        self.without_spread += other.without_spread;
        self.tasks += other.tasks;
        self.overtaken += other.overtaken;
        self.tasks_without_node += other.tasks_without_node;
    }
}

impl Sample {
    /// The z-scores of an application's tasks: successful attempts of map tasks, reduce tasks and stages,
    /// each group on its own. Originals and winning copies count alike, each for its own host. An original that its
    /// copy overtook counts, too, because a node whose tasks are all overtaken has no successful attempt.
    #[must_use]
    pub fn of(app: &Application, hosts: &Hosts, settings: &Settings, conditions: &Conditions) -> Self {
        let mut sample = Self::default();
        let mut names = Names { hosts, strings: &app.strings, known: Vec::new() };
        let stages = StageNames::of(app, conditions);
        let job_type = job_type(app);
        for group in &app.groups {
            let tasks = group.tasks.len() as u64;
            let name = stages.name(group.kind);
            let facts = Facts { job_type, kind: Some(group.kind), name, tasks, job_names: None };
            let is_work = !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup);
            if is_work && conditions.admit_group(&facts) {
                let mut runs = runs(group, &mut names);
                runs.retain(|run| conditions.admit_start(run.start));
                sample.add_group(&runs, settings);
            }
        }
        sample.losses = losses(app, &mut names);
        sample.executors = executors(app, &mut names);
        sample.rows.shrink_to_fit();
        sample.add_up_peers();
        sample
    }

    /// The z-scores of a job of a trace. Traces do not log losses.
    #[must_use]
    pub(crate) fn of_job(
        job: &Job,
        machines: &Interner,
        hosts: &Hosts,
        settings: &Settings,
        conditions: &Conditions,
    ) -> Self {
        let mut sample = Self::default();
        for group in &job.groups {
            let tasks = tasks_of(&group.attempts);
            let (name, job_names) = (Some(group.label.as_str()), job.job_names);
            let facts = Facts { job_type: None, kind: None, name, tasks, job_names };
            if !conditions.admit_group(&facts) {
                continue;
            }
            let run = |(attempt, time): (Attempt, Millis)| {
                let machine = attempt.machine().and_then(|machine| machines.get(machine));
                let host = machine.and_then(|name| hosts.host(name, None));
                Run { host, start: job.started_at(attempt), time, overtaken: false }
            };
            let mut runs: Vec<Run> = Job::runs(group).map(run).collect();
            runs.retain(|run| conditions.admit_start(run.start));
            sample.add_group(&runs, settings);
        }
        sample.add_up_peers();
        sample
    }

    /// Replaces each host by its entry in `numbers`; `None` if a host has no entry.
    #[must_use]
    pub(super) fn renumbered(mut self, numbers: &[Host]) -> Option<Self> {
        let new = |host: &mut Host| {
            *host = *numbers.get(host.index())?;
            Some(())
        };
        self.rows.iter_mut().try_for_each(|row| new(&mut row.host))?;
        self.peers.iter_mut().try_for_each(|(host, _)| new(host))?;
        self.losses.iter_mut().try_for_each(|(host, _)| new(host))?;
        self.executors.iter_mut().try_for_each(|(host, _)| new(host))?;
        // The sorts are stable.
        self.executors.sort_by_key(|&(host, _)| host);
        self.peers.sort_by_key(|&(host, _)| host);
        self.losses.sort_by_key(|&(host, _)| host);
        Some(self)
    }

    /// Merges `peers` into one entry per host, because an application may have a hundred thousand groups.
    fn add_up_peers(&mut self) {
        // The sort is stable, so each host's sums are made in the order of the groups.
        self.peers.sort_by_key(|&(host, _)| host);
        self.peers.dedup_by(|(host, more), (kept, sum)| {
            let same = host == kept;
            if same {
                *sum += *more;
            }
            same
        });
        self.peers.shrink_to_fit();
    }

    /// Adds the attempts of one group. Only successful ones determine the mean, the deviation and the median, so
    /// overtaken ones change no other z-score.
    pub fn add_group(&mut self, runs: &[Run], settings: &Settings) {
        let seconds = |run: &Run| run.time.as_f64() / 1000.0;
        let times: Vec<f64> = runs.iter().filter(|run| !run.overtaken).map(seconds).collect();
        if times.is_empty() {
            return;
        }
        if times.len() < settings.min_group {
            self.groups.too_small += 1;
            return;
        }
        let Some(scale) = ZScale::of(&times, 1) else {
            self.groups.without_spread += 1;
            return;
        };
        // With a median of 0, no limit makes sense.
        let limit =
            median(&times).filter(|&usual| usual > 0.0).map(|usual| multiple(settings.straggler, usual));
        self.groups.used += 1;
        self.groups.tasks += times.len() as u64;
        let is_straggler = |run: &Run| limit.is_some_and(|limit| seconds(run) >= limit);
        // If an overtaken original had not become a straggler yet, it is unknown whether it would have been one.
        let counts = |run: &&Run| !run.overtaken || is_straggler(run);
        let labels = runs.iter().filter(counts).map(|run| (run.host, is_straggler(run)));
        self.peers.extend(Strata::of_stratum(labels));
        for run in runs.iter().filter(counts) {
            let overtaken = run.overtaken;
            self.groups.overtaken += u64::from(overtaken);
            let Some(host) = run.host else {
                self.groups.tasks_without_node += u64::from(!overtaken);
                continue;
            };
            let (straggler, day) = (is_straggler(run), run.start.and_then(day_of));
            self.rows.push(Row { score: scale.score(seconds(run)), host, day, straggler, overtaken });
        }
    }
}

/// The number of tasks with these attempts, which are sorted by task.
fn tasks_of(attempts: &[Attempt]) -> u64 {
    attempts.chunk_by(|one, other| one.task() == other.task()).count() as u64
}

/// What was lost on each host.
fn losses(app: &Application, names: &mut Names) -> Vec<(Host, Losses)> {
    let executors = hosts_of_lost_executors(app).map(|node| (node, Losses { executors: 1, failures: 0 }));
    let faults = Faults::of(app);
    let failures = faults.counts().filter(|&(_, failures)| failures > 0);
    let failures = failures.map(|(node, failures)| (node, Losses { executors: 0, failures }));
    executors.chain(failures).filter_map(|(node, losses)| Some((names.host(node, None)?, losses))).collect()
}

/// The executors of each host, and those of them that were lost, beside those of other hosts.
fn executors(app: &Application, names: &mut Names) -> Vec<(Host, Strata)> {
    let mut counts: BTreeMap<Host, (u64, u64)> = BTreeMap::new();
    let all = app.spark.iter().flat_map(|spark| &spark.executors).filter_map(|executor| executor.host);
    for host in all.filter_map(|host| names.host(host, None)) {
        counts.entry(host).or_default().0 += 1;
    }
    for host in hosts_of_lost_executors(app).filter_map(|host| names.host(host, None)) {
        counts.entry(host).or_default().1 += 1;
    }
    let sum = counts
        .values()
        .fold((0, 0), |(all, lost), (of_host, lost_of_host)| (all + of_host, lost + lost_of_host));
    // Where nothing was lost, or on the only host, there is nothing to compare.
    let compared = counts.into_iter().filter(|(_, (of_host, _))| sum.1 > 0 && *of_host < sum.0);
    compared.map(|(host, of_host)| (host, Strata::of_part(of_host, sum))).collect()
}

/// The successful attempts of a group, then the originals that a copy overtook.
fn runs(group: &TaskGroup, names: &mut Names) -> Vec<Run> {
    let attempts = &group.attempts;
    let mut run = |row: usize, time: Millis, overtaken: bool| {
        let rack = attempts.rack(row);
        let host = attempts.node(row).and_then(|node| names.host(node, rack));
        Run { host, start: attempts.time(row, TimePoint::Start), time, overtaken }
    };
    let successful = group.winners().filter_map(|row| Some((row, attempts.run_time(row)?)));
    let mut runs: Vec<Run> = successful.map(|(row, time)| run(row, time, false)).collect();
    runs.extend(overtaken_originals(group).into_iter().map(|(row, time)| run(row, time, true)));
    runs
}

/// The hosts of one application by symbol, each looked up once.
struct Names<'a> {
    hosts: &'a Hosts,
    strings: &'a Interner,
    known: Vec<Option<Host>>,
}

impl Names<'_> {
    fn host(&mut self, node: Symbol, rack: Option<Symbol>) -> Option<Host> {
        let place = node.index() as usize;
        if let Some(host) = self.known.get(place).copied().flatten() {
            return Some(host);
        }
        let rack = rack.and_then(|rack| self.strings.get(rack));
        let host = self.hosts.host(self.strings.get(node)?, rack)?;
        if self.known.len() <= place {
            self.known.resize(place + 1, None);
        }
        if let Some(slot) = self.known.get_mut(place) {
            *slot = Some(host);
        }
        Some(host)
    }
}

/// The day of a timestamp; `None` before 1970-01-02 and after the year 2149.
fn day_of(at: Timestamp) -> Option<DayNumber> {
    let day = u16::try_from(at.as_millis().div_euclid(MILLIS_OF_A_DAY)).ok()?;
    DayNumber::new(day)
}

/// The start of a day.
#[must_use]
pub fn beginning_of(day: DayNumber) -> Timestamp {
    Timestamp::from_millis(i64::from(day.get()) * MILLIS_OF_A_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(host: Option<Host>, start: i64, run_time: u64) -> Run {
        let (start, time) = (Some(Timestamp::from_millis(start)), Millis::new(run_time));
        Run { host, start, time, overtaken: false }
    }

    #[test]
    fn groups_are_scored_separately_and_counted() {
        let hosts = Hosts::default();
        let (a, b) = (hosts.host("a", None), hosts.host("b", Some("/r")));
        let settings = Settings::default();
        let mut sample = Sample::default();
        sample.add_group(&[], &settings);
        sample.add_group(&[run(a, 0, 5), run(b, 0, 9)], &settings);
        sample.add_group(&[run(a, 0, 5), run(b, 0, 5), run(a, 0, 5)], &settings);
        sample.add_group(&[run(a, 0, 1000), run(None, 0, 2000), run(b, MILLIS_OF_A_DAY, 3000)], &settings);
        let GroupCounts { used, too_small, without_spread, tasks, tasks_without_node, .. } = sample.groups;
        assert_eq!((used, too_small, without_spread, tasks, tasks_without_node), (1, 1, 1, 3, 1));
        let scores: Vec<(f64, Option<u16>, bool)> =
            sample.rows.iter().map(|row| (row.score, row.day.map(DayNumber::get), row.straggler)).collect();
        assert_eq!(scores, [(-1.0, None, false), (1.0, Some(1), true)]);
    }

    #[test]
    fn an_overtaken_original_counts_for_its_node_and_changes_no_other_score() {
        let hosts = Hosts::default();
        let (a, slow) = (hosts.host("a", None), hosts.host("slow", None));
        let settings = Settings::default();
        let winners = [run(a, 0, 10_000), run(a, 0, 11_000), run(a, 0, 12_000)];
        let mut sample = Sample::default();
        sample.add_group(&winners, &settings);
        let others = sample.rows.clone();
        let original = |time| Run { overtaken: true, ..run(slow, 0, time) };
        let mut sample = Sample::default();
        // One was killed before it was a straggler. What it would have become is unknown.
        let [one, two, three] = winners;
        sample.add_group(&[one, two, three, original(20_000), original(16_000)], &settings);
        assert_eq!(sample.rows[..3], others);
        let own: Vec<(f64, bool, bool)> =
            sample.rows[3..].iter().map(|row| (row.score, row.straggler, row.overtaken)).collect();
        assert_eq!(own, [(9.0, true, true)]);
        assert_eq!((sample.groups.tasks, sample.groups.overtaken), (3, 1));
        assert_eq!(sample.peers.iter().map(|(_, peers)| peers.hits).collect::<Vec<_>>(), [0, 1]);
        // Without successful attempts there is nothing to compare with.
        let mut sample = Sample::default();
        sample.add_group(&[original(20_000)], &settings);
        assert_eq!((sample.rows.len(), sample.groups.too_small), (0, 0));
    }

    #[test]
    fn racks_do_not_depend_on_the_order_of_reading() {
        let hosts = Hosts::default();
        for (name, rack) in [("b", Some("/z")), ("a", None), ("b", Some("/y")), ("b", Some("/z"))] {
            assert!(hosts.host(name, rack).is_some());
        }
        let sorted: Vec<(Box<str>, Option<Box<str>>)> =
            hosts.into_sorted().into_iter().map(|(name, rack, _)| (name, rack)).collect();
        assert_eq!(sorted, [("a".into(), None), ("b".into(), Some("/y".into()))]);
    }

    #[test]
    fn a_row_takes_16_bytes() {
        assert_eq!(size_of::<Row>(), 16);
    }
}
