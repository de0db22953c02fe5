//! `spark-rewritten-rows`: commands of table formats that change few rows and write many again without a change, because
//! files are replaced as a whole.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::writing::time_of_writing;
use crate::declare::spark as rule;
use elephant_base::units::Millis;
use elephant_catalogue::{Rule, load};
use elephant_query::{Cost, Ground, PlacedOperator, SqlCounter, name_of_operator, name_of_query};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-rewritten-rows`.
    pub(super) struct RewrittenRows / RewrittenRowsLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Commands are judged from this share of unchanged rows among those that they write.
        unchanged: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-rewritten-rows", "Spark Rewritten Rows", tells Rewrite, RewrittenRows, |layers, _| {
        load(layers, OnQueries::<RewrittenRows>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operator} changes {changed} rows and writes {copied} more as they were, {copied_ratio:%} of \
                       all[; its condition rules out none of the table's {files} files]; writing these took up to \
                       {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for RewrittenRows {
    const FITS: &'static str = "no command writes many unchanged rows again for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        sites(ground, |_| true).filter_map(|command| self.judge_command(command)).collect()
    }
}

impl RewrittenRows {
    fn judge_command(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let rows = Rows::of(operator)?;
        let unchanged = rows.copied as f64 / (rows.copied + rows.changed) as f64;
        (unchanged >= self.unchanged.get()).then_some(())?;
        let cost = ground.cost(&time_of_writing(ground, query).scaled(unchanged));
        let told = operator.millis(SqlCounter::RewriteTime);
        let told = told.and_then(|time| Millis::from_f64(time.as_f64() * unchanged));
        let time = told.or_else(|| cost.as_ref().map(|cost: &Cost| cost.wall))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(time.min(ground.run_time), ground.run_time)?;
        let files = files_of_target(operator);
        let judged = loss
            .judgement(cost.as_ref())
            .in_query(query.execution.id, Some(place))
            .fact("copied_rows_count", Measure::Count(rows.copied))
            .fact("changed_rows_count", Measure::Count(rows.changed))
            .fact("copied_ratio", Measure::Ratio(Some(unchanged)))
            .facts(files.map(|files| ("files_count", Measure::Count(files))));
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("query", &name_of_query(query.execution)),
            ("operator", &name_of_operator(operator)),
            ("changed", &grouped(i128::from(rows.changed))),
            ("copied", &grouped(i128::from(rows.copied))),
            ("files", &files.map(|files| grouped(i128::from(files))).unwrap_or_default()),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![advice(operator, files.is_some())]))
    }
}

/// What a command does with the rows of the files that it replaces.
struct Rows {
    copied: u64,
    changed: u64,
}

impl Rows {
    fn of(command: &PlacedOperator<'_>) -> Option<Self> {
        let copied = command.total(SqlCounter::RowsCopied).filter(|rows| *rows > 0)?;
        let changes = [SqlCounter::RowsUpdated, SqlCounter::RowsDeleted, SqlCounter::RowsInserted];
        let changed = changes.into_iter().filter_map(|change| command.total(change)).sum();
        Some(Self { copied, changed })
    }
}

/// The number of files of the table, if there are several and the condition of the command rules out none.
fn files_of_target(command: &PlacedOperator<'_>) -> Option<u64> {
    let files = command.total(SqlCounter::TargetFiles).filter(|files| *files > 1)?;
    (command.total(SqlCounter::TargetFilesKept) == Some(files)).then_some(files)
}

/// Delta Lake's commands are named, others are operators of Spark for any table format.
fn advice(command: &PlacedOperator<'_>, reads_all: bool) -> String {
    let mut advice = if command.name.contains("Command") {
        "let the table mark changed rows instead of replacing files (delta.enableDeletionVectors = true)"
            .to_owned()
    } else {
        "let the table keep changes beside its files instead of replacing them (Iceberg: write.merge.mode, write.update.mode \
         and write.delete.mode = merge-on-read)"
            .to_owned()
    };
    if reads_all {
        advice += "; and name the partitions that can change in the condition (ON t.day = s.day AND …), so that the others \
                   are left alone";
    }
    advice
}
