//! Reads the facts that expressions name from the model.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, Timelike, Utc};

use super::names::{
    AppField, AttemptField, AttemptsField, ExecutorField, JobField, RowField, StageField, TasksField,
    snake_case,
};
use super::node::SettingKind;
use super::plans;
use super::scope::{Judged, Row, Scope};
use super::value::Value;
use elephant_analysis::metrics::requested_container;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, Job, JobResult, Stage, StageStatus};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, Symbol, job_type};
use elephant_rule::params::Assumed;

fn text(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text))
}

fn time<'a>(time: Millis) -> Value<'a> {
    Value::Number(time.as_f64())
}

fn size<'a>(size: Bytes) -> Value<'a> {
    Value::Number(size.as_f64())
}

fn count<'a>(count: u64) -> Value<'a> {
    Value::Number(count as f64)
}

fn number<'a>(number: f64) -> Option<Value<'a>> {
    (!number.is_nan()).then_some(Value::Number(number))
}

/// A fact about the application.
pub(super) fn of_app<'a>(scope: &Scope<'a, '_>, field: AppField) -> Option<Value<'a>> {
    let (app, metrics) = (scope.app, scope.metrics);
    let gb_hours = |amount: Option<MbMillis>| number(amount?.as_gb_hours());
    let log = || app.spark.as_ref().map(|spark| spark.log);
    match field {
        AppField::Id => Some(text(&app.id)).filter(|_| !app.id.is_empty()),
        AppField::Name => app.name.as_deref().map(text),
        AppField::User => app.user.as_deref().map(text),
        AppField::Queue => app.queue.as_deref().map(text),
        AppField::JobType => job_type(app).map(text),
        AppField::Engine => Some(text(app.engine.name())),
        AppField::EngineVersion => app.engine_version.as_deref().map(text),
        AppField::Status => Some(text(app.status.name())),
        AppField::Complete => Some(Value::Flag(app.complete)),
        AppField::Uberized => app.uberized.map(Value::Flag),
        AppField::SubmitTime => {
            Some(time(Millis::from_secs(u64::from(submitted(app)?.num_seconds_from_midnight()))))
        }
        AppField::SubmitHour => Some(count(u64::from(submitted(app)?.hour()))),
        AppField::SubmitWeekday => Some(text(weekday(submitted(app)?))),
        AppField::InputFiles => input_files(app).map(count),
        AppField::FilesPerMap => {
            let maps = app.group(TaskKind::Map).map(|maps| maps.tasks.len()).filter(|&maps| maps > 0)?;
            number(input_files(app)? as f64 / maps as f64)
        }
        AppField::RunTime => metrics.run_time.map(time),
        AppField::WaitTime => metrics.wait_time.map(time),
        AppField::UsedGbHours => gb_hours(metrics.used),
        AppField::WastedGbHours => gb_hours(metrics.wasted),
        AppField::WastedRatio => number(metrics.wasted_percent()? / 100.0),
        AppField::FailedGbHours => gb_hours(metrics.failed_attempts),
        AppField::UsedCoreHours => number(metrics.cores_used?.as_core_hours()),
        AppField::IdleCoreHours => number(metrics.cores_idle?.as_core_hours()),
        AppField::IdleRatio => number(metrics.idle_percent()? / 100.0),
        AppField::LogSize => Some(size(log()?.decoded)),
        AppField::StoredLogSize => log()?.stored.map(size),
        AppField::LogIsRolling => Some(Value::Flag(log()?.rolling)),
    }
}

/// A history with earlier times does not use calendar time: it counts from 0.
const FIRST_MOMENT: Timestamp = Timestamp::from_millis(100_000_000_000);

/// The submission, in UTC.
fn submitted(app: &Application) -> Option<DateTime<Utc>> {
    let moment = app.submitted_at.filter(|moment| *moment >= FIRST_MOMENT)?;
    DateTime::from_timestamp_millis(moment.as_millis())
}

