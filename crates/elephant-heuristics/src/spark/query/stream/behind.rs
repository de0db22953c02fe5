//! `spark-stream-behind`: batches of a stream that take longer than their data takes to come.

use super::super::loss::Limits;
use super::super::on_queries::{Judge, OnQueries};
use super::names::{name_of_sources, name_of_state, name_of_stream, numbers_of, whole};
use super::pace::{Patience, Row, worst_row};
use super::place::{Work, ended_within_batch, work};
use super::remedy::{Case, advice};
use crate::declare::spark as rule;
use crate::spark::support::slots::Slots;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_catalogue::{Rule, load};
use elephant_model::model::spark::{Facet, Spark, Stream};
use elephant_query::Ground;
use elephant_rule::finding::{Judgement, Measure, Phrase, Subject, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-stream-behind`.
    pub(super) struct StreamBehind / StreamBehindLayer {
        /// Delay of the results / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Delay of the results.
        lost_time: Ascending<Duration>,
        /// So many batches in a row are too slow.
        batches_in_row: Quantity<Count>,
        /// Smaller differences of times and rates are none.
        tolerance: Quantity<Ratio>,
        /// Fewer batches count if the stream never caught up and they took this share of its time.
        lasting_share: Quantity<Ratio>,
        /// From this share of its slots on, a batch needs more of them.
        busy_slots: Quantity<Ratio>,
        /// From this share of task time on, saving the state is the reason.
        saving_share: Quantity<Ratio>,
    }
}

pub(in crate::spark) const RULE: Rule =
    rule!(Own, "spark-stream-behind", "Spark Stream Behind", tells Stream, StreamBehind, |layers, _| {
        load(layers, OnQueries::<StreamBehind>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{stream} falls behind: {batches}{how}[; {interval}][; {state}]; results come {lost_ms} later, \
                       {lost_ratio:%} of the run time ({limit})";
/// What came and what was processed.
const RATES: &str =
    ", of {time} at most, processed {processed} rows a second of the {input} that came from {sources}";
/// The same if a rate is unknown, or if the rates are equal.
const LATE: &str = ", of {time} at most, ended after the next trigger; they read {sources}";
/// The batches are too small.
const LIMITED: &str =
    " left more and more in {sources}, {left} offsets in the end, though they ended in time";
const INTERVAL: &str = "a batch is due every {interval}";
const STATE: &str = "{operators} keeps {rows} rows of state in {memory}";

impl Judge for StreamBehind {
    const RESTS_ON: &'static [Facet] = &[Facet::End, Facet::Batches];
    const FITS: &'static str = "batches keep up with what their sources give";

    fn applies(spark: &Spark) -> bool {
        !spark.streams.is_empty()
    }

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        ground.spark.streams.iter().filter_map(|stream| self.judge_stream(ground, stream)).collect()
    }
}

impl StreamBehind {
    fn judge_stream(&self, ground: &Ground<'_>, stream: &Stream) -> Option<Judgement> {
        let patience = Patience {
            in_row: self.batches_in_row.whole().try_into().unwrap_or(usize::MAX),
            tolerance: self.tolerance.get(),
            lasting: self.lasting_share.get(),
        };
        let row = worst_row(stream, patience, || ended_within_batch(ground.spark, stream))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(row.delay.min(ground.run_time), ground.run_time)?;
        let ran = work(ground.app, ground.spark, stream, &row.batches);
        let stages = ran.as_ref().map(|ran| ran.stages.as_slice()).unwrap_or_default();
        let subject = stages.first().map_or(Subject::Application, |stage| Subject::Stage(*stage));
        let figures = Figures::of(stream, &row);
        let judged = Judgement::of(subject, loss.severity)
            .also_about(stages.iter().skip(1).map(|stage| Subject::Stage(*stage)).collect())
            .fact("lost_ms", Measure::Time(loss.time))
            .fact("lost_ratio", Measure::Ratio(Some(loss.share)))
            .facts(figures.facts(stream, &row));
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("stream", &name_of_stream(stream)),
            ("batches", &numbers_of(&row.batches)),
            ("how", &figures.how(stream, &row)),
            ("interval", &row.interval.map(interval).unwrap_or_default()),
            ("state", &figures.state(stream)),
            ("limit", &loss.limit),
        ];
        let judged = judged.message(MESSAGE, &words);
        Some(judged.advice(|| self.advice(ground, stream, (&row, ran.as_ref(), &figures))))
    }

    fn advice(
        &self,
        ground: &Ground<'_>,
        stream: &Stream,
        (row, ran, figures): (&Row<'_>, Option<&Work>, &Figures),
    ) -> Vec<String> {
        let from = row.batches.first().and_then(|batch| batch.started_at).map(Timestamp::as_millis);
        let last = row.batches.last();
        let to = last.and_then(|last| Some(last.started_at? + last.time?)).map(Timestamp::as_millis);
        let slots = from.zip(to).and_then(|(from, to)| Slots::of(ground.app, ground.spark).within(from, to));
        let time: Millis = row.batches.iter().filter_map(|batch| batch.time).sum();
        let states = || row.batches.iter().flat_map(|batch| &batch.states);
        let saving: Millis = states().filter_map(|state| state.commit).sum();
        let tasks = ran.map_or(Millis::ZERO, |ran| ran.time);
        // Without tasks, nothing is known of slots that were idle.
        let busy =
            slots.filter(|_| ran.is_some()).map(|slots| tasks.as_f64() / (slots * time.as_f64()).max(1.0));
        advice(&Case {
            stream,
            row,
            slots,
            tasks: ran.map(|ran| ran.tasks),
            partitions: states().filter_map(|state| state.partitions).max(),
            is_busy: busy.is_none_or(|busy| busy >= self.busy_slots.get()),
            saves_state: tasks > Millis::ZERO && saving.as_f64() >= self.saving_share.get() * tasks.as_f64(),
            more: figures.rates.map(|(input, processed)| input / processed.max(f64::MIN_POSITIVE)),
        })
    }
}

fn interval(interval: Millis) -> Phrase {
    Phrase::new(INTERVAL, &[("interval", &interval)])
}

/// What the message says of a row of batches.
struct Figures {
    longest: Millis,
    /// Rows a second that came and that were processed, on average over the time of the batches.
    rates: Option<(f64, f64)>,
    left: Option<u64>,
    rows: Option<u64>,
    memory: Option<Bytes>,
}

impl Figures {
    fn of(stream: &Stream, row: &Row<'_>) -> Self {
        let last = row.batches.last();
        let states = || last.into_iter().flat_map(|batch| &batch.states);
        Self {
            longest: row.batches.iter().filter_map(|batch| batch.time).max().unwrap_or_default(),
            rates: rates(row),
            left: last.and_then(|batch| batch.backlog()),
            rows: states()
                .map(|state| state.rows)
                .sum::<Option<u64>>()
                .filter(|_| !stream.state_operators.is_empty()),
            memory: states().map(|state| state.memory).sum::<Option<Bytes>>().filter(|size| size.get() > 0),
        }
    }

    fn facts(&self, stream: &Stream, row: &Row<'_>) -> Vec<(&'static str, Measure)> {
        let rate = |value: f64| Measure::Number(Some(value), "_rows_per_second".into());
        let all: [Option<(&'static str, Measure)>; 8] = [
            Some(("batches_count", Measure::Count(row.batches.len() as u64))),
            Some(("longest_ms", Measure::Time(self.longest))),
            row.interval.map(|interval| ("interval_ms", Measure::Time(interval))),
            self.rates.map(|(input, _)| ("input_rows_per_second", rate(input))),
            self.rates.map(|(_, processed)| ("processed_rows_per_second", rate(processed))),
            self.left.filter(|left| *left > 0).map(|left| ("left_count", Measure::Count(left))),
            self.memory.map(|size| ("state_bytes", Measure::Size(size))),
            Some(stream.earlier.count)
                .filter(|count| *count > 0)
                .map(|count| ("earlier_count", Measure::Count(count))),
        ];
        all.into_iter().flatten().collect()
    }

    fn how(&self, stream: &Stream, row: &Row<'_>) -> Phrase {
        let sources = name_of_sources(stream);
        if row.is_limited {
            let left = self.left.map(|left| whole(left as f64)).unwrap_or_default();
            return Phrase::new(LIMITED, &[("sources", &sources), ("left", &left)]);
        }
        match self.rates.filter(|(input, processed)| input > processed) {
            Some((input, processed)) => Phrase::new(
                RATES,
                &[
                    ("time", &self.longest),
                    ("processed", &whole(processed)),
                    ("input", &whole(input)),
                    ("sources", &sources),
                ],
            ),
            None => Phrase::new(LATE, &[("time", &self.longest), ("sources", &sources)]),
        }
    }

    fn state(&self, stream: &Stream) -> Phrase {
        let (Some(rows), Some(memory)) = (self.rows, self.memory) else { return Phrase::default() };
        let operators = Some(name_of_state(stream)).filter(|names| !names.is_empty());
        let operators = operators.unwrap_or_else(|| "the query".to_owned());
        Phrase::new(STATE, &[("operators", &operators), ("rows", &whole(rows as f64)), ("memory", &memory)])
    }
}

/// The mean rates of batches, weighted by their times.
fn rates(row: &Row<'_>) -> Option<(f64, f64)> {
    let (mut input, mut processed, mut time) = (0.0, 0.0, 0.0);
    for batch in &row.batches {
        if let (Some(came), Some(done), Some(took)) = (batch.input_rate(), batch.processed_rate(), batch.time)
        {
            input += came * took.as_f64();
            processed += done * took.as_f64();
            time += took.as_f64();
        }
    }
    (time > 0.0 && input > 0.0).then(|| (input / time, processed / time))
}
