//! The event log parser on real logs.

mod corpus;
mod count;
mod history_server;
mod other_tools;

/// Batches of streams are known by the properties of their jobs, and barrier stages by their RDDs.
#[test]
fn batches_of_streams_and_barrier_stages_are_read() {
    use elephant_testing::spark_log::{App, Task};
    let log = App::with(&[], 1, 2).stage(vec![Task::new("1", 100)]).stage(vec![Task::new("1", 100)]).text();
    let read = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("application_1700000000000_0001");
        std::fs::write(&path, text).unwrap();
        let look = |app: &elephant_model::model::Application| {
            let spark = app.spark.as_deref().unwrap();
            let streams = spark.jobs.iter().map(|job| job.of_stream).collect::<Vec<_>>();
            (streams, spark.stages.iter().map(|stage| stage.is_barrier).collect::<Vec<_>>())
        };
        let visited = elephant_engine::engine::visit(&[path], |app, _| look(app));
        visited.applications.into_iter().next().unwrap().value
    };
    assert_eq!(read(&log), (vec![false; 2], vec![false; 2]));
    for key in ["streaming.sql.batchId", "spark.streaming.internal.batchTime"] {
        let properties =
            format!("\"Properties\":{{\"spark.job.description\":\"batch = 7\",\"{key}\":\"7\"}}");
        let batch = log.replacen("\"Properties\":{}", &properties, 1);
        assert_eq!(read(&batch).0, [true, false], "{key}");
    }
    let level = "\"Storage Level\":{\"Use Disk\":false,\"Use Memory\":false,\"Use Off Heap\":false,\
                 \"Deserialized\":false,\"Replication\":1}";
    let rdd = format!("[{{\"RDD ID\":0,\"Name\":\"x\",\"Parent IDs\":[],{level},\"Barrier\":true}}]");
    let stages: String = log
        .lines()
        .map(|line| {
            let is_of_first = line.contains("\"Stage ID\":0,") && line.contains("SparkListenerStage");
            let line = if is_of_first {
                line.replace("\"RDD Info\":[]", &format!("\"RDD Info\":{rdd}"))
            } else {
                line.to_owned()
            };
            line + "\n"
        })
        .collect();
    assert_eq!(read(&stages).1, [true, false]);
}
