//! The time in which executors were held and no job ran: the driver worked alone, or waited for its user.

use super::application::spark;
use super::by_design::Waits;
use elephant_base::units::{Millis, Timestamp};
use elephant_catalogue::Advised;
use elephant_model::model::spark::{Facet, Job, Spark};
use elephant_rule::finding::{Advice, Measure, Phrase};
use elephant_rule::wording::percent;

/// The time in a message.
const ALONE: &str = "no job ran for {time}, {share} of the run: the driver worked alone or waited, while up to {executors} \
                     had nothing to do; most of it {place}";

/// The same if the driver waits by design.
const WAITED: &str =
    "no job ran for {time}, {share} of the run: {why}, while up to {executors} had nothing to do";

/// Where the driver works without a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Before the first job.
    Before,
    /// Between jobs.
    Between,
    /// After the last job.
    After,
}

/// A span without a job.
#[derive(Debug, Clone, Copy)]
struct Span<'a> {
    place: Place,
    time: Millis,
    /// The job whose end began the span, and the job whose start ended it.
    jobs: (Option<&'a Job>, Option<&'a Job>),
    /// The executors that lived in it.
    executors: usize,
}

/// The time without a job. The log does not tell whether the driver worked or waited, as in a notebook.
#[derive(Debug, Clone)]
pub(crate) struct DriverAlone<'a> {
    spans: Vec<Span<'a>>,
    time: Millis,
    run_time: Millis,
    /// What the driver waits for by design.
    waits: Option<Waits>,
}

impl<'a> DriverAlone<'a> {
    /// `None` if it is a small part of the run, or if the log does not tell.
    pub(crate) fn of(app: &'a Advised<'a>) -> Option<Self> {
        let spark = spark(app).filter(|spark| spark.gaps.reason(&[Facet::Jobs]).is_none())?;
        let (start, end) = (app.submitted_at?, app.finished_at?);
        let run_time = Millis::between(start, end).filter(|time| *time > Millis::ZERO)?;
        let spans = spans(spark, (start, end))?;
        let time: Millis = spans.iter().map(|span| span.time).sum();
        let waits = Waits::of(app, spark);
        (time.as_f64() >= app.advice.driver_alone.get() * run_time.as_f64()).then_some(Self {
            spans,
            time,
            run_time,
            waits,
        })
    }

