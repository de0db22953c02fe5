//! What each trouble of an application saves: alone, and as its share of what all of them save together.

use std::borrow::Cow;

use super::bounds::Bound;
use super::causes::EngineCauses;
use super::estimate::{Amounts, Range};
use super::method::Method;
use super::players::{Effect, Players};
use super::predict::{Cost, Unknown, error_of};
use super::removal::{Cause, MemoryChange, Removal};
use super::replays::{Replays, ReplaysOnce};
use super::sharing::{Part, allowed, share};
use super::spark::Resources;
use super::troubles::{ApplicationSavings, Savings, TroubleSavings};
use super::why_unknown::WhyUnknown;
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::{mapreduce, spark};
use elephant_base::units::Millis;
use elephant_model::model::{Application, Engine, Status, Subject};

/// The maximum number of troubles with computed savings: sets of troubles are bit masks of 64 bits.
const MAX_TROUBLES: usize = 60;

/// The savings of an application's troubles. It is replayed only if one of them needs that, or if the `baseline` is wanted.
#[must_use]
pub fn shares(replays: &ReplaysOnce<'_>, removals: &[Removal], baseline: bool) -> Savings {
    let ReplaysOnce { app, metrics, .. } = *replays;
    let needed = baseline || removals.iter().any(Removal::is_replay);
    let replays = needed.then(|| replays.get());
    let removals = without_stragglers(replays, removals);
    let mut effects = Vec::new();
    let mut places: Vec<Result<usize, WhyUnknown>> = Vec::new();
    for removal in &removals {
        let effect = effect(app, replays, removal);
        let effect =
            effect.and_then(
                |effect| if effects.len() < MAX_TROUBLES { Ok(effect) } else { Err(WhyUnknown::TooMany) },
            );
        places.push(effect.map(|effect| {
            effects.push(effect);
            effects.len() - 1
        }));
    }
    let unknown = replays.and_then(Result::err).map(ToString::to_string);
    let replays = replays.and_then(Result::ok);
    let cost = Cost::of(metrics);
    let recorded = metrics.run_time.map_or(f64::INFINITY, Millis::as_f64);
    let allowed = allowed(replays.map_or(0, Replays::attempts));
    let parts = share(&mut Players::new(replays, effects, (recorded, busy(metrics))), allowed, cost);
    let part = |place: usize| parts.get(place).ok_or(WhyUnknown::TooMany)?.clone();
    let troubles: Vec<TroubleSavings> = removals
        .iter()
        .zip(places)
        .map(|(removal, place)| {
            let unknown = |why| TroubleSavings {
                more_gb_hours: more_memory(replays, removal, cost),
                ..TroubleSavings::unknown(why)
            };
            let more = || more_memory(replays, removal, cost);
            place.and_then(part).map_or_else(unknown, |part| {
                // Without a change of sizes, an end of a range that takes more is the error of the replay.
                let of_replay = part.more_gb_hours.filter(|more| more.low > 0.0 || removal.is_resized());
                TroubleSavings { more_gb_hours: of_replay.or_else(more), ..named(part, removal) }
            })
        })
        .collect();
    let zero = nothing(cost);
    let shares = troubles.iter().filter_map(|trouble| trouble.share.as_ref());
    let joint = shares.fold(zero, |sum, share| sum.plus(share));
    let baseline = replays.map(|replays| replays.baseline().clone());
    Savings {
        application: ApplicationSavings {
            joint,
            more_gb_hours: None,
            baseline,
            unknown,
            joint_cost: None,
            currency: None,
        },
        troubles,
    }
}

/// A saving of zero for each amount that is known for the application.
fn nothing(cost: Cost) -> Amounts {
    Amounts {
        wall_ms: Range::default(),
        core_hours: cost.core_hours.map(|_| Range::default()),
        gb_hours: cost.gb_hours.map(|_| Range::default()),
    }
}

/// The share of what executors held that tasks worked; zero if that is unknown.
fn busy(metrics: &Metrics) -> f64 {
    metrics.idle_percent().map_or(0.0, |idle| 1.0 - idle / 100.0)
}

/// The removals, with plain skew in place of uneven tasks unless stragglers hold up the same parts as long. Testing
/// that takes replays, so in a large application only the first removals are tested, and the others become plain skew.
fn without_stragglers<'r>(
    replays: Option<Result<&Replays<'_>, &Unknown>>,
    removals: &'r [Removal],
) -> Vec<Cow<'r, Removal>> {
    let mut left = match replays {
        Some(Ok(replays)) => allowed(replays.attempts()) / 4,
        _ => 0,
    };
    let settled = |removal: &'r Removal| {
        let Removal::Replay(Cause::Uneven, parts) = removal else { return Cow::Borrowed(removal) };
        let needed = left > 0 && replays.is_some_and(|replays| replays.is_ok_and(|it| is_held_up(it, parts)));
        left = left.saturating_sub(1);
        let skew = || Cow::Owned(Removal::Replay(Cause::Skew, parts.clone()));
        if needed { Cow::Borrowed(removal) } else { skew() }
    };
    removals.iter().map(settled).collect()
}

/// Whether stragglers hold up these parts as long as the skewed tasks.
fn is_held_up(replays: &Replays<'_>, parts: &[Subject]) -> bool {
    let saves = |cause: Cause| {
        let Ok(causes) = replays.causes(cause, parts) else { return false };
        let replayed = replays.with(std::iter::once(&causes), Resources::default(), Bound::Least);
        replayed.is_ok_and(|replayed| {
            let [base, wall] = [replays.base(), replayed.unwrap_or_else(|| replays.base())]
                .map(|replayed| replayed.wall.as_f64() / 1000.0);
            base - wall > error_of(replays.baseline(), wall, 1.0)
        })
    };
    !saves(Cause::Skew) && saves(Cause::Uneven)
}

