//! The inner loops, on histories that fit into the cache: parsing in each format, and one rule.

mod support;

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use elephant_rs::input::window::ByteWindow;
use elephant_rs::model::Application;
use elephant_rs::parse::{Parsed, hadoop1, jhist};
use elephant_rs::rules::{RuleFile, RuleSet};
use support::{Format, Job};

fn history(format: Format, job: Job) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail; if it did, the benchmark of nothing would tell.
    let written = format.write(job, &mut bytes);
    if written.is_ok() { bytes } else { Vec::new() }
}

fn parse(format: Format, bytes: &[u8]) -> Parsed {
    let window = ByteWindow::new(bytes);
    match format {
        Format::AvroJson => jhist::json::parse(window),
        Format::AvroBinary => jhist::avro::parse(window),
        Format::Hadoop1 => hadoop1::parse(window),
    }
}

fn parsers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for format in [Format::AvroJson, Format::AvroBinary, Format::Hadoop1] {
        let bytes = history(format, Job { maps: 100, reduces: 5 });
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format.name(), |bench| bench.iter(|| parse(format, black_box(&bytes))));
    }
    group.finish();
}

const MEASURED: [&str; 4] = ["mapper-skew", "my-mapper-skew", "mapper-gc", "my-mapper-gc"];

fn rules(criterion: &mut Criterion) {
    // Rules that are defined in YAML, beside the program's own that they repeat.
    let Ok(files) = RuleFile::find(Path::new("rules/examples")) else { return };
    let Ok(rules) = RuleSet::with_files(&files) else { return };
    let bytes = history(Format::AvroBinary, Job { maps: 10_000, reduces: 50 });
    let applications = parse(Format::AvroBinary, &bytes).applications;
    let Some(app): Option<&Application> = applications.first() else { return };
    let metrics = rules.measure(app);
    let mut group = criterion.benchmark_group("rule");
    for rule in rules.rules().iter().filter(|rule| MEASURED.contains(&rule.info.id.as_ref())) {
        let tasks: u64 = app.groups.iter().map(|group| group.tasks.len() as u64).sum();
        group.throughput(Throughput::Elements(tasks));
        group.bench_function(rule.info.id.as_ref(), |bench| {
            bench.iter(|| rule.verdict(black_box(app), &|| &metrics));
        });
    }
    group.finish();
}

criterion_group!(benches, parsers, rules);
criterion_main!(benches);