    fn of_place(&self, place: Place) -> impl Iterator<Item = &Span<'a>> {
        self.spans.iter().filter(move |span| span.place == place)
    }

    /// Whether the driver waits by design.
    pub(crate) const fn is_by_design(&self) -> bool {
        self.waits.is_some()
    }

    /// The places with most of the time, the one with most first, each with its time.
    fn places(&self) -> Vec<(Place, Millis)> {
        let time = |place| self.of_place(place).map(|span| span.time).sum::<Millis>();
        let mut places = [Place::Between, Place::After, Place::Before].map(|place| (place, time(place)));
        places.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        places.to_vec()
    }

    pub(crate) fn evidence(&self) -> [(&'static str, Measure); 2] {
        let share = self.time.as_f64() / self.run_time.as_f64();
        [("driver_alone_ms", Measure::Time(self.time)), ("driver_alone_ratio", Measure::Ratio(Some(share)))]
    }

    /// "no job ran for 14m 30s, 66.7 % of the run, …".
    pub(crate) fn phrase(&self) -> Phrase {
        let share = percent(self.time.as_f64() / self.run_time.as_f64());
        let most = self.spans.iter().map(|span| span.executors).max().unwrap_or_default();
        let executors = elephant_rule::wording::plural(most as u64, "executor");
        let words: [(_, &dyn std::fmt::Display); 3] =
            [("time", &self.time), ("share", &share), ("executors", &executors)];
        match self.waits {
            Some(waits) => Phrase::new(WAITED, &[words.as_slice(), &[("why", &waits.words())]].concat()),
            None => Phrase::new(ALONE, &[words.as_slice(), &[("place", &self.most())]].concat()),
        }
    }

    /// Where most of the time passed.
    fn most(&self) -> String {
        let Some(&(place, time)) = self.places().first() else { return String::new() };
        let longest = self.of_place(place).max_by_key(|span| span.time);
        let jobs = longest.map(|span| span.jobs);
        let id = |job: Option<&Job>| job.map(|job| job.id.to_string()).unwrap_or_default();
        match (place, jobs) {
            (Place::Between, Some((before, after))) if self.of_place(place).count() > 1 => {
                let longest = longest.map(|span| span.time).unwrap_or_default();
                let (before, after) = (id(before), id(after));
                format!("between jobs ({time}; the longest, {longest}, between job {before} and job {after})")
            }
            (Place::Between, Some((before, after))) => {
                format!("between job {} and job {} ({time})", id(before), id(after))
            }
            (Place::After, Some((before, _))) => format!("after the last job, job {} ({time})", id(before)),
            _ => format!("before the first job ({time})"),
        }
    }

    /// What the driver may do at these places, and how it takes less time.
    pub(crate) fn advice(&self, app: &Advised<'_>) -> Advice {
        if let Some(waits) = self.waits {
            return waits.advice().into();
        }
        let most = app.advice.driver_place.get() * self.time.as_f64();
        let what = match self.places().first() {
            Some((Place::After, time)) if time.as_f64() >= most => {
                "look at what the driver does after the last job: committing or moving output files one by one (use a committer \
                 that does not rename, and fewer files), refreshing tables, or a SparkContext that is not stopped"
            }
            Some((Place::Before, time)) if time.as_f64() >= most => {
                "look at what the driver does before the first job while executors wait: listing files and partitions, reading \
                 tables' metadata, or code that needs no cluster; do it before the SparkContext starts, or in a job"
            }
            _ => {
                "look at what the driver does between jobs: results that collect or toPandas bring to it, loops over rows in its own \
                 code, listing and committing files, building broadcasts; let executors do that work, or run independent jobs \
                 from several threads"
            }
        };
        what.into()
    }
}

/// Whether the driver waits by design for much of the time.
pub(crate) fn waits_by_design(app: &Advised<'_>) -> bool {
    DriverAlone::of(app).is_some_and(|alone| alone.is_by_design())
}

