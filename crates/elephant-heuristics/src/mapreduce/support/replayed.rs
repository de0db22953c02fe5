//! What a job would not have lost without a cause, by replays of the job.

use elephant_analysis::replay::mapreduce::{Cause, Change, Plan};
use elephant_analysis::replay::{MAX_RESIDUAL, Micros, Replayed};
use elephant_base::units::Millis;
use elephant_model::model::Application;

/// A job whose replay without a change takes about as long as the job did.
pub(crate) struct ReplayedJob {
    pub(crate) plan: Plan,
    recorded: Micros,
    base: Replayed,
}

/// What a job lost to a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lost {
    pub(crate) time: Millis,
    /// The time as a share of the job's run time.
    pub(crate) share: f64,
    /// The share of the time of all containers that tasks held because of it.
    pub(crate) held: f64,
}

impl ReplayedJob {
    /// `None` if the job cannot be replayed.
    pub(crate) fn of(app: &Application) -> Option<Self> {
        Self::with(Plan::of(app).ok()?)
    }

    /// The same, if the job was read already.
    pub(crate) fn with(plan: Plan) -> Option<Self> {
        let base = plan.replay(&Change::default());
        let (recorded, replayed) = (plan.recorded(), base.wall);
        let off = (replayed.as_f64() - recorded.as_f64()).abs();
        let is_alike = recorded > Micros::ZERO && off <= MAX_RESIDUAL * recorded.as_f64();
        is_alike.then_some(Self { plan, recorded, base })
    }

    /// What the job would have saved without these causes; nothing if that is less than the replay is off. `None` if
    /// it cannot be replayed without them.
    pub(crate) fn lost(&self, causes: &[Cause]) -> Option<Lost> {
        self.lost_from(self.base, causes)
    }

    /// The same, but at most what the job would have saved if these other causes had not been there either.
    pub(crate) fn lost_besides(&self, causes: &[Cause], others: &[Cause]) -> Option<Lost> {
        let alone = self.lost(causes)?;
        // What the history has no data for cannot be left out.
        let mut known: Vec<Cause> = others.to_vec();
        known.retain(|other| self.plan.without(&[*other]).is_ok());
        let without = self.plan.without(&known).ok().filter(|change| !change.is_nothing());
        let Some(without) = without else { return Some(alone) };
        known.extend(causes);
        let left = self.lost_from(self.plan.replay(&without), &known)?;
        Some(Lost {
            time: alone.time.min(left.time),
            share: alone.share.min(left.share),
            held: alone.held.min(left.held),
        })
    }

    fn lost_from(&self, base: Replayed, causes: &[Cause]) -> Option<Lost> {
        let new = self.plan.replay(&self.plan.without(causes).ok()?);
        let saved = (base.wall - new.wall).or_zero();
        let off = (self.base.wall.as_f64() - self.recorded.as_f64()).abs();
        let saved = if saved.as_f64() > off { saved } else { Micros::ZERO };
        let held = 1.0 - new.held.as_f64() / base.held.as_f64().max(1.0);
        Some(Lost { time: saved.to_millis(), share: self.share(saved), held: held.max(0.0) })
    }

    /// The time that the job would have saved without these causes, however little.
    pub(crate) fn saved(&self, causes: &[Cause]) -> Option<Micros> {
        let new = self.plan.replay(&self.plan.without(causes).ok()?);
        Some((self.base.wall - new.wall).or_zero())
    }

    /// A time as a share of the job's run time.
    pub(crate) fn share(&self, time: Micros) -> f64 {
        time.as_f64() / self.recorded.as_f64().max(1.0)
    }
}
