//! Simulates a job on a cluster.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::counters::{Counters, Owner};
use super::rng::SplitMix64;

/// Submit time of the job, in milliseconds since 1970.
pub(super) const SUBMITTED: i64 = 1_732_147_200_000;
/// The job's id without its prefix.
pub(super) const JOB: &str = "1732147200000_0001";

const NODES: i64 = 400;
const RACKS: i64 = 20;
/// Containers that run at the same time.
const SLOTS: usize = 1600;
const BLOCK: i64 = 128 << 20;

/// The size of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Map tasks.
    pub maps: u32,
    /// Reduce tasks.
    pub reduces: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Map,
    Reduce,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Map => "MAP",
            Self::Reduce => "REDUCE",
        }
    }

    pub(super) fn task_id(self, number: u32) -> String {
        format!("task_{JOB}_{}_{number:06}", self.letter())
    }

    pub(super) fn attempt_id(self, number: u32) -> String {
        format!("attempt_{JOB}_{}_{number:06}_0", self.letter())
    }

    const fn letter(self) -> char {
        match self {
            Self::Map => 'm',
            Self::Reduce => 'r',
        }
    }

    const fn owner(self) -> Owner {
        match self {
            Self::Map => Owner::Map,
            Self::Reduce => Owner::Reduce,
        }
    }
}

/// An attempt, sorted by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attempt {
    pub(super) end: i64,
    pub(super) kind: Kind,
    pub(super) number: u32,
    pub(super) start: i64,
    pub(super) node: i64,
    input: i64,
    memory: i64,
}

impl Attempt {
    fn launch(kind: Kind, number: u32, start: i64) -> Self {
        let mut rng = SplitMix64::new(u64::from(number) << 1 | kind as u64);
        let input = rng.within(BLOCK * 7 / 8, BLOCK);
        let typical = if kind == Kind::Map { 30_000 } else { 240_000 };
        let time = typical * input / BLOCK + rng.within(-2_000, 2_000);
        let memory = rng.within(380 << 20, 520 << 20) & !0xfff;
        Self { end: start + time, kind, number, start, node: rng.within(0, NODES), input, memory }
    }

    /// Map: end of the map function, twice. Reduce: ends of shuffle and merge.
    pub(super) const fn phases(&self) -> (i64, i64) {
        let time = self.end - self.start;
        match self.kind {
            Kind::Map => (self.end - time / 20, self.end - time / 20),
            Kind::Reduce => (self.start + time / 3, self.start + time / 2),
        }
    }

    /// Wall time, CPU time, virtual and physical memory per twelfth of progress.
    pub(super) fn progress(&self) -> [[i32; 12]; 4] {
        let time = self.end - self.start;
        let first = time / 3;
        let even = |total: i64, i: i64| total * (i + 1) / 12 - total * i / 12;
        let ramp = |last: i64, i: i64| last * (2 * i + 1) / 24;
        let array = |value: &dyn Fn(i64) -> i64| {
            let mut index = 0..;
            [(); 12].map(|()| i32::try_from(index.next().map_or(0, value)).unwrap_or(i32::MAX))
        };
        [
            array(&|i| if i == 0 { first } else { (time - first) * i / 11 - (time - first) * (i - 1) / 11 }),
            array(&|i| even(self.cpu(), i)),
            array(&|i| ramp((2_100 << 10) + self.memory / 4096, i)),
            array(&|i| ramp(self.memory / 1024, i)),
        ]
    }

    const fn cpu(&self) -> i64 {
        (self.end - self.start) * 7 / 10
    }

    fn counters(&self, job: Job) -> Counters {
        let map = self.kind == Kind::Map;
        let of_map = |value: i64| if map { value } else { 0 };
        let of_reduce = |value: i64| if map { 0 } else { value };
        let records = self.input / 100;
        Counters::new(self.kind.owner(), |name| match name {
            "FILE_BYTES_READ" => of_reduce(self.input),
            "FILE_BYTES_WRITTEN" => self.input / 2 + 160_000,
            "HDFS_BYTES_READ" => of_map(self.input + 120),
            "HDFS_BYTES_WRITTEN" => of_reduce(self.input / 3),
            "HDFS_READ_OPS" => of_map(3),
            "HDFS_WRITE_OPS" => of_reduce(2),
            "MAP_OUTPUT_RECORDS" | "SPILLED_RECORDS" => records * 2,
            "MAP_INPUT_RECORDS" | "REDUCE_INPUT_RECORDS" => records,
            "REDUCE_INPUT_GROUPS" | "REDUCE_OUTPUT_RECORDS" => records / 10,
            "MAP_OUTPUT_BYTES" | "BYTES_READ" | "REDUCE_SHUFFLE_BYTES" => self.input,
            "MAP_OUTPUT_MATERIALIZED_BYTES" => self.input / 2,
            "SPLIT_RAW_BYTES" => 120,
            "BYTES_WRITTEN" => self.input / 3,
            "SHUFFLED_MAPS" | "MERGED_MAP_OUTPUTS" => of_reduce(job.maps.into()),
            "GC_TIME_MILLIS" => self.cpu() / 40,
            "CPU_MILLISECONDS" => self.cpu(),
            "PHYSICAL_MEMORY_BYTES" => self.memory,
            "VIRTUAL_MEMORY_BYTES" => (2_100 << 20) + self.memory / 4,
            "COMMITTED_HEAP_BYTES" => self.memory * 3 / 2,
            _ => 0,
        })
    }
}

