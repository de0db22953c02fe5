//! Job histories as written by `org.apache.hadoop.mapreduce.jobhistory.EventWriter` of Hadoop 3.3, in both of
//! its encodings.

use std::io::{self, Write};

use super::counters::Counters;
use super::job::{Attempt, History, JOB, Job, JobEnd, Kind, SUBMITTED, host, places, rack};

/// The schema of Hadoop's events on one line, including its line feed.
const SCHEMA: &str = include_str!("event.avsc");

/// The value of an event's field.
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A string in a field that may also be null.
    Optional(&'a str),
    Integer(i64),
    Flag(bool),
    Map(&'a [(&'a str, &'a str)]),
    Counters(&'a str, &'a Counters),
    Integers(&'a [i32]),
}

use Value::{Flag, Integer, Integers, Optional, Text};

/// Writes events; fields must be in schema order.
pub(super) trait Encoding {
    fn start(&mut self) -> io::Result<()>;
    fn event(&mut self, kind: &str, record: &str, fields: &[(&str, Value<'_>)]) -> io::Result<()>;
}

/// Writes job events in Hadoop's format.
pub(super) struct Jhist<E> {
    job: Job,
    encoding: E,
    containers: u64,
}

impl<E: Encoding> Jhist<E> {
    pub(super) fn new(job: Job, encoding: E) -> Self {
        Self { job, encoding, containers: 1 }
    }
}

impl<E: Encoding> History for Jhist<E> {
    fn submitted(&mut self) -> io::Result<()> {
        let id = format!("job_{JOB}");
        let staging =
            format!("hdfs://nn.example.com:8020/tmp/hadoop-yarn/staging/alice/.staging/{id}/job.xml");
        let acls = [("mapreduce.job.acl-view-job", " "), ("mapreduce.job.acl-modify-job", " ")];
        let out = &mut self.encoding;
        out.start()?;
        let fields = [
            ("applicationAttemptId", Text(&format!("appattempt_{JOB}_000001"))),
            ("startTime", Integer(SUBMITTED + 500)),
            ("containerId", Text(&format!("container_{JOB}_01_000001"))),
            ("nodeManagerHost", Text(&host(0))),
            ("nodeManagerPort", Integer(8041)),
            ("nodeManagerHttpPort", Integer(8042)),
        ];
        out.event("AM_STARTED", "AMStarted", &fields)?;
        let fields = [
            ("jobid", Text(&id)),
            ("jobName", Text("word count (generated)")),
            ("userName", Text("alice")),
            ("submitTime", Integer(SUBMITTED)),
            ("jobConfPath", Text(&staging)),
            ("acls", Value::Map(&acls)),
            ("jobQueueName", Text("root.default")),
            ("workflowId", Optional("")),
            ("workflowName", Optional("")),
            ("workflowNodeName", Optional("")),
            ("workflowAdjacencies", Optional("")),
            ("workflowTags", Optional("")),
        ];
        out.event("JOB_SUBMITTED", "JobSubmitted", &fields)?;
        let fields = [("jobid", Text(&id)), ("jobQueueName", Text("root.default"))];
        out.event("JOB_QUEUE_CHANGED", "JobQueueChange", &fields)?;
        let fields = [
            ("jobid", Text(&id)),
            ("launchTime", Integer(SUBMITTED + 1_500)),
            ("totalMaps", Integer(self.job.maps.into())),
            ("totalReduces", Integer(self.job.reduces.into())),
            ("jobStatus", Text("NEW")),
            ("uberized", Flag(false)),
        ];
        out.event("JOB_INITED", "JobInited", &fields)?;
        let fields = [
            ("jobid", Text(&id)),
            ("submitTime", Integer(SUBMITTED)),
            ("launchTime", Integer(SUBMITTED + 2_000)),
        ];
        out.event("JOB_INFO_CHANGED", "JobInfoChange", &fields)
    }

    fn scheduled(&mut self, kind: Kind, number: u32, at: i64, hosts: &[i64]) -> io::Result<()> {
        let fields = [
            ("taskid", Text(&kind.task_id(number))),
            ("taskType", Text(kind.name())),
            ("startTime", Integer(at)),
            ("splitLocations", Text(&places(hosts))),
        ];
        self.encoding.event("TASK_STARTED", "TaskStarted", &fields)
    }

    fn launched(&mut self, attempt: &Attempt) -> io::Result<()> {
        self.containers += 1;
        let fields = [
            ("taskid", Text(&attempt.kind.task_id(attempt.number))),
            ("taskType", Text(attempt.kind.name())),
            ("attemptId", Text(&attempt.kind.attempt_id(attempt.number))),
            ("startTime", Integer(attempt.start)),
            ("trackerName", Text(&host(attempt.node))),
            ("httpPort", Integer(8042)),
            ("shufflePort", Integer(13562)),
            ("containerId", Text(&format!("container_{JOB}_01_{:06}", self.containers))),
            ("locality", Optional("NODE_LOCAL")),
            ("avataar", Optional("VIRGIN")),
        ];
        let event = format!("{}_ATTEMPT_STARTED", attempt.kind.name());
        self.encoding.event(&event, "TaskAttemptStarted", &fields)
    }

    fn succeeded(&mut self, attempt: &Attempt, counters: &Counters) -> io::Result<()> {
        let (task, id) = (attempt.kind.task_id(attempt.number), attempt.kind.attempt_id(attempt.number));
        let (host, rack) = (host(attempt.node), rack(attempt.node));
        let (first, second) = attempt.phases();
        let progress = attempt.progress();
        let (event, record, state, phases) = match attempt.kind {
            Kind::Map => {
                let phases = vec![("mapFinishTime", Integer(first))];
                ("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", "map > sort", phases)
            }
            Kind::Reduce => {
                let phases = vec![("shuffleFinishTime", Integer(first)), ("sortFinishTime", Integer(second))];
                ("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", "reduce > reduce", phases)
            }
        };
        let mut fields = vec![
            ("taskid", Text(&task)),
            ("attemptId", Text(&id)),
            ("taskType", Text(attempt.kind.name())),
            ("taskStatus", Text("SUCCEEDED")),
        ];
        fields.extend(phases);
        fields.extend([
            ("finishTime", Integer(attempt.end)),
            ("hostname", Text(&host)),
            ("port", Integer(8041)),
            ("rackname", Text(&rack)),
            ("state", Text(state)),
            ("counters", Value::Counters("COUNTERS", counters)),
        ]);
        let arrays = ["clockSplits", "cpuUsages", "vMemKbytes", "physMemKbytes"];
        fields.extend(arrays.into_iter().zip(&progress).map(|(name, values)| (name, Integers(values))));
        self.encoding.event(event, record, &fields)?;
        let fields = [
            ("taskid", Text(&task)),
            ("taskType", Text(attempt.kind.name())),
            ("finishTime", Integer(attempt.end)),
            ("status", Text("SUCCEEDED")),
            ("counters", Value::Counters("COUNTERS", counters)),
            ("successfulAttemptId", Optional(&id)),
        ];
        self.encoding.event("TASK_FINISHED", "TaskFinished", &fields)
    }

    fn finished(&mut self, end: &JobEnd) -> io::Result<()> {
        let fields = [
            ("jobid", Text(&format!("job_{JOB}"))),
            ("finishTime", Integer(end.at)),
            ("finishedMaps", Integer(self.job.maps.into())),
            ("finishedReduces", Integer(self.job.reduces.into())),
            ("failedMaps", Integer(0)),
            ("failedReduces", Integer(0)),
            ("totalCounters", Value::Counters("TOTAL_COUNTERS", &end.total)),
            ("mapCounters", Value::Counters("MAP_COUNTERS", &end.maps)),
            ("reduceCounters", Value::Counters("REDUCE_COUNTERS", &end.reduces)),
            ("killedMaps", Integer(0)),
            ("killedReduces", Integer(0)),
        ];
        self.encoding.event("JOB_FINISHED", "JobFinished", &fields)
    }
}

/// Avro's JSON encoding. The texts used here need no escaping.
pub(super) struct Json<'o> {
    out: &'o mut dyn Write,
    separator: &'static str,
}

impl<'o> Json<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out, separator: "" }
    }

    fn value(&mut self, value: &Value<'_>) -> io::Result<()> {
        let out = &mut *self.out;
        match value {
            Text(text) => write!(out, "\"{text}\""),
            Optional(text) => write!(out, "{{\"string\":\"{text}\"}}"),
            Integer(value) => write!(out, "{value}"),
            Flag(value) => write!(out, "{value}"),
            Value::Map(entries) => {
                out.write_all(b"{")?;
                for (place, (key, value)) in entries.iter().enumerate() {
                    write!(out, "{}\"{key}\":\"{value}\"", comma(place))?;
                }
                out.write_all(b"}")
            }
            Value::Counters(name, counters) => self.counters(name, counters),
            Integers(values) => {
                out.write_all(b"[")?;
                for (place, value) in values.iter().enumerate() {
                    write!(out, "{}{value}", comma(place))?;
                }
                out.write_all(b"]")
            }
        }
    }

    fn counters(&mut self, name: &str, counters: &Counters) -> io::Result<()> {
        let out = &mut *self.out;
        write!(out, "{{\"name\":\"{name}\",\"groups\":[")?;
        for (place, (group, values)) in counters.groups().into_iter().enumerate() {
            let (name, display) = (group.name, group.display);
            write!(out, "{}{{\"name\":\"{name}\",\"displayName\":\"{display}\",\"counts\":[", comma(place))?;
            for (place, (counter, value)) in values.into_iter().enumerate() {
                let (name, display) = (counter.name, counter.display);
                let comma = comma(place);
                write!(
                    out,
                    "{comma}{{\"name\":\"{name}\",\"displayName\":\"{display}\",\"value\":{value}}}"
                )?;
            }
            out.write_all(b"]}")?;
        }
        out.write_all(b"]}")
    }
}

fn comma(place: usize) -> &'static str {
    if place == 0 { "" } else { "," }
}

impl Encoding for Json<'_> {
    fn start(&mut self) -> io::Result<()> {
        self.out.write_all(b"Avro-Json\n")?;
        self.out.write_all(SCHEMA.as_bytes())
    }

    fn event(&mut self, kind: &str, record: &str, fields: &[(&str, Value<'_>)]) -> io::Result<()> {
        // Avro's encoder separates events by a line feed, and Hadoop ends each event with another.
        self.out.write_all(self.separator.as_bytes())?;
        self.separator = "\n";
        let record = format!("org.apache.hadoop.mapreduce.jobhistory.{record}");
        write!(self.out, "{{\"type\":\"{kind}\",\"event\":{{\"{record}\":{{")?;
        for (place, (name, value)) in fields.iter().enumerate() {
            write!(self.out, "{}\"{name}\":", comma(place))?;
            self.value(value)?;
        }
        self.out.write_all(b"}}}\n")
    }
}

/// Avro's binary encoding.
pub(super) struct Binary<'o> {
    out: &'o mut dyn Write,
    /// Event types in schema order.
    kinds: Vec<String>,
    /// Event records in schema order.
    records: Vec<String>,
}

impl<'o> Binary<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> io::Result<Self> {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA)?;
        let names = |list: Option<&serde_json::Value>, name: &str| -> Vec<String> {
            let list = list.and_then(serde_json::Value::as_array).into_iter().flatten();
            let names = list.filter_map(|item| item.pointer(name).and_then(serde_json::Value::as_str));
            names.map(str::to_owned).collect()
        };
        let kinds = names(schema.pointer("/fields/0/type/symbols"), "");
        let records = names(schema.pointer("/fields/1/type"), "/name");
        Ok(Self { out, kinds, records })
    }

    fn long(&mut self, value: i64) -> io::Result<()> {
        let mut rest = (value << 1 ^ value >> 63).cast_unsigned();
        let mut bytes = Vec::with_capacity(10);
        while rest >= 0x80 {
            bytes.push(rest.to_le_bytes()[0] | 0x80);
            rest >>= 7;
        }
        bytes.push(rest.to_le_bytes()[0]);
        self.out.write_all(&bytes)
    }

    /// Writes the index of a symbol or branch, or a length.
    fn count(&mut self, count: usize) -> io::Result<()> {
        self.long(i64::try_from(count).map_err(io::Error::other)?)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.count(text.len())?;
        self.out.write_all(text.as_bytes())
    }

    fn value(&mut self, value: &Value<'_>) -> io::Result<()> {
        match value {
            Text(text) => self.text(text),
            Optional(text) => {
                self.count(1)?;
                self.text(text)
            }
            Integer(value) => self.long(*value),
            Flag(value) => self.out.write_all(&[u8::from(*value)]),
            Value::Map(entries) => {
                self.count(entries.len())?;
                for (key, value) in *entries {
                    self.text(key)?;
                    self.text(value)?;
                }
                self.count(0)
            }
            Value::Counters(name, counters) => self.counters(name, counters),
            Integers(values) => {
                self.count(values.len())?;
                values.iter().try_for_each(|&value| self.long(value.into()))?;
                self.count(0)
            }
        }
    }

    fn counters(&mut self, name: &str, counters: &Counters) -> io::Result<()> {
        self.text(name)?;
        let groups = counters.groups();
        self.count(groups.len())?;
        for (group, values) in groups {
            self.text(group.name)?;
            self.text(group.display)?;
            self.count(values.len())?;
            for (counter, value) in values {
                self.text(counter.name)?;
                self.text(counter.display)?;
                self.long(value)?;
            }
            self.count(0)?;
        }
        self.count(0)
    }
}

impl Encoding for Binary<'_> {
    fn start(&mut self) -> io::Result<()> {
        self.out.write_all(b"Avro-Binary\n")?;
        self.out.write_all(SCHEMA.as_bytes())
    }

    fn event(&mut self, kind: &str, record: &str, fields: &[(&str, Value<'_>)]) -> io::Result<()> {
        let place = |names: &[String], name: &str| {
            names.iter().position(|known| known == name).ok_or_else(|| io::Error::other(name.to_owned()))
        };
        let (kind, branch) = (place(&self.kinds, kind)?, place(&self.records, record)?);
        self.count(kind)?;
        self.count(branch)?;
        fields.iter().try_for_each(|(_, value)| self.value(value))
    }
}
