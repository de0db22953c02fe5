//! The events themselves (`org.apache.spark.util.JsonProtocol`).

use serde_json::{Map, Value, json};

use super::query;
use super::{App, Ending, Executor, Job, START, Stage, Task};

/// Events with their time; events of the same time keep the order in which they were added.
#[derive(Default)]
struct Events {
    list: Vec<(i64, Value)>,
    tasks: u64,
}

pub(super) fn lines(app: &App) -> String {
    let mut events = Events::default();
    events.beginning(app);
    for executor in &app.executors {
        events.executor(executor);
    }
    events.block_manager(0, "driver", "driver-host", app.driver_storage.0, app.driver_storage.1);
    for (place, query) in app.queries.iter().enumerate() {
        events.push(query.start, query::start(query, place));
    }
    let mut clock = 0;
    for job in &app.jobs {
        clock = events.job(app, job, job.start.unwrap_or(clock));
    }
    for (place, query) in app.queries.iter().enumerate() {
        for event in query::ends(query, place) {
            events.push(query.end, event);
        }
    }
    for (at, event) in &app.extra {
        events.push(*at, event.clone());
    }
    events.list.sort_by_key(|(at, _)| *at);
    let end = app.end.unwrap_or_else(|| events.list.last().map_or(0, |(at, _)| at + 1000));
    if !app.unfinished {
        events.push(end, json!({"Event": "SparkListenerApplicationEnd", "Timestamp": START + end}));
    }
    events.list.iter().map(|(_, event)| event.to_string() + "\n").collect()
}

impl Events {
    fn push(&mut self, at: i64, event: Value) {
        self.list.push((at, event));
    }

