//! Runs a workload: list scheduling with events in a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::attempts::Work;
use super::capacity::Loss;
use super::queue::{Place, Waiting};
use super::slots::Opening;
use super::workload::{Piece, Workload};
use super::{ByKind, Change, Kind, Plan};
use crate::replay::{Micros, Replayed};

impl Plan {
    /// Replays the job with a change.
    #[must_use]
    pub fn replay(&self, change: &Change) -> Replayed {
        simulate(&Workload::of(self, change))
    }

    /// What the job takes if every attempt finds a container at once. It starts with the first container, and
    /// reduces with the first reduce of the recording.
    #[must_use]
    pub fn critical_path(&self) -> Micros {
        let mut workload = Workload::of(self, &Change::default());
        workload.lift_limits();
        simulate(&workload).wall
    }
}

/// What the workload takes.
fn simulate(load: &Workload) -> Replayed {
    let mut simulation = Simulation::new(load);
    simulation.run();
    let task_time = simulation.task_time;
    Replayed { wall: (simulation.end + load.tail).or_zero(), task_time, held: task_time }
}

/// What happens at a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The job can start its first task.
    Launch,
    /// A slot opens.
    Opens(Kind),
    /// A slot is lost, as soon as it is free.
    Closes(Kind),
    /// There is a container more.
    Gains,
    /// A container is lost, as soon as one is free.
    Loses,
    /// A run ends.
    Ends(usize),
    /// A retry or a copy starts, or waits for a slot.
    Waits(usize),
}

/// One attempt on its slot.
#[derive(Debug, Clone, Copy)]
struct Run {
    piece: usize,
    start: Micros,
    /// Unknown while a reduce waits for the last map.
    end: Option<Micros>,
    is_over: bool,
    /// An earlier run of the task.
    before: Option<usize>,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, Default)]
struct Task {
    is_done: bool,
    /// Attempts that wait or run.
    open: usize,
    /// The last run.
    run: Option<usize>,
}

struct Simulation<'a> {
    load: &'a Workload,
    events: BinaryHeap<Reverse<(Micros, usize, Event)>>,
    /// When slots are free again. A kind has one gap, so they are free in the order in which runs end, and need no
    /// heap.
    freed: ByKind<VecDeque<Micros>>,
    /// Events so far. Those of the same time happen in the order in which they were planned.
    planned: usize,
    opened: ByKind<usize>,
    busy: ByKind<usize>,
    containers: usize,
    waiting: ByKind<Waiting>,
    runs: Vec<Run>,
    tasks: Vec<Task>,
    maps_left: usize,
    maps_ended: usize,
    last_map: Option<Micros>,
    /// Reduces that wait for the last map.
    fetching: Vec<usize>,
    /// Reduce slots that are not open, the next one last.
    closed: Vec<Opening>,
    /// When the last event happened.
    now: Micros,
    end: Micros,
    task_time: Micros,
}

impl<'a> Simulation<'a> {
    fn new(load: &'a Workload) -> Self {
        let mut closed = load.slots.reduce.openings.clone();
        closed.sort_unstable_by_key(|opening| Reverse(*opening));
        let firsts = load.firsts.iter().filter_map(|first| Some((*first, load.pieces.get(*first)?)));
        let mut waiting: ByKind<Waiting> = ByKind::default();
        for kind in Kind::ALL {
            let of_kind = firsts.clone().filter(|(_, piece)| piece.kind == kind);
            let firsts = &mut waiting.get_mut(kind).firsts;
            firsts.extend(of_kind.map(|(at, piece)| (piece.rank, at)));
            firsts.sort_unstable_by_key(|place| Reverse(*place));
        }
        Self {
            load,
            events: BinaryHeap::new(),
            freed: ByKind::default(),
            planned: 0,
            opened: ByKind::default(),
            busy: ByKind::default(),
            containers: load.containers,
            maps_left: waiting.map.firsts.len(),
            waiting,
            runs: Vec::with_capacity(load.pieces.len()),
            tasks: vec![Task { open: 1, ..Task::default() }; load.firsts.len()],
            maps_ended: 0,
            last_map: None,
            fetching: Vec::new(),
            closed,
            now: load.launch,
            end: load.launch,
            task_time: Micros::ZERO,
        }
    }