fn weekday(moment: DateTime<Utc>) -> &'static str {
    use chrono::Weekday;
    match moment.weekday() {
        Weekday::Mon => "monday",
        Weekday::Tue => "tuesday",
        Weekday::Wed => "wednesday",
        Weekday::Thu => "thursday",
        Weekday::Fri => "friday",
        Weekday::Sat => "saturday",
        Weekday::Sun => "sunday",
    }
}

/// The number of input files, which `FileInputFormat` writes to the configuration of the job. Formats that combine
/// files do not.
fn input_files(app: &Application) -> Option<u64> {
    let combines = app.conf.text(ConfKey::HiveInputFormat).is_some_and(|format| format.contains("Combine"));
    let files = app.conf.setting("mapreduce.input.fileinputformat.numinputfiles")?;
    files.parse().ok().filter(|_| !combines && app.engine == Engine::MapReduce)
}

/// A number about the subject's tasks.
pub(super) fn of_tasks<'a>(scope: &Scope<'a, '_>, field: TasksField) -> Option<Value<'a>> {
    let groups = || scope.judged.groups(scope.app);
    let ended = |outcome| Some(count(groups().map(|group| group.count_tasks(outcome)).sum()));
    match field {
        TasksField::Total => Some(count(scope.judged.task_count(scope.app))),
        TasksField::Succeeded => ended(Outcome::Succeeded),
        TasksField::Failed => ended(Outcome::Failed),
        TasksField::Killed => ended(Outcome::Killed),
        TasksField::Container => match scope.judged {
            Judged::Tasks(group) if scope.app.engine == Engine::MapReduce => {
                requested_container(scope.app, group.kind, Assumed(None)).map(size)
            }
            _ => None,
        },
    }
}

/// A number about the subject's attempts.
pub(super) fn of_attempts<'a>(scope: &Scope<'a, '_>, field: AttemptsField) -> Value<'a> {
    let rows = |wanted: &dyn Fn(&TaskGroup, usize) -> bool| {
        let of_group =
            |group: &TaskGroup| (0..group.attempts.len()).filter(|&row| wanted(group, row)).count() as u64;
        count(scope.judged.groups(scope.app).map(of_group).sum())
    };
    let ended = |outcome| rows(&|group, row| group.attempts.outcome(row) == outcome);
    match field {
        AttemptsField::Total => rows(&|_, _| true),
        AttemptsField::Succeeded => ended(Outcome::Succeeded),
        AttemptsField::Failed => ended(Outcome::Failed),
        AttemptsField::Killed => ended(Outcome::Killed),
        AttemptsField::Speculative => rows(&|group, row| group.attempts.is_speculative(row) == Some(true)),
    }
}

