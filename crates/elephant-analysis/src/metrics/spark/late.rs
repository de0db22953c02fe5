//! Executors that started long after the others: until then, an application had only a part of its executors.

use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::{Placement, Spark, Stage};
use elephant_model::model::table::TimePoint;

/// A time span: start and end.
pub(super) type Span = (Timestamp, Timestamp);

/// A change in the numbers of executors, their slots, running tasks, and tasks that wait for a slot.
type Change = (Timestamp, [i64; 4]);

/// The wait for executors that came at least `late` after the first one. If three of four were missing for a
/// minute, three quarters of the minute count; less if the present executors had no work, because then
/// nothing waited. Dynamic allocation requests executors as it needs them, so an executor counts as missing
/// only if tasks wait for it.
pub(super) fn wait(app: &Application, spark: &Spark, lifetimes: &[Span], late: Millis) -> Millis {
    let dynamic = app.allocates_dynamically();
    let first = lifetimes.iter().map(|lifetime| lifetime.0).min();
    let Some((most, complete)) = first_time_complete(lifetimes) else { return Millis::ZERO };
    let Some(first) =
        first.filter(|&first| Millis::between(first, complete).is_some_and(|after| after >= late))
    else {
        return Millis::ZERO;
    };
    let Some(mut changes) = changes(app, spark, lifetimes) else { return Millis::ZERO };
    changes.sort_unstable();
    let (mut now, mut state, mut waited) = (first, [0_i64; 4], 0.0);
    for (at, change) in changes.into_iter().take_while(|(at, _)| *at <= complete) {
        let [executors, slots, running, waiting] = state.map(|count| count as f64);
        if let Some(time) = Millis::between(now, at).filter(|_| slots > 0.0) {
            let busy = (running + waiting) * executors / slots;
            let wanted = if !dynamic {
                most as f64
            } else if waiting > 0.0 {
                busy.ceil().min(most as f64)
            } else {
                executors
            };
            let missing = if wanted > executors { 1.0 - executors / wanted } else { 0.0 };
            waited += time.as_f64() * missing * (running / slots).clamp(0.0, 1.0);
        }
        now = now.max(at);
        for (count, change) in state.iter_mut().zip(change) {
            *count += change;
        }
    }
    Millis::from_f64(waited.round()).unwrap_or_default()
}

/// The largest number of executors alive at the same time, and when it was first reached.
fn first_time_complete(lifetimes: &[Span]) -> Option<(i64, Timestamp)> {
    let ends = lifetimes.iter().map(|lifetime| (lifetime.1, -1));
    let mut changes: Vec<(Timestamp, i64)> =
        lifetimes.iter().map(|lifetime| (lifetime.0, 1)).chain(ends).collect();
    changes.sort_unstable();
    let mut alive = 0;
    let counts = changes.into_iter().map(|(at, change)| {
        alive += change;
        (alive, at)
    });
    // On a tie, the first.
    counts.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// All changes, unsorted; `None` if the cores of an executor are unknown.
fn changes(app: &Application, spark: &Spark, lifetimes: &[Span]) -> Option<Vec<Change>> {
    let placement = Placement::of(app);
    let mut changes: Vec<Change> = Vec::new();
    for (executor, &(from, to)) in spark.executors.iter().zip(lifetimes) {
        let slots = i64::from(placement.slots(executor)?);
        changes.extend([(from, [1, slots, 0, 0]), (to, [-1, -slots, 0, 0])]);
    }
    for attempts in app.groups.iter().map(|group| &group.attempts) {
        for row in 0..attempts.len() {
            let start = attempts.time(row, TimePoint::Start);
            if let Some((start, end)) = start.zip(attempts.work_end(row)) {
                changes.extend([(start, [0, 0, 1, 0]), (end, [0, 0, -1, 0])]);
            }
        }
    }
    changes.extend(spark.stages.iter().filter_map(|stage| waiting(app, stage)).flatten());
    Some(changes)
}

/// The tasks of a stage wait from its submission to their first launch.
fn waiting(app: &Application, stage: &Stage) -> Option<Vec<Change>> {
    let attempts = &app.groups.get(stage.group?)?.attempts;
    let submitted = stage.submitted_at?;
    let first = (0..attempts.len()).filter(|&row| attempts.number(row) == Some(0));
    let launches = first.filter_map(|row| attempts.time(row, TimePoint::Start));
    Some(
        launches
            .flat_map(|launch| [(submitted.min(launch), [0, 0, 0, 1]), (launch, [0, 0, 0, -1])])
            .collect(),
    )
}
