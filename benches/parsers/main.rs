//! The inner loops, on logs that fit into the cache: parsing each format, the most common event of each,
//! decompression, and rules.

mod readers;

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use elephant_generate::spark::SparkJob;
use elephant_generate::spark::codec::Codec;
use elephant_generate::{Format, Job, conf};
use elephant_rs::model::Application;
use elephant_rs::rules::RuleSet;
use readers::{Judging, avro_binary, avro_json, configuration, decode, hadoop1, spark_log};

const FORMATS: [Format; 3] = [Format::AvroJson, Format::AvroBinary, Format::Hadoop1];
const JOB: Job = Job { maps: 100, reduces: 5 };
const SPARK: SparkJob = SparkJob { tasks: 400, executors: 4, cores: 2, lost_executors: 0 };

/// The output of `write`.
fn bytes(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail; if it did, the benchmark of empty input would show it.
    let written = write(&mut bytes);
    if written.is_ok() { bytes } else { Vec::new() }
}

fn history(format: Format, job: Job) -> Vec<u8> {
    bytes(|out| format.write(job, out))
}

fn parse(format: Format, bytes: &[u8]) -> Vec<Application> {
    match format {
        Format::AvroJson => avro_json(bytes),
        Format::AvroBinary => avro_binary(bytes),
        Format::Hadoop1 => hadoop1(bytes),
    }
}

/// The first lines of the file, followed by the lines that contain `word`.
fn lines_with(bytes: &[u8], first: usize, word: &str) -> Vec<u8> {
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let head: Vec<&[u8]> = lines.by_ref().take(first).collect();
    let chosen = lines.filter(|line| memchr::memmem::find(line, word.as_bytes()).is_some());
    head.into_iter().chain(chosen).flatten().copied().collect()
}

fn of_bytes<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    bytes: &[u8],
    work: impl Fn(&[u8]) -> T,
) {
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(name, |bench| bench.iter(|| work(black_box(bytes))));
}

fn parsers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for format in FORMATS {
        of_bytes(&mut group, format.name(), &history(format, JOB), |bytes| parse(format, bytes));
    }
    of_bytes(&mut group, "spark", &bytes(|out| SPARK.write(out)), spark_log);
    of_bytes(&mut group, "configuration", &bytes(|out| conf::write(out)), configuration);
    group.finish();
}

/// Parses one kind of event repeatedly.
fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("events");
    let json = lines_with(&history(Format::AvroJson, JOB), 2, "\"MAP_ATTEMPT_FINISHED\"");
    of_bytes(&mut group, "avro-json-attempt-end", &json, |bytes| parse(Format::AvroJson, bytes));
    let records = lines_with(&history(Format::Hadoop1, JOB), 1, "MapAttempt ");
    of_bytes(&mut group, "hadoop-1-attempt", &records, |bytes| parse(Format::Hadoop1, bytes));
    let log = bytes(|out| SPARK.write(out));
    for (name, event) in
        [("spark-task-start", "\"SparkListenerTaskStart\""), ("spark-task-end", "\"SparkListenerTaskEnd\"")]
    {
        of_bytes(&mut group, name, &lines_with(&log, 1, event), spark_log);
    }
    group.finish();
}

/// Reads a compressed log to its end.
fn unpacking(criterion: &mut Criterion) {
    let plain = bytes(|out| SPARK.write(out));
    let packed = |codec: Codec| bytes(|out| codec.pack(out, |out| out.write_all(&plain)));
    let logs = [
        ("zstd", packed(Codec::Zstd)),
        ("lz4-blocks", packed(Codec::Lz4)),
        ("snappy-blocks", snappy(&plain)),
    ];
    let mut group = criterion.benchmark_group("unpack");
    group.throughput(Throughput::Bytes(plain.len() as u64));
    for (name, log) in logs {
        group.bench_function(name, |bench| {
            bench.iter(|| io::copy(&mut decode(log.clone()), &mut io::sink()));
        });
    }
    group.finish();
}

/// As Java's `SnappyOutputStream` writes it: a header, then blocks of 32 KiB, each after its length.
fn snappy(plain: &[u8]) -> Vec<u8> {
    let mut packed = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for block in plain.chunks(32 << 10) {
        let block = snap::raw::Encoder::new().compress_vec(block).unwrap_or_default();
        packed.extend(u32::try_from(block.len()).unwrap_or_default().to_be_bytes());
        packed.extend(block);
    }
    packed
}

const MEASURED: [&str; 4] = ["mapper-skew", "my-mapper-skew", "mapper-gc", "my-mapper-gc"];

fn rules(criterion: &mut Criterion) {
    // Compares YAML rules with the built-in rules that they repeat.
    let Ok(files) = elephant_rs::rules::find_files(Path::new("rules/examples")) else { return };
    let Ok(rules) = RuleSet::with_files(elephant_rs::rules::BUILT_IN, &files) else { return };
    let bytes = history(Format::AvroBinary, Job { maps: 10_000, reduces: 50 });
    let Some(app) = parse(Format::AvroBinary, &bytes).pop() else { return };
    let tasks: u64 = app.groups.iter().map(|group| group.tasks.len() as u64).sum();
    let judging = Judging::new(app, rules);
    let mut group = criterion.benchmark_group("rule");
    for id in judging.ids().filter(|id| MEASURED.contains(id)) {
        group.throughput(Throughput::Elements(tasks));
        group.bench_function(id, |bench| bench.iter(|| judging.verdict(id)));
    }
    group.finish();
}

criterion_group!(benches, parsers, events, unpacking, rules);
criterion_main!(benches);