/// The subject as the row that has this field, if it is one.
#[must_use]
pub(super) fn subject_row(judged: Judged<'_>, field: RowField) -> Option<Row<'_>> {
    match judged {
        Judged::Job(job, _) => Some(Row::Job(job)),
        Judged::Query(query) => Some(Row::Query(query)),
        // A rule on operators can name the query of each.
        Judged::Operator(query, _) if matches!(field, RowField::Query(_)) => Some(Row::Query(query)),
        Judged::Operator(_, operator) => Some(Row::Operator(operator)),
        Judged::Stage(stage, _) => Some(Row::Stage(stage)),
        Judged::Executor(executor) => Some(Row::Executor(executor)),
        Judged::Application | Judged::Tasks(_) => None,
    }
}

/// A fact about a row.
#[must_use]
pub(super) fn of_row<'a>(app: &'a Application, row: Row<'a>, field: RowField) -> Option<Value<'a>> {
    match (row, field) {
        (Row::Attempt(group, row), RowField::Attempt(field)) => of_attempt(app, group, row, field),
        (Row::Stage(stage), RowField::Stage(field)) => of_stage(stage, field),
        (Row::Job(job), RowField::Job(field)) => of_job(job, field),
        (Row::Executor(executor), RowField::Executor(field)) => of_executor(app, executor, field),
        (Row::Query(query), RowField::Query(field)) => plans::of_query(query, field),
        (Row::Operator(operator), RowField::Operator(field)) => plans::of_operator(operator, field),
        _ => None,
    }
}

fn of_attempt<'a>(
    app: &'a Application,
    group: &TaskGroup,
    row: usize,
    field: AttemptField,
) -> Option<Value<'a>> {
    let attempts = &group.attempts;
    let symbol = |symbol: Option<Symbol>| app.strings.get(symbol?).map(text);
    let counter = |counter| attempts.count(row, counter);
    let since_submission = |point| {
        let submitted = app.submitted_at?;
        Millis::between(submitted, attempts.time(row, point)?).map(time)
    };
    match field {
        AttemptField::Counter(of) => counter(of).map(count),
        AttemptField::InputBytes => match app.engine {
            Engine::Spark => counter(Counter::InputBytes).map(count),
            Engine::MapReduce | Engine::Tez => attempts.total(row, &Counter::INPUT_BYTES).map(count),
        },
        AttemptField::ShuffleBytesRead => match app.engine {
            Engine::Spark => {
                let parts = [Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead];
                attempts.total(row, &parts).map(count)
            }
            Engine::MapReduce | Engine::Tez => counter(Counter::ReduceShuffleBytes).map(count),
        },
        AttemptField::RunTime => attempts.run_time(row).map(time),
        AttemptField::StartedAfter => since_submission(TimePoint::Start),
        AttemptField::FinishedAfter => since_submission(TimePoint::Finish),
        AttemptField::ShuffleTime => phases(group, row).map(|[shuffle, ..]| time(shuffle)),
        AttemptField::SortTime => phases(group, row).map(|[_, sort, _]| time(sort)),
        AttemptField::ReduceTime => phases(group, row).map(|[.., reduce]| time(reduce)),
        AttemptField::Outcome => match attempts.outcome(row) {
            Outcome::Unfinished => None,
            Outcome::Succeeded => Some(text("succeeded")),
            Outcome::Failed => Some(text("failed")),
            Outcome::Killed => Some(text("killed")),
        },
        AttemptField::EndReason => attempts.end_reason(row).map(word),
        AttemptField::Node => symbol(attempts.node(row)),
        AttemptField::Rack => symbol(attempts.rack(row)),
        AttemptField::Locality => attempts.locality(row).map(word),
        AttemptField::Executor => symbol(attempts.executor(row)),
        AttemptField::Speculative => attempts.is_speculative(row).map(Value::Flag),
        AttemptField::TaskNumber => {
            group.tasks.number(attempts.task(row)?).map(|number| count(u64::from(number)))
        }
        AttemptField::AttemptNumber => attempts.number(row).map(|number| count(u64::from(number))),
    }
}

fn word<'a>(variant: impl std::fmt::Debug) -> Value<'a> {
    Value::Text(Cow::Owned(snake_case(&format!("{variant:?}"))))
}

/// The durations of shuffle, sort and reduce function of a reduce task, if its times are in order. Hadoop 1
/// omits the end of the sort if nothing was sorted.
fn phases(group: &TaskGroup, row: usize) -> Option<[Millis; 3]> {
    let moment = |point| group.attempts.time(row, point);
    let (start, finish): (Timestamp, Timestamp) = (moment(TimePoint::Start)?, moment(TimePoint::Finish)?);
    let shuffled = moment(TimePoint::ShuffleFinish)?;
    let sorted = moment(TimePoint::SortFinish).unwrap_or(shuffled);
    Some([
        Millis::between(start, shuffled)?,
        Millis::between(shuffled, sorted)?,
        Millis::between(sorted, finish)?,
    ])
}

fn of_stage(stage: &Stage, field: StageField) -> Option<Value<'_>> {
    match field {
        StageField::Id => Some(Value::Text(Cow::Owned(stage.id.to_string()))),
        StageField::Number => Some(count(u64::from(stage.id.stage))),
        StageField::Attempt => Some(count(u64::from(stage.id.attempt))),
        StageField::Name => stage.name.as_deref().map(text),
        StageField::Status => match stage.status {
            StageStatus::Unfinished => None,
            StageStatus::Complete => Some(text("complete")),
            StageStatus::Failed => Some(text("failed")),
        },
        StageField::Failure => stage.failure.as_deref().map(text),
        StageField::Duration => stage.duration().map(time),
        StageField::AnnouncedTasks => stage.announced_tasks.map(count),
    }
}