/// The GB-hours that executors of another size take in as long a run; `None` if they take no more, or if more of them run at
/// once, which makes the run shorter by an unknown time.
fn more_memory(replays: Option<&Replays<'_>>, removal: &Removal, cost: Cost) -> Option<Range> {
    let (slots, memory) = match removal {
        Removal::Resized(resources, _) | Removal::Costs(resources, _) => {
            let [slots, memory, _] = replays?.factors(*resources).ok()?;
            (slots, memory)
        }
        Removal::Containers { memory, .. } => (1.0, memory.of_containers()),
        _ => return None,
    };
    let more = cost.gb_hours? * (memory - 1.0);
    (slots <= 1.0 && more > 0.0).then_some(Range { low: more, point: more, high: more })
}

fn named(part: Part, removal: &Removal) -> TroubleSavings {
    let Part { status, in_order, only_together, alone, more_gb_hours, share } = part;
    TroubleSavings {
        status,
        method: Method { source: removal.source(), in_order, only_together },
        by_size: matches!(removal, Removal::Memory(_)),
        alone: Some(alone),
        at_most: None,
        more_gb_hours,
        more_of_its_own: None,
        share: Some(share),
        alone_cost: None,
        share_cost: None,
    }
}

/// What removing a trouble does, or why that is unknown.
fn effect(
    app: &Application,
    replays: Option<Result<&Replays<'_>, &Unknown>>,
    removal: &Removal,
) -> Result<Effect, WhyUnknown> {
    let known = || known(app).map_err(|why| WhyUnknown::from(why.to_string()));
    match removal {
        Removal::Replay(cause, subjects) => {
            let text = |why: &Unknown| WhyUnknown::from(why.to_string());
            known()?;
            let replayed = replays.ok_or(WhyUnknown::TooMany)?.map_err(text).and_then(|replays| {
                replays.baseline().trusted_up_to_its_end().map_err(|why| text(&why))?;
                replays.causes(*cause, subjects).map_err(|why| text(&why))
            });
            effect_of_cause(app, *cause, replayed)
        }
        Removal::Resized(resources, cause) => {
            let text = |why: Unknown| WhyUnknown::from(why.to_string());
            known()?;
            let all = replays;
            let replays = replays.ok_or(WhyUnknown::TooMany)?.map_err(|why| text(*why))?;
            replays.baseline().trusted_up_to_its_end().map_err(text)?;
            if let (Some((Cause::Failures, parts)), Err(_)) = (cause, replays.factors(*resources)) {
                // Even if the resized executors cannot be replayed, the time of failed attempts is known.
                return effect(app, all, &Removal::Replay(Cause::Failures, parts.clone()));
            }
            replays.factors(*resources).map_err(text)?;
            let causes = cause.as_ref().map_or(Ok(replays.no_causes()), |(cause, subjects)| {
                replays.causes(*cause, subjects).map_err(text)
            });
            Ok(Effect::Replay {
                causes: causes?,
                resources: *resources,
                freed: 0.0,
                memory: MemoryChange::default(),
            })
        }
        Removal::Containers { memory, cause, subjects } => {
            let same = effect(app, replays, &Removal::Replay(*cause, subjects.clone()))?;
            Ok(match same {
                Effect::Replay { causes, resources, freed, .. } => {
                    Effect::Replay { causes, resources, freed, memory: *memory }
                }
                other => other,
            })
        }
        Removal::Memory(memory) => known().map(|()| Effect::Memory(*memory)),
        Removal::Idle { share } => known().map(|()| Effect::Idle(share.clamp(0.0, 1.0))),
        Removal::Driver { time } | Removal::Waiting { time } => {
            known().map(|()| Effect::Waiting(time.as_f64()))
        }
        Removal::Costs(_, why) | Removal::Unknown(why) => Err(why.clone()),
    }
}

/// The effect of replaying without a cause; if that is not possible, the effect that was measured.
fn effect_of_cause(
    app: &Application,
    cause: Cause,
    replayed: Result<EngineCauses, WhyUnknown>,
) -> Result<Effect, WhyUnknown> {
    let lost = match cause {
        Cause::Copies { lost } => lost.clamp(0.0, 1.0),
        _ => 0.0,
    };
    match replayed {
        // A container of MapReduce runs one attempt, so its replay holds less without copies.
        Ok(causes) => Ok(Effect::Replay {
            causes,
            resources: Resources::default(),
            freed: if app.engine == Engine::Spark { lost } else { 0.0 },
            memory: MemoryChange::default(),
        }),
        // What losing copies took was measured; only the time is unknown.
        Err(_) if lost > 0.0 => Ok(Effect::Losing(lost)),
        Err(why) => Err(why),
    }
}

/// Whether the application ended, and its history has what a replay needs. A Spark application that failed or was killed is
/// replayed up to its end.
fn known(app: &Application) -> Result<(), Unknown> {
    match (app.engine, app.status) {
        (Engine::Spark, Status::Succeeded | Status::Failed | Status::Killed) if app.has_schedule() => Ok(()),
        (Engine::Spark, Status::Succeeded) => Err(Unknown::Spark(spark::Unknown::Incomplete)),
        (Engine::MapReduce, Status::Succeeded) if app.events_missing || app.limit.is_some() => {
            Err(Unknown::MapReduce(mapreduce::Unknown::Incomplete))
        }
        (Engine::MapReduce, Status::Succeeded) => Ok(()),
        (Engine::Tez, _) => Err(Unknown::Tez),
        (_, status) => Err(Unknown::Status(status)),
    }
}
