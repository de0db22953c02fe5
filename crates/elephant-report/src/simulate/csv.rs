//! Simulations as CSV, one row per metric.

use std::io::{self, Write};

use crate::document::csv::{number, quoted};
use elephant_lab::cluster::study::{ClusterReport, Metric};
use elephant_lab::patterns::PatternsReport;
use elephant_lab::spread::Spread;

pub(super) fn cluster(report: &ClusterReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "study,scenario,policy,detector,lag_s,metric,mean,sd,min,max,seeds_count")?;
    for (study, rows) in &report.studies {
        for row in rows {
            let (scenario, detector) = (quoted(&row.scenario), quoted(&row.detector));
            for metric in Metric::ALL {
                let values = values(row.get(metric));
                let (study, policy, lag, metric) = (study.name(), row.policy, row.lag_s, metric.name());
                writeln!(out, "{study},{scenario},{policy},{detector},{lag},{metric},{values}")?;
            }
        }
    }
    Ok(())
}

pub(super) fn patterns(report: &PatternsReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "workload,detector,metric,mean,sd,min,max,seeds_count")?;
    for workload in &report.workloads {
        let name = quoted(&workload.name);
        for row in &workload.rows {
            let metrics = [
                ("detection_s", row.detection_s),
                ("detection_ratio", row.detection_share),
                ("precision_ratio", row.precision),
                ("recall_ratio", row.recall),
            ];
            for (metric, spread) in metrics {
                writeln!(out, "{name},{},{metric},{}", quoted(&row.detector), values(spread))?;
            }
        }
    }
    Ok(())
}

/// Mean, standard deviation, least, greatest, and the number of seeds in which the value is defined.
fn values(spread: Option<Spread>) -> String {
    let cells = [
        number(spread.map(|spread| spread.mean)),
        number(spread.and_then(|spread| spread.deviation)),
        number(spread.map(|spread| spread.least)),
        number(spread.map(|spread| spread.greatest)),
        spread.map_or(0, |spread| spread.count).to_string(),
    ];
    cells.join(",")
}
