//! Watching the progress of tasks gives the flags that a replay of the finished job gives, also with models of earlier
//! runs.

use std::path::PathBuf;
use std::sync::Arc;

use elephant_analysis::stragglers::detect::{Detector, Needs, all};
use elephant_analysis::stragglers::executions::{Basis, Executions};
use elephant_analysis::stragglers::live::{End, Launch, Report};
use elephant_analysis::stragglers::replay::{Options, Timeline, replay};
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::engine::visit;
use elephant_engine::survey::{self, Learnt, Settings};
use elephant_engine::watch::{Identity, Judges, LiveApplication};
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};
use elephant_model::model::{Application, Engine};

/// Row of the attempt, detector, and milliseconds from launch to flag.
type Key = (usize, usize, u64);

/// The time between two questions to an application master.
const ASK_EVERY: i64 = 5000;

/// Detectors that an application master's answers suffice for.
fn detectors() -> Vec<Box<dyn Detector>> {
    let suffices = |needs| matches!(needs, Needs::Times | Needs::Progress | Needs::Models);
    all().into_iter().filter(|detector| suffices(detector.needs())).collect()
}

enum Event {
    Launch(Launch),
    Report(Report),
    End(End),
}

/// The answers of an application master about a group, by time.
fn told(app: &Application, group: &TaskGroup, timeline: &Timeline, options: &Options) -> Vec<(i64, Event)> {
    let mut events = Vec::new();
    let origin = (0..group.attempts.len())
        .filter_map(|row| group.attempts.time(row, TimePoint::Start))
        .min()
        .unwrap()
        .as_millis();
    for attempt in &timeline.attempts {
        let (row, id) = (attempt.row, attempt.row as u64);
        let at = |ms: i64| Timestamp::from_millis(origin + ms);
        let task = group.attempts.task(row).and_then(|task| group.tasks.number(task)).unwrap();
        let host = group.attempts.node(row).and_then(|node| app.strings.get(node)).map(Arc::from);
        let number = group.attempts.number(row);
        let launch = Launch { id, task, attempt: number, host, at: at(attempt.start_ms), speculative: false };
        events.push((attempt.start_ms, Event::Launch(launch)));
        let every = usize::try_from(options.report.get()).unwrap();
        for ms in (attempt.start_ms..attempt.finish_ms).step_by(every).skip(1) {
            let progress = attempt.progress((ms - attempt.start_ms) as f64, 0.0);
            events.push((ms, Event::Report(Report { id, at: at(ms), progress, records: None })));
        }
        let end = End { id, at: at(attempt.finish_ms), outcome: group.attempts.outcome(row), records: None };
        events.push((attempt.finish_ms, Event::End(end)));
    }
    events.sort_by_key(|(at, _)| *at);
    events
}

fn watched(
    app: &Application,
    group: &TaskGroup,
    timeline: &Timeline,
    (judges, options): (&Judges, &Options),
) -> Vec<Key> {
    let mut live = LiveApplication::default();
    let (id, name) = (Some(app.id.clone()), app.name.clone());
    live.begin(Identity { id, name, ..Identity::default() });
    live.group(group.kind, None, u32::try_from(group.tasks.len()).ok());
    let mut keys = Vec::new();
    let mut events = told(app, group, timeline, options).into_iter().peekable();
    let mut asked = 0;
    while events.peek().is_some() {
        asked += ASK_EVERY;
        while let Some((_, event)) = events.next_if(|(at, _)| *at <= asked) {
            match event {
                Event::Launch(launch) => live.launch(group.kind, launch, judges),
                Event::Report(report) => live.report(group.kind, report),
                Event::End(end) => live.ended(group.kind, &end),
            }
        }
        let until = live.newest().filter(|_| events.peek().is_some());
        live.advance(until, judges, |flag| {
            let flagged = flag.flagged;
            keys.push((usize::try_from(flagged.launch.id).unwrap(), flagged.detector, flagged.elapsed.get()));
        });
    }
    keys.sort_unstable();
    keys
}

fn of_finished(timeline: &Timeline, options: &Options) -> Vec<Key> {
    let mut keys = Vec::new();
    for (number, detections) in replay(timeline, &detectors(), options).detectors.iter().enumerate() {
        let flags = timeline.attempts.iter().zip(&detections.first);
        keys.extend(flags.filter_map(|(attempt, first)| Some((attempt.row, number, first.as_ref()?.get()))));
    }
    keys.sort_unstable();
    keys
}

/// Whether copies, or tasks that succeeded twice, decide about flags; a timeline has them only in the end.
fn has_copies(group: &TaskGroup, timeline: &Timeline) -> bool {
    let rows = 0..group.attempts.len();
    let succeeded = rows.clone().filter(|&row| group.attempts.outcome(row) == Outcome::Succeeded).count();
    rows.clone().any(|row| group.attempts.is_speculative(row) == Some(true))
        || timeline.attempts.len() != group.attempts.len()
        || succeeded != timeline.done.len()
}

fn learnt(paths: &[PathBuf]) -> Learnt {
    let settings = Settings { learn: true, replay: false, ..Settings::default() };
    let mut learnt = Learnt::default();
    survey::report(paths, &settings, None).teach(&mut learnt);
    learnt
}

#[test]
fn told_progress_gives_the_flags_of_the_finished_job() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let models = Arc::new(learnt(&[runs.clone(), corpus.clone()]));
    let visited = visit(&[runs, corpus], |app, _| (app.engine == Engine::MapReduce).then(|| app.clone()));
    let judges = Judges {
        detectors: detectors(),
        options: Options { told_progress: true, ..Options::of_engine(Engine::MapReduce) },
        min_tasks: 2,
        settle: Millis::ZERO,
        engine: Engine::MapReduce,
        models: Some(Arc::clone(&models)),
    };
    let by_model: Vec<usize> = (0..judges.detectors.len())
        .filter(|&number| judges.detectors[number].needs() == Needs::Models)
        .collect();
    let (mut groups, mut flags, mut of_models) = (0, 0, 0);
    for app in visited.applications.into_iter().filter_map(|visit| visit.value) {
        for group in app.groups.iter().filter(|group| group.tasks.len() >= 2) {
            let timeline = Timeline::of(group, &Executions::of(group, Basis::Wall));
            let is_told = timeline.attempts.iter().all(|attempt| attempt.curve.is_some());
            let job = (app.engine, app.name.as_deref());
            let usual_progress = models.usual_progress(job, (group.kind, None), &app.id);
            // Without a model a replay learns from the first tasks of the job itself, whose progress is not kept live.
            if !is_told || has_copies(group, &timeline) || usual_progress.is_none() {
                continue;
            }
            let options = Options { usual_progress, ..Options::of_engine(Engine::MapReduce) };
            let expected = of_finished(&timeline, &options);
            let watched = watched(&app, group, &timeline, (&judges, &options));
            let first = expected.iter().zip(&watched).find(|(one, other)| one != other);
            assert!(watched == expected, "{} {}: {first:?}", app.id, group.kind.name());
            groups += 1;
            flags += expected.len();
            of_models += expected.iter().filter(|(_, detector, _)| by_model.contains(detector)).count();
        }
    }
    println!("{groups} groups, {flags} flags, {of_models} of them by models");
    assert!(groups > 10 && of_models > 100, "{groups} groups, {flags} flags, {of_models} by models");
}