    fn beginning(&mut self, app: &App) {
        let mut conf = Map::new();
        for (name, value) in [
            ("spark.app.name", "word count"),
            ("spark.app.id", "application_1700000000000_0001"),
            ("spark.executor.id", "driver"),
            ("spark.master", "yarn"),
        ] {
            conf.insert(name.to_owned(), json!(value));
        }
        conf.extend(app.conf.iter().map(|(name, value)| (name.clone(), json!(value))));
        self.push(0, json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}));
        self.push(
            0,
            json!({"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {"Java Version": "17.0.9 (Example)"},
                "Spark Properties": conf, "Hadoop Properties": {}, "System Properties": {}, "Metrics Properties": {},
                "Classpath Entries": {}}),
        );
        self.push(
            0,
            json!({"Event": "SparkListenerApplicationStart", "App Name": "word count",
                "App ID": "application_1700000000000_0001", "Timestamp": START, "User": "alice"}),
        );
    }

    fn executor(&mut self, executor: &Executor) {
        let Executor { id, host, cores, added, .. } = executor;
        self.push(
            *added,
            json!({"Event": "SparkListenerExecutorAdded", "Timestamp": START + added, "Executor ID": id,
                "Executor Info": {"Host": host, "Total Cores": cores, "Log Urls": {}, "Attributes": {},
                    "Resources": {}, "Resource Profile Id": 0, "Registration Time": START + added}}),
        );
        self.block_manager(*added, id, host, executor.max_memory, executor.cached);
        if let Some((at, reason)) = &executor.removed {
            if executor.max_memory.is_some() {
                self.push(
                    *at,
                    json!({"Event": "SparkListenerBlockManagerRemoved", "Timestamp": START + at,
                        "Block Manager ID": {"Executor ID": id, "Host": host, "Port": 40_000}}),
                );
            }
            self.push(
                *at,
                json!({"Event": "SparkListenerExecutorRemoved", "Timestamp": START + at, "Executor ID": id,
                    "Removed Reason": reason}),
            );
        }
    }

    fn block_manager(&mut self, at: i64, id: &str, host: &str, memory: Option<u64>, cached: u64) {
        let manager = json!({"Executor ID": id, "Host": host, "Port": 40_000});
        if let Some(memory) = memory {
            self.push(
                at,
                json!({"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": manager,
                    "Maximum Memory": memory, "Timestamp": START + at, "Maximum Onheap Memory": memory,
                    "Maximum Offheap Memory": 0}),
            );
        }
        if cached > 0 {
            let level = json!({"Use Disk": false, "Use Memory": true, "Use Off Heap": false,
                "Deserialized": true, "Replication": 1});
            self.push(
                at,
                json!({"Event": "SparkListenerBlockUpdated", "Block Updated Info": {
                    "Block Manager ID": manager, "Block ID": format!("rdd_0_{}", self.list.len()),
                    "Storage Level": level, "Memory Size": cached, "Disk Size": 0}}),
            );
        }
    }

    /// Returns the end time of the job.
    fn job(&mut self, app: &App, job: &Job, start: i64) -> i64 {
        let is_first = |(place, stage): &(usize, &Stage)| {
            job.stages.iter().position(|other| other.id == stage.id) == Some(*place)
        };
        let firsts: Vec<&Stage> =
            job.stages.iter().enumerate().filter(is_first).map(|(_, stage)| stage).collect();
        let infos: Vec<Value> = firsts.iter().copied().map(info).collect();
        let ids: Vec<u32> = firsts.iter().map(|stage| stage.id).collect();
        let query = app.queries.iter().find(|query| query.jobs.contains(&job.id));
        let properties =
            query.map_or(json!({}), |query| json!({"spark.sql.execution.id": query.id.to_string()}));
        self.push(
            start,
            json!({"Event": "SparkListenerJobStart", "Job ID": job.id, "Submission Time": START + start,
                "Stage Infos": infos, "Stage IDs": ids, "Properties": properties}),
        );
        let mut end = start;
        for stage in &job.stages {
            end = self.stage(app, stage, stage.start.unwrap_or(end)).max(end);
        }
        let result = if job.failed {
            json!({"Result": "JobFailed", "Exception": {"Message": "Job aborted due to stage failure",
                "Stack Trace": []}})
        } else {
            json!({"Result": "JobSucceeded"})
        };
        self.push(
            end,
            json!({"Event": "SparkListenerJobEnd", "Job ID": job.id, "Completion Time": START + end,
                "Job Result": result}),
        );
        end
    }

    /// Returns the end time of the stage.
    fn stage(&mut self, app: &App, stage: &Stage, start: i64) -> i64 {
        let longest = stage.tasks.iter().map(|task| task.launch + task.duration).max().unwrap_or(0);
        let end = start + stage.duration.unwrap_or(longest);
        let mut info = info(stage);
        info["Submission Time"] = json!(START + start);
        self.push(
            start,
            json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": {}}),
        );
        for (place, task) in stage.tasks.iter().enumerate() {
            self.task(app, stage, start, u32::try_from(place).unwrap(), task);
        }
        let executors = app.executors.iter().map(|executor| (executor.id.as_str(), &executor.peaks));
        for (id, peaks) in executors.chain([("driver", &app.driver_peaks)]) {
            if !peaks.is_empty() {
                self.push(
                    end,
                    json!({"Event": "SparkListenerStageExecutorMetrics", "Executor ID": id,
                        "Stage ID": stage.id, "Stage Attempt ID": stage.attempt,
                        "Executor Metrics": executor_metrics(peaks)}),
                );
            }
        }
        info["Completion Time"] = json!(START + end);
        if !app.queries.is_empty() {
            info["Accumulables"] = json!(query::accumulables(&app.queries, stage.id));
        }
        if let Some(failure) = &stage.failure {
            info["Failure Reason"] = json!(failure);
        }
        self.push(end, json!({"Event": "SparkListenerStageCompleted", "Stage Info": info}));
        end
    }

    fn task(&mut self, app: &App, stage: &Stage, start: i64, place: u32, task: &Task) {
        let launch = START + start + task.launch;
        let index = task.index.unwrap_or(place);
        let host = app.executors.iter().find(|executor| executor.id == task.executor);
        let mut info = json!({"Task ID": self.tasks, "Index": index, "Attempt": task.attempt,
            "Partition ID": index, "Launch Time": launch, "Executor ID": task.executor,
            "Host": host.map_or("driver-host", |executor| &executor.host), "Locality": "PROCESS_LOCAL",
            "Speculative": task.speculative, "Getting Result Time": 0, "Finish Time": 0, "Failed": false,
            "Killed": false, "Accumulables": []});
        self.tasks += 1;
        let ids = json!({"Stage ID": stage.id, "Stage Attempt ID": stage.attempt});
        let event = |kind: &str, rest: Value| {
            let mut event = Map::from_iter([("Event".to_owned(), json!(kind))]);
            for part in [ids.clone(), rest] {
                event.extend(part.as_object().cloned().unwrap());
            }
            Value::Object(event)
        };
        self.push(start + task.launch, event("SparkListenerTaskStart", json!({"Task Info": info})));
        if task.ending == Ending::Unknown {
            return;
        }
        info["Finish Time"] = json!(launch + task.duration);
        info["Getting Result Time"] = json!(task.result_ready.map_or(0, |ready| launch + ready));
        info["Killed"] = json!(matches!(task.ending, Ending::Killed(_)));
        info["Failed"] = json!(!matches!(task.ending, Ending::Killed(_) | Ending::Success));
        let mut rest = json!({"Task Type": "ResultTask", "Task End Reason": reason(task), "Task Info": info,
            "Task Executor Metrics": executor_metrics(&task.peaks)});
        if !matches!(task.ending, Ending::ExecutorLost(_)) {
            rest["Task Metrics"] = metrics(task);
        }
        self.push(start + task.launch + task.duration, event("SparkListenerTaskEnd", rest));
    }
}