/// The spans without a job from the start of the first executor on, within the application's life; `None` if a time is
/// unknown, or if there was no job.
fn spans(spark: &Spark, (start, end): (Timestamp, Timestamp)) -> Option<Vec<Span<'_>>> {
    let added: Option<Vec<Timestamp>> = spark.executors.iter().map(|executor| executor.added_at).collect();
    let from = added?.into_iter().min()?.max(start);
    let mut jobs: Vec<(Timestamp, Timestamp, &Job)> = Vec::with_capacity(spark.jobs.len());
    for job in &spark.jobs {
        jobs.push((job.submitted_at?, job.completed_at?, job));
    }
    jobs.sort_by_key(|(submitted, completed, job)| (*submitted, *completed, job.id));
    jobs.first()?;
    let executors = |from: Timestamp, to: Timestamp| {
        let lives = |executor: &&elephant_model::model::spark::Executor| {
            executor.added_at < Some(to) && executor.removed_at.is_none_or(|removed| removed > from)
        };
        spark.executors.iter().filter(lives).count()
    };
    let mut spans = Vec::new();
    let (mut until, mut last): (Timestamp, Option<&Job>) = (from, None);
    let next = jobs.iter().map(|(submitted, _, job)| (*submitted, Some(*job)));
    for (place, (begin, job)) in next.chain([(end, None)]).enumerate() {
        let time = Millis::between(until, begin).filter(|time| *time > Millis::ZERO);
        let executors = time.map(|_| executors(until, begin)).filter(|count| *count > 0);
        if let Some((time, executors)) = time.zip(executors) {
            let place = match (last, job) {
                (None, _) => Place::Before,
                (_, None) => Place::After,
                _ => Place::Between,
            };
            spans.push(Span { place, time, jobs: (last, job), executors });
        }
        if let Some((_, completed, job)) = jobs.get(place).filter(|(_, to, _)| last.is_none() || *to >= until)
        {
            (until, last) = (until.max(*completed), Some(*job));
        }
    }
    Some(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    /// An application of 1000 s with two executors from 100 s on, and jobs with these times in seconds.
    fn alone(jobs: &[(i64, i64)]) -> Option<(String, String)> {
        let mut app = elephant_sample::app(&[]);
        let seconds = |at: i64| Some(Timestamp::from_millis(at * 1000));
        app.finished_at = seconds(1000);
        for id in ["1", "2"] {
            elephant_sample::executor(&mut app, id).added_at = seconds(100);
        }
        for (id, (from, to)) in (0..).zip(jobs) {
            let mut job = Job::new(id);
            (job.submitted_at, job.completed_at) = (seconds(*from), seconds(*to));
            elephant_sample::spark(&mut app).jobs.push(job);
        }
        let told = advised(&app);
        let alone = DriverAlone::of(&told)?;
        Some((alone.phrase().to_string(), alone.advice(&told).text))
    }

    #[test]
    fn the_time_without_jobs_is_told_with_its_place() {
        let (text, advice) = alone(&[(110, 200), (350, 500), (450, 600), (900, 1000)]).unwrap();
        assert_eq!(
            text,
            "no job ran for 7m 40s, 46 % of the run: the driver worked alone or waited, while up to 2 executors had nothing \
             to do; most of it between jobs (7m 30s; the longest, 5m, between job 2 and job 3)"
        );
        assert!(advice.contains("between jobs: results that collect"), "{advice}");
        let (text, advice) = alone(&[(110, 300)]).unwrap();
        assert!(text.ends_with("most of it after the last job, job 0 (11m 40s)"), "{text}");
        assert!(advice.contains("committing or moving output files"), "{advice}");
        let (text, advice) = alone(&[(800, 1000)]).unwrap();
        assert!(text.ends_with("most of it before the first job (11m 40s)"), "{text}");
        assert!(advice.contains("listing files"), "{advice}");
    }

    #[test]
    fn a_stream_waits_by_design() {
        let mut app = elephant_sample::app(&[]);
        app.finished_at = Some(Timestamp::from_millis(1_000_000));
        elephant_sample::executor(&mut app, "1").added_at = Some(Timestamp::from_millis(0));
        for id in 0..10 {
            let mut job = Job::new(id);
            let from = i64::from(id) * 100_000;
            job.submitted_at = Some(Timestamp::from_millis(from));
            job.completed_at = Some(Timestamp::from_millis(from + 20_000));
            job.of_stream = true;
            elephant_sample::spark(&mut app).jobs.push(job);
        }
        assert!(waits_by_design(&advised(&app)));
        let told = advised(&app);
        let alone = DriverAlone::of(&told).unwrap();
        assert_eq!(
            alone.phrase().to_string(),
            "no job ran for 13m 20s, 80 % of the run: the stream waited for its next batch, while up to 1 executor had nothing \
             to do"
        );
        assert!(alone.advice(&told).text.starts_with("a stream waits between its batches by design"));
        for job in &mut elephant_sample::spark(&mut app).jobs {
            job.of_stream = false;
        }
        assert!(!waits_by_design(&advised(&app)));
    }

    /// The driver records an executor up to a minute before the application, by another clock.
    #[test]
    fn the_time_without_jobs_is_a_part_of_the_run() {
        let mut app = elephant_sample::app(&[]);
        let second = |at: i64| Some(Timestamp::from_millis(at * 1000));
        (app.submitted_at, app.finished_at) = (second(60), second(160));
        elephant_sample::executor(&mut app, "1").added_at = second(0);
        let mut job = Job::new(0);
        (job.submitted_at, job.completed_at) = (second(159), second(160));
        elephant_sample::spark(&mut app).jobs.push(job);
        let told = advised(&app);
        let alone = DriverAlone::of(&told).unwrap();
        assert_eq!((alone.time, alone.run_time), (Millis::from_secs(99), Millis::from_secs(100)));
    }

    #[test]
    fn a_small_part_of_the_run_is_normal() {
        assert_eq!(alone(&[(150, 500), (550, 900), (300, 950)]), None);
        assert_eq!(alone(&[]), None);
    }
}
