//! Simulates a stage on the cluster.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::super::rng::SplitMix64;
use super::World;
use super::accumulables::Accumulables;
use super::cluster::Peaks;
use super::figures::{Amount, Figures};
use super::kind::Upstream;
use super::stage_info::StageInfo;
use super::task::{Attempt, Fate, Place, Reason};

/// An event of the simulation.
enum Event {
    End(Attempt),
    /// The attempt takes so long that another one may start.
    Overdue(Attempt),
    ExecutorLost,
}

/// A running stage.
pub(super) struct Run<'r, 'log> {
    world: &'r mut World<'log>,
    info: &'r StageInfo,
    upstream: Upstream,
    submitted: i64,
    accumulables: Accumulables,
    /// Index and number of attempts that wait for a core.
    pending: VecDeque<(i64, i64)>,
    /// By time, then by identifier.
    events: BTreeMap<(i64, i64), Event>,
    peaks: BTreeMap<i64, Peaks>,
    unfinished: i64,
}

impl<'r, 'log> Run<'r, 'log> {
    /// Runs the stage, and returns its output for the `readers`.
    pub(super) fn whole(
        world: &'r mut World<'log>,
        info: &'r StageInfo,
        upstream: Upstream,
        loses_executor: bool,
        readers: i64,
    ) -> io::Result<Upstream> {
        let mut run = Self {
            submitted: world.now,
            accumulables: Accumulables::new(info.kind, info.first_metric_of_plan, info.first_metric),
            pending: (0..info.tasks).map(|index| (index, 0)).collect(),
            events: BTreeMap::new(),
            peaks: BTreeMap::new(),
            unfinished: info.tasks,
            world,
            info,
            upstream,
        };
        if loses_executor {
            run.events.insert((run.submitted + 10_000, -1), Event::ExecutorLost);
        }
        run.info.write_submitted(run.submitted, &mut run.world.log)?;
        run.world.advance(run.submitted + 25)?;
        run.run_to_end()?;
        Ok(Upstream {
            tasks: info.tasks,
            readers,
            bytes: run.accumulables.sum(Amount::BytesWritten),
            records: run.accumulables.sum(Amount::RecordsWritten),
        })
    }

    fn run_to_end(&mut self) -> io::Result<()> {
        self.launch_pending()?;
        while let Some(((at, _), event)) = self.events.pop_first() {
            self.world.advance(at)?;
            match event {
                Event::End(attempt) => self.end(&attempt)?,
                Event::Overdue(attempt) => self.speculate(&attempt)?,
                Event::ExecutorLost => self.lose_executor()?,
            }
            self.launch_pending()?;
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place { stage: self.info.id, kind: self.info.kind }
    }

    /// Random numbers that depend only on the attempt, not on what ran before it.
    fn rng(&self, index: i64, number: i64) -> SplitMix64 {
        SplitMix64::new((self.info.id << 32 | index << 4 | number).unsigned_abs())
    }

    fn launch_pending(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            let Some(executor) = self.world.cluster.take() else { break };
            let Some((index, number)) = self.pending.pop_front() else { break };
            let mut rng = self.rng(index, number);
            let usual = rng.within(3_000, 9_000);
            let (fails, slow) = (number == 0 && rng.within(0, 400) == 0, rng.within(0, 250) == 0);
            let time = if fails { usual / 2 } else { usual * if slow { 4 } else { 1 } };
            let attempt = Attempt {
                task_id: self.world.task_id(),
                index,
                number,
                executor,
                launch: self.world.now,
                finish: self.world.now + time,
                speculative: false,
                fate: if fails { Fate::Fails } else { Fate::Succeeds },
            };
            if slow && !fails {
                // Negative, so that it differs from the key of any attempt's end.
                let key = (attempt.launch + usual * 2, -2 - attempt.task_id);
                self.events.insert(key, Event::Overdue(attempt));
            }
            self.launch(attempt)?;
        }
        Ok(())
    }

    fn launch(&mut self, attempt: Attempt) -> io::Result<()> {
        attempt.write_start(self.place(), &mut self.world.log)?;
        self.events.insert((attempt.finish, attempt.task_id), Event::End(attempt));
        Ok(())
    }