    fn run(&mut self) {
        for opening in &self.load.slots.map.openings {
            self.plan(self.load.launch + opening.lag, Event::Opens(Kind::Map));
        }
        for kind in Kind::ALL {
            for loss in &self.load.slots.get(kind).losses {
                self.plan_loss(*loss, (Event::Closes(kind), Event::Opens(kind)));
            }
        }
        for loss in &self.load.losses {
            self.plan_loss(*loss, (Event::Loses, Event::Gains));
        }
        self.plan(self.load.launch, Event::Launch);
        loop {
            while let Some(now) = self.next_time() {
                self.now = now;
                while let Some(event) = self.next_event(now) {
                    self.happen(now, event);
                }
                self.free(now);
                self.fill(now);
            }
            if !self.help() {
                break;
            }
        }
    }

    fn plan_loss(&mut self, loss: Loss, (lost, back): (Event, Event)) {
        self.plan(loss.from, lost);
        if let Some(to) = loss.to {
            self.plan(to, back);
        }
    }

    fn plan(&mut self, at: Micros, event: Event) {
        self.events.push(Reverse((at, self.planned, event)));
        self.planned += 1;
    }

    /// When something happens next.
    fn next_time(&self) -> Option<Micros> {
        let event = self.events.peek().map(|Reverse((at, _, _))| *at);
        let freed = Kind::ALL.into_iter().filter_map(|kind| self.freed.get(kind).front().copied());
        freed.chain(event).min()
    }

    /// The next event until `now`.
    fn next_event(&mut self, now: Micros) -> Option<Event> {
        let Reverse((at, _, event)) = self.events.peek().copied()?;
        (at <= now).then(|| {
            self.events.pop();
            event
        })
    }

    /// Frees the slots whose gap is over.
    fn free(&mut self, now: Micros) {
        for kind in Kind::ALL {
            let freed = self.freed.get_mut(kind);
            let over = freed.iter().take_while(|at| **at <= now).count();
            freed.drain(..over);
            let busy = self.busy.get_mut(kind);
            *busy = busy.saturating_sub(over);
        }
    }

    fn happen(&mut self, now: Micros, event: Event) {
        match event {
            Event::Launch => {
                if self.maps_left == 0 {
                    self.last_map = Some(now);
                }
                self.open_reduces(now);
            }
            Event::Opens(kind) => *self.opened.get_mut(kind) += 1,
            Event::Closes(kind) => {
                let opened = self.opened.get_mut(kind);
                *opened = opened.saturating_sub(1);
            }
            Event::Gains => self.containers = self.containers.saturating_add(1),
            Event::Loses => self.containers = self.containers.saturating_sub(1),
            Event::Ends(run) => self.end_run(run, now),
            Event::Waits(place) => self.queue(place),
        }
    }

    /// Attempts may wait although no event is planned: no slot opens for them, or reduces that wait for a map hold all
    /// containers. Hadoop then takes a container from a reduce; here one is added. Returns whether an attempt waited.
    fn help(&mut self) -> bool {
        for kind in Kind::ALL {
            if self.next(kind).is_some() {
                self.containers = self.containers.saturating_add(1);
                self.plan(self.now, Event::Opens(kind));
                return true;
            }
        }
        false
    }

    /// Adds an attempt to those that wait. It is already counted as open.
    fn queue(&mut self, place: usize) {
        if let Some(piece) = self.load.pieces.get(place) {
            self.waiting.get_mut(piece.kind).others.push(Reverse((piece.rank, place)));
        }
    }

    /// The attempt that waits at the head of its queue.
    fn next(&mut self, kind: Kind) -> Option<Place> {
        let waiting = self.waiting.get_mut(kind);
        while let Some((rank, place)) = waiting.peek() {
            let task = self.load.pieces.get(place).and_then(|piece| self.tasks.get(piece.task));
            if task.is_some_and(|task| !task.is_done) {
                return Some((rank, place));
            }
            waiting.pop();
        }
        None
    }

    /// Starts waiting attempts on free slots.
    fn fill(&mut self, now: Micros) {
        loop {
            let busy = self.busy.map + self.busy.reduce;
            if busy >= self.containers {
                return;
            }
            let is_free = |kind: Kind, all: &Self| all.busy.get(kind) < all.opened.get(kind);
            let map = self.next(Kind::Map);
            let may_reduce = map.is_none() || self.busy.reduce < self.reduces_beside_maps();
            let map = map.filter(|_| is_free(Kind::Map, self));
            let reduce = self.next(Kind::Reduce).filter(|_| may_reduce && is_free(Kind::Reduce, self));
            let first = if self.reduces_come_first(map) {
                reduce.or(map)
            } else {
                map.into_iter().chain(reduce).min()
            };
            let Some((_, place)) = first else { return };
            self.begin(place, now);
        }
    }

