//! Replays of Spark applications of the corpus and of our own recordings.

use std::path::PathBuf;

use super::super::common::shared;
use crate::engine::visit;
use crate::replay::spark::{Change, Plan};

/// The residual of a replay without a change, in percent of the recorded time, by application.
fn residuals(paths: &[PathBuf]) -> Vec<(String, Result<f64, String>)> {
    let visited = visit(paths, |app, sources| {
        let residual = Plan::of(app).and_then(|plan| {
            let replayed = plan.replay(&Change::default())?.replayed.wall;
            Ok(100.0 * (replayed.as_f64() - plan.recorded.as_f64()) / plan.recorded.as_f64().max(1.0))
        });
        let source = sources.first().cloned().unwrap_or_default();
        (app.spark.is_some(), source, residual.map_err(|unknown| unknown.to_string()))
    });
    let values = visited.applications.into_iter().map(|app| app.value);
    values.filter(|(spark, ..)| *spark).map(|(_, source, residual)| (source, residual)).collect()
}

#[test]
#[ignore = "prints a table"]
fn print_residuals() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    for (source, residual) in residuals(&[corpus, runs]) {
        match residual {
            Ok(residual) => println!("{residual:9.3} {source}"),
            Err(unknown) => println!("  unknown {source}: {unknown}"),
        }
    }
}
