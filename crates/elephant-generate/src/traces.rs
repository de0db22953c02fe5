//! Cluster traces of any size in the formats of Google's trace of 2011 and of Alibaba's traces of 2017 and 2018, the same
//! ones each time.
//!
//! Jobs arrive over some days. Their tasks run at once, on machines some of which are slow, and a few of them are evicted or
//! fail, and are then scheduled again. A few began before the trace, and a few end after it. Lines are written in the order of
//! time, and only running tasks are in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::rng::SplitMix64;

/// A trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Google's of 2011.
    Google2011,
    /// Alibaba's of 2017.
    Alibaba2017,
    /// Alibaba's of 2018.
    Alibaba2018,
}

/// A table of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Submissions and ends of jobs.
    Jobs,
    /// Machines, and when they were added.
    Machines,
    /// Events or runs of tasks.
    Tasks,
}

/// The size of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Number of jobs.
    pub jobs: u32,
    /// Number of tasks of all jobs.
    pub tasks: u64,
    /// Number of machines.
    pub machines: u32,
    /// Days in which jobs are submitted.
    pub days: u32,
    /// Another seed gives another trace of this size.
    pub seed: u64,
}

impl Size {
    /// That of the trace in Ouyang et al. (2016).
    pub const FULL: Self = Self { jobs: 92_848, tasks: 10_894_461, machines: 12_583, days: 29, seed: 2011 };
}

/// Where the lines of the tables go.
pub trait Tables {
    /// Writes a line without its line feed.
    fn line(&mut self, table: Table, line: &str) -> io::Result<()>;
}

/// A run of a task on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    /// Milliseconds since the beginning of the trace; negative before it.
    start: i64,
    end: i64,
    machine: u32,
    end_is: End,
    /// Counted from 1.
    number: u32,
    runs: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Finished,
    Failed,
    Evicted,
}

/// A job with the time at which it is submitted.
#[derive(Debug, Clone, Copy)]
struct Job {
    number: u32,
    tasks: u64,
    submitted: i64,
    /// Median time of its tasks in seconds.
    usual: f64,
}

/// What a line that is still to come says.
type Pending = Reverse<(i64, u64, String)>;

/// The lines that are still to come, by time and then in the order in which they were added.
struct Clock<'a> {
    pending: BinaryHeap<Pending>,
    added: u64,
    tables: &'a mut dyn Tables,
}

impl Clock<'_> {
    fn add(&mut self, at: i64, line: String) {
        self.added += 1;
        self.pending.push(Reverse((at, self.added, line)));
    }

    fn write_until(&mut self, now: i64) -> io::Result<()> {
        while self.pending.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            if let Some(Reverse((_, _, line))) = self.pending.pop() {
                self.tables.line(Table::Tasks, &line)?;
            }
        }
        Ok(())
    }
}

impl Trace {
    /// Writes a trace.
    pub fn write(self, size: Size, tables: &mut dyn Tables) -> io::Result<()> {
        let end = i64::from(size.days) * 86_400_000;
        let mut rng = SplitMix64::new(size.seed);
        (0..size.machines).try_for_each(|machine| tables.line(Table::Machines, &self.machine(machine)))?;
        let jobs = jobs(size, &mut rng);
        for job in &jobs {
            self.announcement(job, size, end).iter().try_for_each(|line| tables.line(Table::Jobs, line))?;
        }
        let mut clock = Clock { pending: BinaryHeap::new(), added: 0, tables };
        for job in &jobs {
            clock.write_until(job.submitted)?;
            let mut rng = job.rng(size);
            for task in 0..job.tasks {
                let runs = runs(job, size, &mut rng);
                self.task(job, task, &runs, end, &mut clock);
            }
        }
        clock.write_until(i64::MAX)
    }

    /// The line of a machine.
    fn machine(self, machine: u32) -> String {
        match self {
            Self::Google2011 => {
                format!("0,{},0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493", id(machine))
            }
            Self::Alibaba2017 => format!("0,{machine},add,,64,0.6899697150103833,0.8"),
            Self::Alibaba2018 => format!("m_{machine},0,{},0.1,96,100,USING", machine % 50),
        }
    }

