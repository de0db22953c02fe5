//! The jobs and stages of a stream's batches.

use std::cmp::Reverse;

use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Batch, Job, Spark, Stage, StageAttempt, Stream};

/// The jobs of a stream. Their descriptions name its run and their batch (`StreamExecution.getBatchDescriptionString`).
fn jobs<'a>(spark: &'a Spark, stream: &'a Stream) -> impl Iterator<Item = (u64, &'a Job)> {
    spark.jobs.iter().filter(|job| job.of_stream).filter_map(|job| {
        let description = job.description.as_deref().filter(|told| told.contains(&stream.run))?;
        let (_, number) = description.rsplit_once("batch = ")?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        Some((number.get(..digits)?.parse().ok()?, job))
    })
}

/// Whether a batch after the last one with progress ran when the stream or its log ended.
pub(super) fn ended_within_batch(spark: &Spark, stream: &Stream) -> bool {
    let last = stream.batches.back().and_then(|batch| batch.number);
    last.is_some_and(|last| jobs(spark, stream).any(|(number, _)| number > last))
}

/// What ran for some batches.
pub(super) struct Work {
    /// Their stages, the one with most task time first.
    pub(super) stages: Vec<StageAttempt>,
    /// The time of all tasks.
    pub(super) time: Millis,
    /// The number of tasks of the first of these stages.
    pub(super) tasks: u64,
}

/// What ran for these batches; `None` if no task is known.
pub(super) fn work(app: &Application, spark: &Spark, stream: &Stream, batches: &[&Batch]) -> Option<Work> {
    let wanted = |number: u64| batches.iter().any(|batch| batch.number == Some(number));
    let of_batches =
        jobs(spark, stream).filter(|(number, _)| wanted(*number)).flat_map(|(_, job)| &job.stages);
    let attempts = of_batches.flat_map(|&stage| spark.attempts_of(stage));
    let timed = |stage: &'_ Stage| {
        let attempts = &app.groups.get(stage.group?)?.attempts;
        let time = attempts.sum(&[Counter::ExecutorRunTime])?;
        Some((Reverse(time), stage.id, attempts.len() as u64))
    };
    let mut stages: Vec<(Reverse<u64>, StageAttempt, u64)> = attempts.filter_map(timed).collect();
    stages.sort_unstable();
    stages.dedup();
    let tasks = stages.first()?.2;
    let time = stages.iter().map(|(Reverse(time), ..)| *time).fold(0, u64::saturating_add);
    Some(Work { stages: stages.into_iter().map(|(_, id, _)| id).collect(), time: Millis::new(time), tasks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u32, description: &str) -> Job {
        let mut job = Job::new(id);
        job.description = Some(description.to_owned());
        job.of_stream = true;
        job
    }

    #[test]
    fn jobs_belong_to_batches_by_their_descriptions() {
        let stream = Stream { run: "r1".to_owned(), ..Stream::default() };
        let jobs_of = [
            "clicks<br/>id = a<br/>runId = r1<br/>batch = 12",
            "clicks\nid = a\nrunId = r1\nbatch = 3",
            "clicks<br/>runId = r2<br/>batch = 4",
            "runId = r1<br/>batch = init",
        ];
        let spark =
            Spark { jobs: (0..).zip(jobs_of).map(|(id, told)| job(id, told)).collect(), ..Spark::default() };
        let numbers: Vec<(u64, u32)> = jobs(&spark, &stream).map(|(number, job)| (number, job.id)).collect();
        assert_eq!(numbers, [(12, 0), (3, 1)]);
        let within = |last: u64| {
            let batch = Batch { number: Some(last), ..Batch::default() };
            ended_within_batch(&spark, &Stream { batches: [batch].into(), ..stream.clone() })
        };
        assert_eq!([within(11), within(12)], [true, false]);
        assert!(!ended_within_batch(&spark, &stream));
    }
}
