//! A node whose tasks share its processor: all of them progress at the same speed.
//!
//! The node counts the work that each task on it would have done since the start of the simulation. A task ends
//! when that count has grown by the task's own work, so a change of speed need not touch the tasks.

use super::scenario::Scenario;

/// The speed of a node's tasks from a time on, and the count of work at that time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    from: f64,
    work: f64,
    speed: f64,
}

/// How the count of work of a node grew.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Growth(Vec<Span>);

impl Growth {
    /// The count of work at a time.
    pub(super) fn work_at(&self, time: f64) -> f64 {
        // Most calls ask for a time in the last seconds.
        let span = self.0.iter().rev().find(|span| span.from <= time);
        span.map_or(0.0, |span| span.work + (time - span.from) * span.speed)
    }

    /// The first time with this count of work; `None` if it was not reached.
    pub(crate) fn time_at(&self, work: f64) -> Option<f64> {
        let next = self.0.partition_point(|span| span.work < work);
        let span = next.checked_sub(1).and_then(|place| self.0.get(place));
        match span {
            Some(span) if span.speed > 0.0 => Some(span.from + (work - span.work) / span.speed),
            Some(_) => None,
            None => self.0.first().map(|first| first.from),
        }
    }
}

/// A node at a time.
#[derive(Debug)]
pub(super) struct Node<'a> {
    scenario: &'a Scenario,
    cores: f64,
    /// Its speed relative to other nodes with as many cores.
    factor: f64,
    now: f64,
    work: f64,
    speed: f64,
    growth: Growth,
    /// The attempts that compute, and the count of work at which each ends.
    computing: Vec<(usize, f64)>,
    joules: f64,
    /// Changes with each change of speed; a prediction of an earlier version is void.
    pub(super) version: u64,
    /// Free containers for original attempts, or for all.
    pub(super) free: usize,
    /// Free containers that are kept for copies.
    pub(super) reserve: usize,
}

impl<'a> Node<'a> {
    pub(super) fn new(scenario: &'a Scenario, cores: f64, factor: f64, reserve: usize) -> Self {
        Self {
            scenario,
            cores,
            factor,
            now: 0.0,
            work: 0.0,
            speed: 0.0,
            growth: Growth(Vec::new()),
            computing: Vec::new(),
            joules: 0.0,
            version: 0,
            free: scenario.cluster.containers_per_node.saturating_sub(reserve),
            reserve,
        }
    }

    /// Moves the node's clock to `now`.
    pub(super) fn advance(&mut self, now: f64) {
        let passed = now - self.now;
        let energy = &self.scenario.energy;
        let busy = (self.computing.len() as f64).min(self.cores);
        self.joules += passed * (energy.idle_w + energy.core_w * busy);
        self.work += passed * self.speed;
        self.now = now;
    }

    /// An attempt with this much `work` begins to compute. Returns the count of work at this moment.
    pub(super) fn begin(&mut self, attempt: usize, work: f64) -> f64 {
        self.computing.push((attempt, self.work + work));
        self.change_speed();
        self.work
    }

    /// An attempt ends or is killed.
    pub(super) fn end(&mut self, attempt: usize) {
        let before = self.computing.len();
        self.computing.retain(|&(other, _)| other != attempt);
        if self.computing.len() < before {
            self.change_speed();
        }
    }

    /// The attempt that ends next at the present speed, and its end.
    pub(super) fn next_end(&self) -> Option<(usize, f64)> {
        let earlier = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        let &(attempt, end) = self.computing.iter().min_by(earlier)?;
        (self.speed > 0.0).then(|| (attempt, self.now + ((end - self.work) / self.speed).max(0.0)))
    }

    /// The count of work at an earlier time.
    pub(super) fn work_at(&self, time: f64) -> f64 {
        self.growth.work_at(time)
    }

    /// Occupies a container, of those kept for copies or of the others.
    pub(super) const fn take(&mut self, reserved: bool) {
        let kind = if reserved { &mut self.reserve } else { &mut self.free };
        *kind = kind.saturating_sub(1);
    }

    /// Frees a container.
    pub(super) const fn give_back(&mut self, reserved: bool) {
        *if reserved { &mut self.reserve } else { &mut self.free } += 1;
    }

    fn change_speed(&mut self) {
        self.speed = self.scenario.speed(self.cores, self.computing.len()) * self.factor;
        self.version += 1;
        self.growth.0.push(Span { from: self.now, work: self.work, speed: self.speed });
    }

    /// The energy used, and how the count of work grew.
    pub(super) fn into_result(self) -> (f64, Growth) {
        (self.joules, self.growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        Scenario::shipped("C2").unwrap().unwrap()
    }

    #[test]
    fn tasks_share_the_processor() {
        let scenario = scenario();
        let mut node = Node::new(&scenario, 2.0, 1.0, 0);
        node.begin(0, 10.0);
        assert_eq!(node.next_end(), Some((0, 10.0)));
        node.advance(4.0);
        // Four tasks on two cores, each of which does 1.3 times as much: 0.65 of a core for each task.
        for attempt in 1..4 {
            node.begin(attempt, 10.0);
        }
        let (next, end) = node.next_end().unwrap();
        assert_eq!(next, 0);
        assert!((end - (4.0 + 6.0 / 0.65)).abs() < 1e-9, "{end}");
        node.advance(end);
        node.end(0);
        let (_, end) = node.next_end().unwrap();
        assert!((node.work_at(2.0) - 2.0).abs() < 1e-9 && (node.work_at(5.0) - 4.65).abs() < 1e-9);
        node.advance(end);
        let (joules, growth) = node.into_result();
        assert!((growth.time_at(4.65).unwrap() - 5.0).abs() < 1e-9);
        assert_eq!((growth.time_at(0.0), growth.work_at(0.0)), (Some(0.0), 0.0));
        // One core for 4 s, then two.
        assert!((joules - (65.0 * end + 17.0 * (4.0 + 2.0 * (end - 4.0)))).abs() < 1e-6, "{joules}");
    }
}
