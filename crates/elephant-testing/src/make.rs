//! Builds hostile input on demand.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Value, json};

pub const MIB: usize = 1 << 20;

/// The start of a Spark event log with one executor.
pub fn spark_start() -> String {
    lines(&[
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-1", "Timestamp": 1_700_000_000_000_u64, "User": "u"}),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.executor.memory": "4g", "spark.master": "yarn"}}),
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": 1_700_000_000_000_u64, "Executor ID": "1", "Executor Info": {"Host": "h1", "Total Cores": 4}}),
    ])
}

/// The end of a Spark event log.
pub fn spark_end() -> String {
    lines(&[json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_700_000_009_000_u64})])
}

/// A stage with one task that runs for one second.
pub fn stage(id: u64, index: u64) -> String {
    let info = |completed: Option<u64>| {
        json!({"Stage ID": id, "Stage Attempt ID": 0, "Stage Name": format!("s{id}"), "Number of Tasks": 1,
            "Submission Time": 1_700_000_001_000_u64, "Completion Time": completed})
    };
    lines(&[
        json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info(None)}),
        task_start(id, id, index),
        task_end(id, id, index),
        json!({"Event": "SparkListenerStageCompleted", "Stage Info": info(Some(1_700_000_002_000))}),
    ])
}

pub fn task_start(stage: u64, id: u64, index: u64) -> Value {
    json!({"Event": "SparkListenerTaskStart", "Stage ID": stage, "Stage Attempt ID": 0,
        "Task Info": {"Task ID": id, "Index": index, "Attempt": 0, "Launch Time": 1_700_000_001_000_u64, "Executor ID": "1",
            "Host": "h1", "Locality": "ANY", "Speculative": false}})
}

pub fn task_end(stage: u64, id: u64, index: u64) -> Value {
    json!({"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0, "Task Type": "ResultTask",
        "Task End Reason": {"Reason": "Success"},
        "Task Info": {"Task ID": id, "Index": index, "Attempt": 0, "Launch Time": 1_700_000_001_000_u64, "Executor ID": "1",
            "Host": "h1", "Locality": "ANY", "Speculative": false, "Finish Time": 1_700_000_002_000_u64},
        "Task Metrics": {"Executor Run Time": 900, "JVM GC Time": 10}})
}

/// Events, one per line.
pub fn lines(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        writeln!(text, "{event}").unwrap();
        text
    })
}

/// A Hadoop job history with maps of one second each.
pub fn jhist(maps: u64) -> String {
    use super::history::Job;
    Job::succeeded(&json!([{"role": "map", "count": maps, "time": {"total_ms": 1000}, "counters": {}}]))
        .history()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Snappy as the Java library frames it: each block follows its length.
pub fn snappy(bytes: &[u8]) -> Vec<u8> {
    let mut all = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for block in bytes.chunks(32 << 10) {
        let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
        all.extend(u32::try_from(packed.len()).unwrap().to_be_bytes());
        all.extend(packed);
    }
    all
}

/// A zip file of stored members. The caller chooses each member's position; `None` means after the previous member.
pub struct Zip {
    pub bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Default for Zip {
    fn default() -> Self {
        Self::new()
    }
}

impl Zip {
    pub fn new() -> Self {
        Self { bytes: Vec::new(), directory: Vec::new(), count: 0 }
    }

    /// Adds a member with these bytes.
    #[must_use]
    pub fn member(self, name: &str, bytes: &[u8]) -> Self {
        self.claiming(name, bytes, bytes.len())
    }

    /// Adds a member with these bytes, and another length in the directory.
    #[must_use]
    pub fn claiming(mut self, name: &str, bytes: &[u8], unpacked: usize) -> Self {
        let at = self.bytes.len();
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let numbers = numbers(bytes, bytes.len());
        self.bytes.extend(
            [&b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0"[..], &numbers, &name_len, &[0, 0], name.as_bytes(), bytes]
                .concat(),
        );
        self.entry(name, at, bytes, unpacked)
    }

    /// Adds a compressed member, given also its uncompressed bytes.
    #[must_use]
    pub fn deflated(mut self, name: &str, packed: &[u8], unpacked: &[u8]) -> Self {
        let at = u32::try_from(self.bytes.len()).unwrap().to_le_bytes();
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let mut crc = flate2::Crc::new();
        crc.update(unpacked);
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let numbers = [crc.sum().to_le_bytes(), len(packed), len(unpacked)].concat();
        let head = &b"\x14\0\0\0\x08\0\0\0\0\0"[..];
        self.bytes
            .extend([b"PK\x03\x04", head, &numbers, &name_len, &[0, 0], name.as_bytes(), packed].concat());
        self.directory.extend(
            [b"PK\x01\x02\x14\0", head, &numbers, &name_len, &[0; 12], &at, name.as_bytes()].concat(),
        );
        self.count += 1;
        self
    }

    /// Adds only a directory entry, for bytes whose header is at `at`; it claims the uncompressed length `unpacked`.
    #[must_use]
    pub fn entry(mut self, name: &str, at: usize, bytes: &[u8], unpacked: usize) -> Self {
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let at = u32::try_from(at).unwrap().to_le_bytes();
        let head = b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0";
        self.directory.extend(
            [&head[..], &numbers(bytes, unpacked), &name_len, &[0; 12], &at, name.as_bytes()].concat(),
        );
        self.count += 1;
        self
    }

    pub fn finish(self) -> Vec<u8> {
        let Self { mut bytes, directory, count } = self;
        let (at, len) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(directory.len()).unwrap());
        bytes.extend(directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        bytes.extend([len.to_le_bytes(), at.to_le_bytes()].concat());
        bytes.extend([0, 0]);
        bytes
    }
}

fn numbers(bytes: &[u8], unpacked: usize) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
    [crc.sum().to_le_bytes(), len(bytes.len()), len(unpacked)].concat()
}

/// A tar file of one member that claims to have `announced` bytes.
pub fn tar(name: &str, bytes: &[u8], announced: u64) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{announced:011o}\0").as_bytes());
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut all = header.to_vec();
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(512) + 1024, 0);
    all
}
