//! `spark-small-files-written`: queries that write many small files, each with its own task, commit and later its own read.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::writing::time_of_writing;
use crate::declare::spark as rule;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Rule, load};
use elephant_query::{Cost, Ground, OperatorKind, SqlCounter, name_of_query};
use elephant_rule::finding::{Advice, Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-small-files-written`.
    pub(super) struct SmallFilesWritten / SmallFilesWrittenLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Queries that write fewer files are not judged.
        min_files: Quantity<Count>,
        /// Files are small below this mean size.
        small_file: Quantity<Size>,
        /// The size of files that advice aims at.
        wanted_file: Quantity<Size>,
    }
}

pub(super) const RULE: Rule = rule!(
    Own,
    "spark-small-files-written",
    "Spark Small Files Written",
    tells SmallFiles,
    SmallFilesWritten,
    |layers, _| load(layers, OnQueries::<SmallFilesWritten>)
)
.measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query} writes {files} files of {mean_file_bytes} on average[ into {partitions} partitions]; writing and \
                       committing so many took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for SmallFilesWritten {
    const FITS: &'static str = "no query writes many small files for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Write;
        sites(ground, wanted).filter_map(|write| self.judge_write(write)).collect()
    }
}

impl SmallFilesWritten {
    fn judge_write(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let files =
            operator.total(SqlCounter::FilesWritten).filter(|files| *files as f64 >= self.min_files.get())?;
        let written = operator.bytes(SqlCounter::BytesWritten)?;
        let mean = Bytes::new(written.get() / files.max(1));
        (mean.as_f64() < self.small_file.get()).then_some(())?;
        let partitions = operator.total(SqlCounter::DynamicPartitions).filter(|count| *count > 0);
        let wanted = (written.as_f64() / self.wanted_file.get()).ceil().max(partitions.unwrap_or(1) as f64);
        let spared = 1.0 - (wanted / files as f64).min(1.0);
        let cost = ground.cost(&time_of_writing(ground, query))?;
        let time = |part: Millis| Millis::from_f64(part.as_f64() * spared).unwrap_or_default();
        let committed = operator.millis(SqlCounter::JobCommitTime).unwrap_or_default();
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(time(cost.wall + committed).min(ground.run_time), ground.run_time)?;
        let cost = Cost { tasks: time(cost.tasks), share: cost.share * spared, ..cost };
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("files_count", Measure::Count(files))
            .fact("mean_file_bytes", Measure::Size(mean))
            .facts(partitions.map(|count| ("partitions_count", Measure::Count(count))))
            .fact("commit_ms", Measure::Time(committed));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("query", &name_of_query(query.execution)),
            ("files", &grouped(i128::from(files))),
            ("partitions", &partitions.map(|count| grouped(i128::from(count))).unwrap_or_default()),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| advice(partitions, wanted)))
    }
}

fn advice(partitions: Option<u64>, wanted: f64) -> Vec<Advice> {
    vec![match partitions {
        Some(_) => Advice::new(
            "repartition by the columns of the partitions before the write, so that each partition is written by one task; or \
             use the hint REBALANCE",
        ),
        None => Advice::new(format!(
            "write fewer, larger files: repartition({wanted}) before the write, or the hint REBALANCE"
        )),
    }]
}