fn of_job(job: &Job, field: JobField) -> Option<Value<'_>> {
    match field {
        JobField::Number => Some(count(u64::from(job.id))),
        JobField::Result => match job.result? {
            JobResult::Succeeded => Some(text("succeeded")),
            JobResult::Failed => Some(text("failed")),
        },
        JobField::Failure => job.failure.as_deref().map(text),
        JobField::Description => job.description.as_deref().map(text),
        JobField::Duration => job.duration().map(time),
        JobField::Stages => Some(count(job.stages.len() as u64)),
        JobField::Group => job.group.as_deref().map(text),
        JobField::Query => job.sql_execution.map(count),
    }
}

fn of_executor<'a>(app: &'a Application, executor: &'a Executor, field: ExecutorField) -> Option<Value<'a>> {
    let totals = &executor.totals;
    match field {
        ExecutorField::Id => Some(text(&executor.id)),
        ExecutorField::Host => app.strings.get(executor.host?).map(text),
        ExecutorField::Cores => executor.cores.map(|cores| count(u64::from(cores))),
        ExecutorField::Lost => Some(Value::Flag(executor.was_lost())),
        ExecutorField::Tasks => Some(count(totals.tasks)),
        ExecutorField::Succeeded => Some(count(totals.succeeded)),
        ExecutorField::Failed => Some(count(totals.failed)),
        ExecutorField::Killed => Some(count(totals.killed)),
        ExecutorField::TaskTime => totals.task_time.map(time),
        ExecutorField::RunTime => totals.run_time.map(time),
        ExecutorField::CpuTime => totals.cpu_time.map(time),
        ExecutorField::GcTime => totals.gc_time.map(time),
        ExecutorField::InputBytes => totals.input.map(size),
        ExecutorField::OutputBytes => totals.output.map(size),
        ExecutorField::ShuffleBytesRead => totals.shuffle_read.map(size),
        ExecutorField::ShuffleBytesWritten => totals.shuffle_write.map(size),
        ExecutorField::MemoryBytesSpilled => totals.memory_spilled.map(size),
        ExecutorField::DiskBytesSpilled => totals.disk_spilled.map(size),
        ExecutorField::StorageMemory => executor.storage.total.map(size),
        ExecutorField::PeakStorage => executor.storage.peak_used.map(size),
        ExecutorField::PeakHeap => executor.peaks.heap().map(size),
        ExecutorField::PeakUnified => executor.peaks.unified().map(size),
        ExecutorField::PeakResident => executor.peaks.resident().map(size),
        ExecutorField::Peak(metric) => executor.peaks.get(metric).map(count),
    }
}

/// A setting, or its documented default if it is not set, read as `kind`.
#[must_use]
pub(super) fn setting<'a>(app: &Application, kind: SettingKind, name: &str) -> Option<Value<'a>> {
    // Without any configuration, it is unknown which settings were set.
    if app.conf.is_empty() {
        return None;
    }
    if app.conf.setting(name).is_some() {
        return setting_in(&app.conf, kind, name);
    }
    setting_in(&Conf::of_one(name, app.default_setting(name)?), kind, name)
}

fn setting_in<'a>(conf: &Conf, kind: SettingKind, name: &str) -> Option<Value<'a>> {
    match kind {
        SettingKind::Text => conf.setting(name).map(|text| Value::Text(Cow::Owned(text))),
        SettingKind::Number => {
            number(conf.setting(name)?.parse().ok().filter(|number: &f64| number.is_finite())?)
        }
        SettingKind::Flag => match conf.setting(name)?.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Flag(true)),
            "false" => Some(Value::Flag(false)),
            _ => None,
        },
        SettingKind::Bytes => conf.size_setting(name).map(size),
        SettingKind::Megabytes => {
            let mib = conf.setting(name)?.parse::<u64>().ok().filter(|&mib| mib > 0)?;
            Some(size(Bytes::from_mib(mib)))
        }
        SettingKind::Time => conf.time_setting(name).map(time),
        SettingKind::Heap => conf.heap_setting(name).map(size),
    }
}
