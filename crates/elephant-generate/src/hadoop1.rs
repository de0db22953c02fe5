//! Job histories as written by `org.apache.hadoop.mapred.JobHistory` of Hadoop 1.

use std::io::{self, Write};

use super::counters::Counters;
use super::job::{Attempt, History, JOB, Job, JobEnd, Kind, SUBMITTED, host, places, rack};

/// Writes job events as records.
pub(super) struct Records<'o> {
    job: Job,
    out: &'o mut dyn Write,
}

impl<'o> Records<'o> {
    pub(super) fn new(job: Job, out: &'o mut dyn Write) -> Self {
        Self { job, out }
    }

    fn record(&mut self, kind: &str, fields: &[(&str, &str)]) -> io::Result<()> {
        self.out.write_all(kind.as_bytes())?;
        for (key, value) in fields {
            write!(self.out, " {key}=\"{}\"", escape(value, "\\\".="))?;
        }
        self.out.write_all(b" .\n")
    }

    fn job(&mut self, fields: &[(&str, &str)]) -> io::Result<()> {
        let id = format!("job_{JOB}");
        self.record("Job", &[&[("JOBID", id.as_str())], fields].concat())
    }
}

impl History for Records<'_> {
    fn submitted(&mut self) -> io::Result<()> {
        self.record("Meta", &[("VERSION", "1")])?;
        self.job(&[
            ("JOBNAME", "word count (generated)"),
            ("USER", "alice"),
            ("SUBMIT_TIME", &SUBMITTED.to_string()),
            (
                "JOBCONF",
                &format!("hdfs://nn.example.com:8020/mapred/staging/alice/.staging/job_{JOB}/job.xml"),
            ),
            ("VIEW_JOB", "*"),
            ("MODIFY_JOB", "*"),
            ("JOB_QUEUE", "default"),
        ])?;
        self.job(&[("JOB_PRIORITY", "NORMAL")])?;
        let (maps, reduces) = (self.job.maps.to_string(), self.job.reduces.to_string());
        self.job(&[
            ("LAUNCH_TIME", &(SUBMITTED + 2_000).to_string()),
            ("TOTAL_MAPS", &maps),
            ("TOTAL_REDUCES", &reduces),
            ("JOB_STATUS", "PREP"),
        ])?;
        self.job(&[("JOB_STATUS", "RUNNING")])
    }

    fn scheduled(&mut self, kind: Kind, number: u32, at: i64, hosts: &[i64]) -> io::Result<()> {
        let fields = [
            ("TASKID", kind.task_id(number)),
            ("TASK_TYPE", kind.name().to_owned()),
            ("START_TIME", at.to_string()),
            ("SPLITS", places(hosts)),
        ];
        self.record("Task", &fields.each_ref().map(|(key, value)| (*key, value.as_str())))
    }

    fn launched(&mut self, attempt: &Attempt) -> io::Result<()> {
        let fields = [
            ("TASK_TYPE", attempt.kind.name().to_owned()),
            ("TASKID", attempt.kind.task_id(attempt.number)),
            ("TASK_ATTEMPT_ID", attempt.kind.attempt_id(attempt.number)),
            ("START_TIME", attempt.start.to_string()),
            ("TRACKER_NAME", format!("tracker_{}:localhost/127.0.0.1:57217", host(attempt.node))),
            ("HTTP_PORT", "50060".to_owned()),
            ("LOCALITY", "NODE_LOCAL".to_owned()),
            ("AVATAAR", "VIRGIN".to_owned()),
        ];
        let kind = attempt_record(attempt.kind);
        self.record(kind, &fields.each_ref().map(|(key, value)| (*key, value.as_str())))
    }

    fn succeeded(&mut self, attempt: &Attempt, counters: &Counters) -> io::Result<()> {
        let counters = compact(counters);
        let (task, finish) = (attempt.kind.task_id(attempt.number), attempt.end.to_string());
        let (fetched, merged) = attempt.phases();
        let mut fields = vec![
            ("TASK_TYPE", attempt.kind.name().to_owned()),
            ("TASKID", task.clone()),
            ("TASK_ATTEMPT_ID", attempt.kind.attempt_id(attempt.number)),
            ("TASK_STATUS", "SUCCESS".to_owned()),
        ];
        if attempt.kind == Kind::Reduce {
            fields.extend([("SHUFFLE_FINISHED", fetched.to_string()), ("SORT_FINISHED", merged.to_string())]);
        }
        fields.extend([
            ("FINISH_TIME", finish.clone()),
            ("HOSTNAME", format!("{}/{}", rack(attempt.node), host(attempt.node))),
            ("STATE_STRING", String::new()),
            ("COUNTERS", counters.clone()),
        ]);
        let fields: Vec<_> = fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
        self.record(attempt_record(attempt.kind), &fields)?;
        let fields = [
            ("TASKID", task.as_str()),
            ("TASK_TYPE", attempt.kind.name()),
            ("TASK_STATUS", "SUCCESS"),
            ("FINISH_TIME", &finish),
            ("COUNTERS", &counters),
        ];
        self.record("Task", &fields)
    }

    fn finished(&mut self, end: &JobEnd) -> io::Result<()> {
        let (maps, reduces) = (self.job.maps.to_string(), self.job.reduces.to_string());
        self.job(&[
            ("FINISH_TIME", &end.at.to_string()),
            ("JOB_STATUS", "SUCCESS"),
            ("FINISHED_MAPS", &maps),
            ("FINISHED_REDUCES", &reduces),
            ("FAILED_MAPS", "0"),
            ("FAILED_REDUCES", "0"),
            ("MAP_COUNTERS", &compact(&end.maps)),
            ("REDUCE_COUNTERS", &compact(&end.reduces)),
            ("COUNTERS", &compact(&end.total)),
        ])
    }
}

const fn attempt_record(kind: Kind) -> &'static str {
    match kind {
        Kind::Map => "MapAttempt",
        Kind::Reduce => "ReduceAttempt",
    }
}

/// `Counters.makeEscapedCompactString`.
fn compact(counters: &Counters) -> String {
    let special = "{}[]()\\";
    let mut text = String::new();
    for (group, values) in counters.groups() {
        let Some(name) = old_group(group.name) else { continue };
        text.extend(["{(", &escape(name, special), ")(", &escape(group.display, special), ")"]);
        for (counter, value) in values.into_iter().filter(|(counter, _)| is_old(counter.name)) {
            let (name, display) = (escape(counter.name, special), escape(counter.display, special));
            text.extend(["[(", &name, ")(", &display, ")(", &value.to_string(), ")]"]);
        }
        text.push('}');
    }
    text
}

/// The name of a counter group in Hadoop 1.
fn old_group(name: &str) -> Option<&'static str> {
    Some(match name.rsplit('.').next()? {
        "FileSystemCounter" => "FileSystemCounters",
        "TaskCounter" => "org.apache.hadoop.mapred.Task$Counter",
        "JobCounter" => "org.apache.hadoop.mapred.JobInProgress$Counter",
        "FileInputFormatCounter" => "org.apache.hadoop.mapreduce.lib.input.FileInputFormat$Counter",
        "FileOutputFormatCounter" => "org.apache.hadoop.mapreduce.lib.output.FileOutputFormat$Counter",
        _ => return None,
    })
}

fn is_old(name: &str) -> bool {
    let new = ["SHUFFLED_MAPS", "FAILED_SHUFFLE", "MERGED_MAP_OUTPUTS", "GC_TIME_MILLIS"];
    !name.ends_with("_OPS") && !new.contains(&name)
}

fn escape(text: &str, special: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
