//! `spark-table-scan`: scans of tables whose statistics let no file be skipped, although a condition keeps few rows.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::kept_by;
use crate::declare::spark as rule;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    Ground, OperatorKind, PlacedOperator, SqlCounter, feeding, filter_above, name_of_query, name_of_source,
};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-table-scan`.
    pub(super) struct TableScan / TableScanLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Scans are judged if the condition above them keeps at most this share of the rows.
        few_rows: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-table-scan", "Spark Table Scan", tells Scan, TableScan, |layers, _| {
        load(layers, OnQueries::<TableScan>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query} reads all {files} files of {source}, although {condition} keeps {kept_ratio:%} of the rows; \
                       reading the others took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for TableScan {
    const FITS: &'static str = "no scan of a table reads files for long that its statistics should exclude";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Scan;
        sites(ground, wanted).filter_map(|scan| self.judge_scan(scan)).collect()
    }
}

impl TableScan {
    fn judge_scan(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let files = operator.total(SqlCounter::FilesRead).filter(|_| skips_nothing(operator))?;
        let (filter, condition) = filter_above(query, place)?;
        let (rows, kept) = kept_by(query, filter)?;
        (kept <= self.few_rows.get()).then_some(())?;
        let cost = ground.cost(&ground.time_of_all(query, feeding(query, filter)).scaled(1.0 - kept))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall.min(ground.run_time), ground.run_time)?;
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("files_count", Measure::Count(files))
            .fact("rows_count", Measure::Count(rows))
            .fact("kept_ratio", Measure::Ratio(Some(kept)));
        let words: [(_, &dyn std::fmt::Display); 5] = [
            ("query", &name_of_query(query.execution)),
            ("files", &grouped(i128::from(files))),
            ("source", &name_of_source(operator)),
            ("condition", &condition),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![advice(&condition)]))
    }
}

/// Whether it reads a table with statistics of its files, several files, and skips none of them.
pub(super) fn skips_nothing(scan: &PlacedOperator<'_>) -> bool {
    scan.total(SqlCounter::FilesSkipped) == Some(0)
        && scan.total(SqlCounter::FilesRead).is_some_and(|files| files > 1)
}

fn advice(condition: &str) -> String {
    format!(
        "rewrite the table's files sorted by the columns of {condition} (rewrite_data_files with a sort or zorder strategy), or \
         partition the table by them: then statistics exclude most files"
    )
}
