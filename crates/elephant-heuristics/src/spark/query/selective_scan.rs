//! `spark-selective-scan`: scans of many rows of which a condition keeps hardly any.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::kept_by;
use super::table_scan;
use crate::declare::spark as rule;
use elephant_base::units::Millis;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    Ground, OperatorKind, PlacedOperator, SqlCounter, chooses_partitions, feeding, filter_above,
    name_of_query, name_of_source,
};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-selective-scan`.
    pub(super) struct SelectiveScan / SelectiveScanLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Scans are judged if the condition above them keeps at most this share of the rows.
        few_rows: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-selective-scan", "Spark Selective Scan", tells Scan, SelectiveScan, |layers, _| {
        load(layers, OnQueries::<SelectiveScan>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query} reads {rows} rows of {source}, of which {condition} keeps {kept_ratio:%}[; {pushed}]; reading the \
                       others took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// Formats that are read row by row, without statistics.
const WITHOUT_STATISTICS: [&str; 4] = ["CSV", "JSON", "Text", "XML"];

impl Judge for SelectiveScan {
    const FITS: &'static str = "no scan reads many rows for long that a condition drops";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Scan;
        sites(ground, wanted).filter_map(|scan| self.judge_scan(scan)).collect()
    }
}

impl SelectiveScan {
    fn judge_scan(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        // A scan of all partitions is told by the rule on pruning, one of a table whose statistics exclude nothing by its own.
        let is_whole = operator.total(SqlCounter::PartitionsRead).is_some() && !chooses_partitions(operator);
        let is_of_files = operator.total(SqlCounter::FilesRead).is_some();
        (is_of_files && !is_whole && !table_scan::skips_nothing(operator)).then_some(())?;
        let (filter, condition) = filter_above(query, place)?;
        let (rows, kept) = kept_by(query, filter)?;
        (kept <= self.few_rows.get()).then_some(())?;
        let time = ground.time_of_all(query, feeding(query, filter)).scaled(1.0 - kept);
        let cost = ground.cost(&time)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall.min(ground.run_time), ground.run_time)?;
        let how = Reading::of(operator);
        let judged = loss
            .judgement(Some(&cost))
            .fact("rows_count", Measure::Count(rows))
            .fact("kept_ratio", Measure::Ratio(Some(kept)))
            .facts(
                operator.millis(SqlCounter::ScanTime).map(|time: Millis| ("scan_ms", Measure::Time(time))),
            );
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("query", &name_of_query(query.execution)),
            ("rows", &grouped(i128::from(rows))),
            ("source", &name_of_source(operator)),
            ("condition", &condition),
            ("pushed", &how.words()),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![how.advice(&condition)]))
    }
}

/// What keeps a scan from leaving out rows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The format has no statistics.
    Rows,
    /// The condition is not handed to the reader.
    NotPushed,
    /// The reader has it, but the rows lie everywhere.
    Spread,
}

impl Reading {
    fn of(scan: &PlacedOperator<'_>) -> Self {
        let format = scan.fact("Format").unwrap_or_default();
        let pushed = scan.fact("PushedFilters").unwrap_or_default().trim_matches(['[', ']']);
        let is_pushed =
            pushed.split("), ").any(|filter| !filter.is_empty() && !filter.starts_with("IsNotNull("));
        if WITHOUT_STATISTICS.iter().any(|known| known.eq_ignore_ascii_case(format)) {
            Self::Rows
        } else if is_pushed {
            Self::Spread
        } else {
            Self::NotPushed
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Rows => "files of this format are read as a whole",
            Self::NotPushed => "the reader of the files does not know the condition",
            Self::Spread => "",
        }
    }

    fn advice(self, condition: &str) -> String {
        let sort = format!(
            "sort or cluster the files by the columns of {condition} when they are written (sortWithinPartitions, OPTIMIZE … \
             ZORDER BY of Delta Lake, a sort order of Iceberg), or partition them: then most need not be read"
        );
        match self {
            Self::Rows => {
                format!(
                    "write the data once as Parquet or ORC, sorted or partitioned by the columns of {condition}"
                )
            }
            Self::NotPushed => {
                format!(
                    "compare columns themselves with values, without a function or a cast around them; and {sort}"
                )
            }
            Self::Spread => sort,
        }
    }
}
