//! One run of a job on a cluster: a loop over events.

use std::collections::VecDeque;

use super::attempt::Attempt;
use super::chances::Chances;
use super::events::{Event, Events};
use super::node::{Growth, Node};
use super::policy::Policy;
use super::scenario::Scenario;
use super::watch::{Watch, millis};
use crate::random::Random;
use elephant_analysis::stragglers::detect::{Completion, Detector};
use elephant_analysis::stragglers::regression::ProgressModel;

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The attempts in the order of their launch.
    pub attempts: Vec<Attempt>,
    /// The time of the last end.
    pub makespan: f64,
    /// The energy that all nodes used until then.
    pub(crate) joules: f64,
    /// How the work of each node's tasks grew.
    growth: Vec<Growth>,
}

impl Run {
    /// When an attempt had done this share of its work, in seconds since the start of the job; `None` if it did
    /// not get there.
    #[must_use]
    pub fn time_at(&self, attempt: &Attempt, progress: f64) -> Option<f64> {
        let time = self.growth.get(attempt.node)?.time_at(attempt.base? + progress * attempt.work)?;
        attempt.end.filter(|&end| time <= end)?;
        Some(time.max(attempt.start))
    }
}

/// The conditions that may differ between runs with the same chances.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    pub(super) policy: Policy,
    /// `None` for a run without a detector.
    pub(super) detector: Option<&'a dyn Detector>,
    /// Usual progress of a task, for the detectors that compare with it.
    pub(super) usual_progress: Option<&'a ProgressModel>,
}

/// The cluster at a time.
struct Cluster<'a> {
    scenario: &'a Scenario,
    chances: &'a Chances,
    conditions: Conditions<'a>,
    nodes: Vec<Node<'a>>,
    attempts: Vec<Attempt>,
    /// The live attempts of each task.
    live: Vec<Vec<usize>>,
    /// The next task to launch.
    next_task: usize,
    /// Flagged attempts that wait for a copy.
    wanted: VecDeque<usize>,
    unfinished: usize,
    events: Events,
    watch: Watch,
    /// Chooses nodes.
    choice: Random,
    now: f64,
}

/// Runs the job of a scenario.
pub(super) fn run(scenario: &Scenario, chances: &Chances, conditions: Conditions<'_>) -> Run {
    let mut cluster = Cluster::new(scenario, chances, conditions);
    cluster.place();
    if conditions.detector.is_some() {
        cluster.events.add(scenario.detection.scan_s, Event::Scan);
    }
    while cluster.unfinished > 0 {
        let Some((now, event)) = cluster.events.next() else { break };
        cluster.now = now;
        match event {
            Event::Begin { attempt } => cluster.begin(attempt),
            Event::End { node, version } => cluster.end(node, version),
            Event::Scan => cluster.scan(),
        }
    }
    let makespan = cluster.now;
    cluster.nodes.iter_mut().for_each(|node| node.advance(makespan));
    let (joules, growth): (Vec<f64>, Vec<Growth>) = cluster.nodes.into_iter().map(Node::into_result).unzip();
    Run { attempts: cluster.attempts, makespan, joules: joules.iter().sum(), growth }
}

impl<'a> Cluster<'a> {
    fn new(scenario: &'a Scenario, chances: &'a Chances, conditions: Conditions<'a>) -> Self {
        let containers = scenario.cluster.containers_per_node;
        let reserved = conditions.policy.reserved(scenario.node_count(), containers);
        let cores =
            scenario.nodes.iter().flat_map(|group| std::iter::repeat_n(group.active_cores, group.count));
        let nodes = cores.zip(&chances.nodes).zip(&reserved);
        let nodes = nodes.map(|((cores, &factor), &reserve)| Node::new(scenario, cores, factor, reserve));
        Self {
            scenario,
            chances,
            conditions,
            nodes: nodes.collect(),
            attempts: Vec::new(),
            live: vec![Vec::new(); scenario.job.tasks],
            next_task: 0,
            wanted: VecDeque::new(),
            unfinished: scenario.job.tasks,
            events: Events::default(),
            watch: Watch::default(),
            choice: chances.choice.clone(),
            now: 0.0,
        }
    }

    /// Launches what fits: copies and waiting tasks, in the order of the policy.
    fn place(&mut self) {
        if self.conditions.policy == Policy::Shared {
            self.place_copies();
            self.place_tasks();
        } else {
            self.place_tasks();
            self.place_copies();
        }
    }

    fn place_tasks(&mut self) {
        while self.next_task < self.scenario.job.tasks {
            let Some(node) = self.any_node(|node| node.free, None) else { break };
            let task = self.next_task;
            self.next_task += 1;
            self.launch(task, node, false);
        }
    }

