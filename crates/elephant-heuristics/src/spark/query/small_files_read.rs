//! `spark-small-files-read`: scans of many small files: opening and listing them takes longer than reading.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use crate::declare::spark as rule;
use elephant_base::units::Bytes;
use elephant_catalogue::{Rule, load};
use elephant_query::{Ground, OperatorKind, SqlCounter, name_of_query, name_of_source};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-small-files-read`.
    pub(super) struct SmallFilesRead / SmallFilesReadLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Scans of fewer files are not judged.
        min_files: Quantity<Count>,
        /// Files are small below this mean size.
        small_file: Quantity<Size>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-small-files-read", "Spark Small Files Read", tells SmallFiles, SmallFilesRead, |layers, _| {
        load(layers, OnQueries::<SmallFilesRead>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query} reads {files} files of {mean_file_bytes} on average from {source}; listing and opening them \
                       took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

const ADVICE: &str = "merge the files into larger ones, once and where they are written (OPTIMIZE of Delta Lake, \
                      rewrite_data_files of Iceberg, or read, repartition and write them again); files of 128 MiB to 1 GiB \
                      read fastest";

impl Judge for SmallFilesRead {
    const FITS: &'static str = "no scan reads many small files for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Scan;
        sites(ground, wanted).filter_map(|scan| self.judge_scan(scan)).collect()
    }
}

impl SmallFilesRead {
    fn judge_scan(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let files =
            operator.total(SqlCounter::FilesRead).filter(|files| *files as f64 >= self.min_files.get())?;
        let read = operator.bytes(SqlCounter::FileBytesRead)?;
        let mean = Bytes::new(read.get() / files.max(1));
        (mean.as_f64() < self.small_file.get()).then_some(())?;
        let scanned = ground.time_of(query, place);
        let cost = ground.cost(&scanned).or_else(|| ground.cost(&ground.most_of(query, place)))?;
        let listed = operator.millis(SqlCounter::MetadataTime).unwrap_or_default();
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss((cost.wall + listed).min(ground.run_time), ground.run_time)?;
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("files_count", Measure::Count(files))
            .fact("mean_file_bytes", Measure::Size(mean))
            .fact("listing_ms", Measure::Time(listed));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("query", &name_of_query(query.execution)),
            ("files", &grouped(i128::from(files))),
            ("source", &name_of_source(operator)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![ADVICE]))
    }
}