fn info(stage: &Stage) -> Value {
    let indices = (0u32..).zip(&stage.tasks).map(|(place, task)| task.index.unwrap_or(place));
    json!({"Stage ID": stage.id, "Stage Attempt ID": stage.attempt, "Stage Name": stage.name,
        "Number of Tasks": indices.max().map_or(0, |last| last + 1), "RDD Info": [], "Parent IDs": [],
        "Details": stage.details, "Accumulables": [], "Resource Profile Id": 0})
}

fn reason(task: &Task) -> Value {
    match task.ending {
        Ending::Success | Ending::Unknown => json!({"Reason": "Success"}),
        Ending::Exception(class, message) => {
            json!({"Reason": "ExceptionFailure", "Class Name": class, "Description": message, "Stack Trace": [],
                "Full Stack Trace": format!("{class}: {message}\n\tat App.run(App.scala:1)"),
                "Accumulator Updates": []})
        }
        Ending::ExecutorLost(message) => {
            json!({"Reason": "ExecutorLostFailure", "Executor ID": task.executor,
                "Exit Caused By App": true, "Loss Reason": message})
        }
        Ending::FetchFailed(message) => {
            json!({"Reason": "FetchFailed", "Block Manager Address": null, "Shuffle ID": 0, "Map ID": 0,
                "Map Index": 0, "Reduce ID": 0, "Message": message})
        }
        Ending::Killed(message) => {
            json!({"Reason": "TaskKilled", "Kill Reason": message, "Accumulator Updates": []})
        }
    }
}

fn metrics(task: &Task) -> Value {
    let mut metrics = json!({
        "Executor Deserialize Time": 0, "Executor Deserialize CPU Time": 0, "Executor Run Time": task.duration,
        "Executor CPU Time": 0, "Peak Execution Memory": 0, "Result Size": 1000, "JVM GC Time": 0,
        "Result Serialization Time": 0, "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
        "Shuffle Read Metrics": {"Remote Blocks Fetched": 0, "Local Blocks Fetched": 0, "Fetch Wait Time": 0,
            "Remote Bytes Read": 0, "Remote Bytes Read To Disk": 0, "Local Bytes Read": 0,
            "Total Records Read": 0, "Remote Requests Duration": 0},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": 0, "Shuffle Write Time": 0,
            "Shuffle Records Written": 0},
        "Input Metrics": {"Bytes Read": 0, "Records Read": 0},
        "Output Metrics": {"Bytes Written": 0, "Records Written": 0}, "Updated Blocks": []});
    for (path, value) in &task.metrics {
        let pointer = format!("/{}", path.replace('.', "/"));
        *metrics.pointer_mut(&pointer).unwrap_or_else(|| panic!("no task metric is called {path}")) =
            json!(value);
    }
    metrics
}

/// The metrics that Spark 3.5 executors report.
const EXECUTOR_METRICS: [&str; 23] = [
    "JVMHeapMemory",
    "JVMOffHeapMemory",
    "OnHeapExecutionMemory",
    "OffHeapExecutionMemory",
    "OnHeapStorageMemory",
    "OffHeapStorageMemory",
    "OnHeapUnifiedMemory",
    "OffHeapUnifiedMemory",
    "DirectPoolMemory",
    "MappedPoolMemory",
    "ProcessTreeJVMVMemory",
    "ProcessTreeJVMRSSMemory",
    "ProcessTreePythonVMemory",
    "ProcessTreePythonRSSMemory",
    "ProcessTreeOtherVMemory",
    "ProcessTreeOtherRSSMemory",
    "MinorGCCount",
    "MinorGCTime",
    "MajorGCCount",
    "MajorGCTime",
    "TotalGCTime",
    "ConcurrentGCCount",
    "ConcurrentGCTime",
];

fn executor_metrics(peaks: &[(&'static str, u64)]) -> Value {
    let mut metrics: Map<String, Value> =
        EXECUTOR_METRICS.into_iter().map(|name| (name.to_owned(), json!(0))).collect();
    for (name, value) in peaks {
        assert!(metrics.contains_key(*name), "no executor metric is called {name}");
        metrics.insert((*name).to_owned(), json!(value));
    }
    Value::Object(metrics)
}