    /// Copies of flagged attempts, first flagged first. A copy does not go to the node of its original.
    fn place_copies(&mut self) {
        let none_waits = self.next_task >= self.scenario.job.tasks;
        let in_all = none_waits || self.conditions.policy == Policy::Shared;
        let mut still_wanted = VecDeque::new();
        while let Some(original) = self.wanted.pop_front() {
            let Some(&Attempt { task, node: own, .. }) =
                self.attempts.get(original).filter(|it| it.end.is_none())
            else {
                continue;
            };
            let room = |node: &Node| node.reserve + if in_all { node.free } else { 0 };
            match self.any_node(room, Some(own)) {
                Some(node) => self.launch(task, node, true),
                None => still_wanted.push_back(original),
            }
        }
        self.wanted = still_wanted;
    }

    /// A random node with room, except `not`, all equally likely; `None` if no node has room.
    fn any_node(&mut self, room: impl Fn(&Node) -> usize, not: Option<usize>) -> Option<usize> {
        let nodes = self.nodes.iter().enumerate();
        let with_room = nodes.filter(|&(index, node)| Some(index) != not && room(node) > 0);
        let with_room: Vec<usize> = with_room.map(|(index, _)| index).collect();
        let chosen = if with_room.len() > 1 { self.choice.below(with_room.len()) } else { 0 };
        with_room.get(chosen).copied()
    }

    fn launch(&mut self, task: usize, node: usize, copy: bool) {
        let works = if copy { &self.chances.copies } else { &self.chances.originals };
        let (Some(place), Some(&work)) = (self.nodes.get_mut(node), works.get(task)) else { return };
        // A copy takes a container that is kept for copies, if there is one.
        let reserved = copy && place.reserve > 0;
        place.take(reserved);
        let number = self.attempts.len();
        self.attempts.push(Attempt {
            task,
            copy,
            node,
            start: self.now,
            end: None,
            won: false,
            reported: (0.0, 0.0),
            detected: None,
            reserved,
            work,
            base: None,
        });
        if let Some(live) = self.live.get_mut(task) {
            live.push(number);
        }
        if !copy {
            self.watch.launched(number, node, self.now, self.scenario);
        }
        self.events.add(self.now + self.scenario.cluster.container_start_s, Event::Begin { attempt: number });
    }

    /// The container of an attempt has started.
    fn begin(&mut self, number: usize) {
        let Some(attempt) = self.attempts.get_mut(number).filter(|it| it.end.is_none()) else { return };
        let Some(node) = self.nodes.get_mut(attempt.node) else { return };
        node.advance(self.now);
        attempt.base = Some(node.begin(number, attempt.work));
        let place = attempt.node;
        self.plan_end(place);
    }

    /// The next attempt on a node has ended, unless the speed has changed since this was planned.
    fn end(&mut self, place: usize, version: u64) {
        let Some(node) = self.nodes.get_mut(place).filter(|node| node.version == version) else { return };
        node.advance(self.now);
        let Some((winner, _)) = node.next_end() else { return };
        let Some(task) = self.attempts.get(winner).map(|attempt| attempt.task) else { return };
        let live = self.live.get_mut(task).map(std::mem::take).unwrap_or_default();
        for number in live {
            self.stop(number, number == winner);
        }
        self.unfinished -= 1;
        self.place();
    }

    /// An attempt completes, or is killed because another attempt of its task has completed.
    fn stop(&mut self, number: usize, won: bool) {
        let Some(attempt) = self.attempts.get_mut(number) else { return };
        let Some(node) = self.nodes.get_mut(attempt.node) else { return };
        node.advance(self.now);
        let age = self.now - attempt.start;
        let period = self.scenario.detection.report_s;
        let reported = if won { age } else { (age / period).floor() * period };
        let done = attempt.base.map_or(0.0, |base| node.work_at(attempt.start + reported) - base);
        attempt.reported = (reported, if won { 1.0 } else { (done / attempt.work).clamp(0.0, 1.0) });
        attempt.end = Some(self.now);
        attempt.won = won;
        node.end(number);
        node.give_back(attempt.reserved);
        let (place, start) = (attempt.node, attempt.start);
        self.plan_end(place);
        if won {
            let at_ms = millis(self.now);
            let duration_ms = at_ms.saturating_sub(millis(start)).unsigned_abs();
            let input = Some(self.scenario.split_bytes());
            self.watch.completed(&Completion { at_ms, duration_ms, input, records: None });
        }
    }

    /// Plans the next end on a node; earlier plans are void.
    fn plan_end(&mut self, place: usize) {
        let Some(node) = self.nodes.get(place) else { return };
        if let Some((_, at)) = node.next_end() {
            self.events.add(at, Event::End { node: place, version: node.version });
        }
    }

    fn scan(&mut self) {
        let Self { scenario, now, .. } = *self;
        let Some(detector) = self.conditions.detector else { return };
        self.watch.update(&self.attempts, &self.nodes, now, scenario);
        let pending = scenario.job.tasks.saturating_sub(self.next_task);
        let model = self.conditions.usual_progress;
        for number in self.watch.new_flags(detector, now, scenario.job.tasks, pending, model) {
            if let Some(attempt) = self.attempts.get_mut(number) {
                attempt.detected = Some(now - attempt.start);
            }
            self.wanted.push_back(number);
        }
        self.place_copies();
        self.events.add(now + scenario.detection.scan_s, Event::Scan);
    }
}