    /// The lines that say what the job consists of.
    fn announcement(self, job: &Job, size: Size, end: i64) -> Vec<String> {
        let (number, tasks, finished) = (job.number, job.tasks, job.finished(size));
        match self {
            Self::Google2011 => {
                let line = |at: i64, event: u8| {
                    format!(
                        "{},,{},{event},user{},2,job{number},logical{}",
                        micros(at, end),
                        google_id(number),
                        number % 97,
                        number % 1009
                    )
                };
                let last = (finished <= end).then(|| line(finished, 4));
                [line(job.submitted, 0), line(job.submitted, 1)].into_iter().chain(last).collect()
            }
            Self::Alibaba2017 => vec![format!(
                "{},{},{number},{number},{tasks},Terminated,50,0.0079",
                seconds(job.submitted, end),
                seconds(finished, end)
            )],
            Self::Alibaba2018 => {
                let line = |task: &str, tasks: u64| {
                    format!(
                        "{task},{tasks},j_{number},{},Terminated,{},{},100.0,0.39",
                        1 + number % 12,
                        seconds(job.submitted, end),
                        seconds(finished, end)
                    )
                };
                let first = tasks - tasks / 3;
                let second = (tasks / 3 > 0).then(|| line("R2_1", tasks / 3));
                std::iter::once(line("M1", first)).chain(second).collect()
            }
        }
    }

    /// The lines of a task.
    fn task(self, job: &Job, task: u64, runs: &[Run], end: i64, clock: &mut Clock<'_>) {
        match self {
            Self::Google2011 => google_task(job, task, runs, end, clock),
            Self::Alibaba2017 | Self::Alibaba2018 => {
                for run in runs {
                    let is_running = run.end > end;
                    let (start, finish) = (seconds(run.start, end), seconds(run.end, end));
                    let status = match run.end_is {
                        _ if is_running => "Running",
                        End::Finished => "Terminated",
                        End::Failed => "Failed",
                        End::Evicted => "Interrupted",
                    };
                    let (number, runs, machine) = (run.number, run.runs, run.machine);
                    let line = if self == Self::Alibaba2017 {
                        format!(
                            "{start},{finish},{0},{0},{machine},{status},{number},{runs},1.5,0.72,0.0124,0.0096",
                            job.number
                        )
                    } else {
                        let first = job.tasks - job.tasks / 3;
                        let name = if task < first { "M1" } else { "R2_1" };
                        let instance = u64::from(job.number) * 40_000 % 4_000_000_000 + task;
                        format!(
                            "ins_{instance},{name},j_{},{},{status},{start},{finish},m_{machine},{number},{runs},73.0,141.0,0.02,0.03",
                            job.number,
                            1 + job.number % 12
                        )
                    };
                    clock.add(run.end, line);
                }
            }
        }
    }
}

/// No run takes longer, in milliseconds.
const LONGEST: i64 = 3 * 3_600_000;

impl Job {
    /// The source of the numbers of its tasks.
    const fn rng(&self, size: Size) -> SplitMix64 {
        SplitMix64::new(size.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (self.number as u64) << 20)
    }

    /// When its last task ends.
    fn finished(&self, size: Size) -> i64 {
        let mut rng = self.rng(size);
        let ends = (0..self.tasks).filter_map(|_| runs(self, size, &mut rng).last().map(|run| run.end));
        ends.max().unwrap_or(self.submitted)
    }
}

fn google_task(job: &Job, task: u64, runs: &[Run], end: i64, clock: &mut Clock<'_>) {
    let line = |at: i64, machine: Option<u32>, event: u8| {
        let machine = machine.map(id).unwrap_or_default();
        format!(
            "{},,{},{task},{machine},{event},user{},2,{},0.125,0.07446,0.0004244,0",
            micros(at, end),
            google_id(job.number),
            job.number % 97,
            job.number % 12
        )
    };
    let mut submitted = job.submitted;
    for run in runs {
        clock.add(submitted, line(submitted, None, 0));
        clock.add(run.start, line(run.start, Some(run.machine), 1));
        if run.end <= end {
            let event = match run.end_is {
                End::Finished => 4,
                End::Failed => 3,
                End::Evicted => 2,
            };
            clock.add(run.end, line(run.end, Some(run.machine), event));
        }
        submitted = run.end;
    }
}