    /// Starts a second attempt if a core is free. It loses, because the first one ends before it.
    fn speculate(&mut self, first: &Attempt) -> io::Result<()> {
        let runs = self.events.contains_key(&(first.finish, first.task_id));
        if !runs || !self.pending.is_empty() {
            return Ok(());
        }
        let Some(executor) = self.world.cluster.take() else { return Ok(()) };
        let second = Attempt {
            task_id: self.world.task_id(),
            number: first.number + 1,
            executor,
            launch: self.world.now,
            finish: first.finish + 3,
            speculative: true,
            fate: Fate::Killed,
            ..*first
        };
        self.launch(second)
    }

    fn end(&mut self, attempt: &Attempt) -> io::Result<()> {
        let mut rng = self.rng(attempt.index, attempt.number);
        let run_time = (attempt.finish - attempt.launch - rng.within(45, 70)).max(0);
        let reason = match attempt.fate {
            Fate::Succeeds => Reason::Success(Figures::of_success(
                self.info.kind,
                attempt.index,
                run_time,
                self.upstream,
                &mut rng,
            )),
            Fate::Fails => Reason::Exception(Figures::of_failure(run_time)),
            Fate::Killed => Reason::Killed(Figures::of_failure(run_time), self.unfinished == 0),
        };
        let peak_memory = if let Reason::Success(figures) = reason { figures.peak_memory } else { 0 };
        let peaks = self.world.cluster.run(attempt.executor, peak_memory, &mut rng).unwrap_or_default();
        self.peaks.entry(attempt.executor).or_default().raise(&peaks);
        attempt.write_end(self.place(), reason, &peaks, &mut self.accumulables, &mut self.world.log)?;
        self.world.cluster.give_back(attempt.executor);
        match attempt.fate {
            Fate::Succeeds => self.finish_task(),
            Fate::Fails => {
                self.pending.push_back((attempt.index, attempt.number + 1));
                Ok(())
            }
            Fate::Killed => Ok(()),
        }
    }

    fn finish_task(&mut self) -> io::Result<()> {
        self.unfinished -= 1;
        if self.unfinished > 0 {
            return Ok(());
        }
        let driver = Peaks::of_driver(self.world.uptime(), &mut self.rng(0, 0));
        self.info.write_executor_metrics(None, &driver, &mut self.world.log)?;
        for (&executor, peaks) in &self.peaks {
            self.info.write_executor_metrics(Some(executor), peaks, &mut self.world.log)?;
        }
        self.info.write_completed(self.submitted, self.world.now, &self.accumulables, &mut self.world.log)
    }

    /// Its running attempts end, and their tasks run again on other executors.
    fn lose_executor(&mut self) -> io::Result<()> {
        let Some(lost) = self.world.cluster.ids().next() else { return Ok(()) };
        self.world.cluster.remove(lost);
        let was_on_it = |event: &Event| matches!(event, Event::End(attempt) if attempt.executor == lost);
        let (gone, rest) =
            std::mem::take(&mut self.events).into_iter().partition(|(_, event)| was_on_it(event));
        self.events = rest;
        let gone: BTreeMap<_, Event> = gone;
        for event in gone.into_values() {
            let Event::End(attempt) = event else { continue };
            let ended = Attempt { finish: self.world.now, ..attempt };
            let (place, log) = (self.place(), &mut self.world.log);
            ended.write_end(place, Reason::ExecutorLost, &Peaks::unknown(), &mut self.accumulables, log)?;
            if attempt.fate != Fate::Killed && !self.promote(attempt.index) {
                self.pending.push_back((attempt.index, attempt.number + 1));
            }
        }
        self.world.remove_executor(lost)
    }

    /// Lets the other attempt of a task succeed, if there is one.
    fn promote(&mut self, index: i64) -> bool {
        let attempts = self.events.values_mut().filter_map(|event| match event {
            Event::End(attempt) if attempt.index == index => Some(attempt),
            _ => None,
        });
        attempts.map(|attempt| attempt.fate = Fate::Succeeds).count() > 0
    }
}