    /// Whether reduces get containers before the map that waits. Hadoop's application master asks for reduces first, after
    /// maps that failed.
    fn reduces_come_first(&self, map: Option<Place>) -> bool {
        let task = |place: usize| self.load.pieces.get(place).map(|piece| piece.task);
        let is_first = |place: usize| self.load.firsts.get(task(place)?).map(|first| *first == place);
        self.load.ramp_up.is_some() && map.is_none_or(|(_, place)| is_first(place) == Some(true))
    }

    /// The reduces that may run while maps wait.
    fn reduces_beside_maps(&self) -> usize {
        // Maps keep a container, or reduces would wait for them forever.
        let most = self.containers.saturating_sub(1);
        let maps = (self.maps_ended, self.maps_left);
        self.load.ramp_up.map_or(most, |ramp_up| ramp_up.reduces(self.containers, maps).min(most))
    }

    fn begin(&mut self, place: usize, now: Micros) {
        let load = self.load;
        let Some(piece) = load.pieces.get(place) else { return };
        self.waiting.get_mut(piece.kind).pop();
        *self.busy.get_mut(piece.kind) += 1;
        let end = match piece.work {
            Work::Alone(time) => Some(now + time),
            Work::Reduce(work) => self.last_map.map(|_| now + work.shuffle + work.rest),
        };
        let run = self.runs.len();
        let before = self.tasks.get_mut(piece.task).and_then(|task| task.run.replace(run));
        self.runs.push(Run { piece: place, start: now, end, is_over: false, before });
        match end {
            Some(end) => self.plan(end, Event::Ends(run)),
            None => self.fetching.push(run),
        }
        if let Some((copy, later)) = piece.copy {
            if let Some(task) = self.tasks.get_mut(piece.task) {
                task.open += 1;
            }
            self.plan(now + later, Event::Waits(copy));
        }
    }

    fn end_run(&mut self, at: usize, now: Micros) {
        let load = self.load;
        let Some(run) = self.runs.get_mut(at).filter(|run| !run.is_over && run.end == Some(now)) else {
            return;
        };
        run.is_over = true;
        self.task_time += now - run.start;
        let Some(piece) = load.pieces.get(run.piece) else { return };
        let next = now + load.slots.get(piece.kind).gap;
        self.freed.get_mut(piece.kind).push_back(next);
        let Some(task) = self.tasks.get_mut(piece.task) else { return };
        task.open = task.open.saturating_sub(1);
        if task.is_done {
            return;
        }
        if let Some(retry) = piece.retry.filter(|_| !piece.succeeds) {
            task.open += 1;
            let delay = load.pieces.get(retry).and_then(|retry| retry.delay);
            self.plan(delay.map_or(next, |delay| now + delay), Event::Waits(retry));
        } else if piece.succeeds || task.open == 0 {
            self.finish(piece, now);
        }
    }

    /// The task is done; its other attempts are killed.
    fn finish(&mut self, piece: &Piece, now: Micros) {
        let Some(task) = self.tasks.get_mut(piece.task) else { return };
        task.is_done = true;
        let mut other = task.run;
        while let Some(at) = other {
            let Some(run) = self.runs.get_mut(at) else { break };
            other = run.before;
            if !run.is_over {
                run.end = Some(now);
                self.plan(now, Event::Ends(at));
            }
        }
        self.end = self.end.max(now);
        if piece.kind == Kind::Map {
            self.maps_ended += 1;
            self.maps_left = self.maps_left.saturating_sub(1);
            if self.maps_left == 0 {
                self.last_map = Some(now);
                self.release(now);
            }
            self.open_reduces(now);
        }
    }

    /// The last map has ended: the ends of reduces that fetch are known.
    fn release(&mut self, now: Micros) {
        for at in std::mem::take(&mut self.fetching) {
            let Some(run) = self.runs.get_mut(at).filter(|run| run.end.is_none()) else { continue };
            let Some(Work::Reduce(work)) = self.load.pieces.get(run.piece).map(|piece| piece.work) else {
                continue;
            };
            let end = (run.start + work.shuffle).max(now + work.tail) + work.rest;
            run.end = Some(end);
            self.plan(end, Event::Ends(at));
        }
    }

    /// Opens the reduce slots for which enough maps have ended.
    fn open_reduces(&mut self, now: Micros) {
        while let Some(opening) = self.closed.pop_if(|opening| opening.maps <= self.maps_ended) {
            self.plan(now + opening.lag, Event::Opens(Kind::Reduce));
        }
    }
}