/// Receives the events of a job in time order.
pub(super) trait History {
    fn submitted(&mut self) -> io::Result<()>;
    fn scheduled(&mut self, kind: Kind, number: u32, at: i64, hosts: &[i64]) -> io::Result<()>;
    fn launched(&mut self, attempt: &Attempt) -> io::Result<()>;
    /// The attempt succeeded, and its task with it.
    fn succeeded(&mut self, attempt: &Attempt, counters: &Counters) -> io::Result<()>;
    fn finished(&mut self, end: &JobEnd) -> io::Result<()>;
}

/// The end of the job.
pub(super) struct JobEnd {
    pub(super) at: i64,
    pub(super) maps: Counters,
    pub(super) reduces: Counters,
    pub(super) total: Counters,
}

impl Job {
    pub(super) fn run(self, history: &mut impl History) -> io::Result<()> {
        history.submitted()?;
        let maps = self.phase(Kind::Map, self.maps, SUBMITTED + 2_500, history)?;
        let reduces = self.phase(Kind::Reduce, self.reduces, maps.end, history)?;
        let mut total = Counters::new(Owner::Job, |name| match name {
            "TOTAL_LAUNCHED_MAPS" | "DATA_LOCAL_MAPS" => self.maps.into(),
            "TOTAL_LAUNCHED_REDUCES" => self.reduces.into(),
            "MILLIS_MAPS" => maps.time,
            "MILLIS_REDUCES" => reduces.time,
            _ => 0,
        });
        total.add(&maps.sum);
        total.add(&reduces.sum);
        history.finished(&JobEnd { at: reduces.end + 1_500, maps: maps.sum, reduces: reduces.sum, total })
    }

    fn phase(self, kind: Kind, tasks: u32, start: i64, history: &mut impl History) -> io::Result<Phase> {
        let mut rng = SplitMix64::new(kind as u64);
        for number in 0..tasks {
            let hosts = [(); 3].map(|()| rng.within(0, NODES));
            history.scheduled(kind, number, start, if kind == Kind::Map { &hosts } else { &[] })?;
        }
        let mut phase = Phase { end: start, time: 0, sum: Counters::new(kind.owner(), |_| 0) };
        let mut running = BinaryHeap::with_capacity(SLOTS);
        for number in 0..tasks {
            let free = if running.len() < SLOTS { None } else { running.pop() };
            let from = match free {
                Some(Reverse(ended)) => self.end_attempt(&ended, &mut phase, history)? + 1_200,
                None => start + 800 + i64::from(number) * 5,
            };
            let attempt = Attempt::launch(kind, number, from);
            history.launched(&attempt)?;
            running.push(Reverse(attempt));
        }
        while let Some(Reverse(ended)) = running.pop() {
            self.end_attempt(&ended, &mut phase, history)?;
        }
        Ok(phase)
    }

    fn end_attempt(self, ended: &Attempt, phase: &mut Phase, history: &mut impl History) -> io::Result<i64> {
        let counters = ended.counters(self);
        history.succeeded(ended, &counters)?;
        phase.sum.add(&counters);
        phase.time += ended.end - ended.start;
        phase.end = phase.end.max(ended.end);
        Ok(ended.end)
    }
}

/// Totals of the tasks of one kind.
struct Phase {
    end: i64,
    time: i64,
    sum: Counters,
}

pub(super) fn host(node: i64) -> String {
    format!("node{node:03}.example.com")
}

pub(super) fn rack(node: i64) -> String {
    format!("/rack{}", node % RACKS)
}

/// `/rack/host` of each node, separated by commas.
pub(super) fn places(nodes: &[i64]) -> String {
    let places: Vec<String> = nodes.iter().map(|&node| format!("{}/{}", rack(node), host(node))).collect();
    places.join(",")
}