/// Ids of jobs and machines have about ten digits.
fn google_id(job: u32) -> u64 {
    6_000_000_000 + u64::from(job) * 4_211
}

fn id(machine: u32) -> String {
    (300_000_000 + u64::from(machine) * 1_019).to_string()
}

/// Microseconds as Google writes them: 0 for what was before the trace, 2⁶³ − 1 for what comes after it.
fn micros(at: i64, end: i64) -> i64 {
    if at <= 0 {
        0
    } else if at > end {
        i64::MAX
    } else {
        at * 1000 + at % 1000
    }
}

/// Seconds as Alibaba writes them: 0 for what is not known.
fn seconds(at: i64, end: i64) -> i64 {
    if at <= 0 || at > end { 0 } else { at / 1000 }
}

/// The jobs by the time of their submission. A few have most of the tasks.
fn jobs(size: Size, rng: &mut SplitMix64) -> Vec<Job> {
    let days = i64::from(size.days) * 86_400_000;
    let weights: Vec<f64> = (0..size.jobs).map(|_| (1.5 * normal(rng)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let share = |weight: f64| whole(weight / sum * size.tasks as f64).unsigned_abs().max(1);
    let mut jobs: Vec<Job> = weights
        .into_iter()
        .zip(0..)
        .map(|(weight, number)| {
            // Each fiftieth job is there when the trace begins.
            let submitted = days / i64::from(size.jobs) * i64::from(number);
            let submitted = if number % 50 == 0 { -20_000 } else { submitted };
            Job { number, tasks: share(weight), submitted, usual: 60.0 * normal(rng).exp() }
        })
        .collect();
    // Rounding leaves some tasks over, or takes too many.
    let all: u64 = jobs.iter().map(|job| job.tasks).sum();
    if let Some(largest) = jobs.iter_mut().max_by_key(|job| job.tasks) {
        largest.tasks = (largest.tasks + size.tasks).saturating_sub(all).max(1);
    }
    jobs.sort_by_key(|job| (job.submitted, job.number));
    jobs
}

/// The runs of a task, until one finishes.
fn runs(job: &Job, size: Size, rng: &mut SplitMix64) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut at = job.submitted + rng.within(0, 30_000);
    loop {
        let machine = u32::try_from(rng.within(0, i64::from(size.machines))).unwrap_or_default();
        // Each hundredth machine is slow.
        let slow = if machine % 100 == 7 { 1.8 } else { 1.0 + 0.1 * f64::from(machine % 10) / 10.0 };
        let straggles = if rng.within(0, 100) < 3 { 1.5 + 3.0 * uniform(rng) } else { 1.0 };
        let time = job.usual * (0.2 * normal(rng)).exp() * slow * straggles;
        let in_full = whole(time * 1000.0).clamp(1000, LONGEST);
        let end_is = match rng.within(0, 1000) {
            0..4 => End::Failed,
            4..10 => End::Evicted,
            _ => End::Finished,
        };
        let is_last = end_is == End::Finished || runs.len() == 2;
        let end_is = if is_last { End::Finished } else { end_is };
        let time = if is_last { in_full } else { rng.within(500, in_full.max(501)) };
        let number = u32::try_from(runs.len()).unwrap_or_default() + 1;
        runs.push(Run { start: at, end: at + time, machine, end_is, number, runs: 0 });
        if is_last {
            break;
        }
        at += time + rng.within(100, 5000);
    }
    let count = u32::try_from(runs.len()).unwrap_or_default();
    for run in &mut runs {
        run.runs = count;
    }
    runs
}

/// The whole part of a number.
#[allow(clippy::cast_possible_truncation)] // the cast saturates
fn whole(number: f64) -> i64 {
    number as i64
}

fn uniform(rng: &mut SplitMix64) -> f64 {
    rng.within(0, 1 << 53) as f64 / (1u64 << 53) as f64
}

/// Box and Muller.
fn normal(rng: &mut SplitMix64) -> f64 {
    (-2.0 * (1.0 - uniform(rng)).ln()).sqrt() * (std::f64::consts::TAU * uniform(rng)).cos()
}
