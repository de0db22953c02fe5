//! Advice must be consistent: one value per setting, and never the current value.

use std::collections::BTreeMap;

use elephant_engine::engine::{Options, analyze};
use elephant_input::window::ByteWindow;
use elephant_model::model::conf::Property;
use elephant_parse::jhist::json;
use elephant_rule::finding::{Advice, SettingChange};
use elephant_ruleset::RuleSet;
use proptest::prelude::*;
use serde_json::json;

use elephant_testing::history::Job;

/// Checks all advice on one application. Settings of conditional advice are alternatives: only one of them applies.
fn check(advice: &[Advice]) -> Result<(), String> {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    for SettingChange { setting, from, to, .. } in advice.iter().flat_map(|advice| &advice.settings) {
        if from.as_ref() == Some(to) {
            return Err(format!("{setting} is {to} already: {advice:#?}"));
        }
    }
    let certain = advice.iter().filter(|advice| !advice.conditional);
    for SettingChange { setting, to, .. } in certain.flat_map(|advice| &advice.settings) {
        if let Some(other) = values.insert(setting, to)
            && other != to
        {
            return Err(format!("{setting} should be {other} and {to}: {advice:#?}"));
        }
    }
    let size = |key: &str| values.get(key).and_then(|value| value.parse::<u64>().ok());
    let smallest = size("mapreduce.input.fileinputformat.split.minsize");
    let largest = size("mapreduce.input.fileinputformat.split.maxsize");
    if smallest.zip(largest).is_some_and(|(smallest, largest)| smallest > largest) {
        return Err(format!("splits at least {smallest:?} and at most {largest:?}: {advice:#?}"));
    }
    Ok(())
}

#[test]
fn advice_on_bundled_histories_is_consistent() {
    let report = analyze(
        &[elephant_testing::root().join("testdata")],
        &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(),
        Options::default(),
    );
    for app in &report.applications {
        let advice: Vec<Advice> = app.findings.iter().flat_map(|finding| &finding.advice).cloned().collect();
        check(&advice).unwrap_or_else(|problem| panic!("{}: {problem}", app.id));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn advice_on_generated_jobs_is_consistent(
        maps in prop_oneof![1..5u64, 50..120u64],
        large in 0..3u64,
        reduces in 0..4u64,
        seconds in prop_oneof![1..100u64, 300..10_000u64],
        input in prop_oneof![0..1000u64, 1_000_000..10_000_000_000u64],
        gc_percent in 0..20u64,
        physical_mib in 1..5000u64,
        container in prop::option::of(512..9000u64),
        heap in prop::option::of(100..5000u64),
        shared_opts in any::<bool>(),
        split in prop::option::of(1..10_000_000_000u64),
        sort_mb in prop::option::of(50..3000u64),
        spilled in 1..5u64,
        output in prop::option::of(1..5_000_000_000u64),
    ) {
        let millis = seconds * 1000;
        let mut map = json!({"HDFS_BYTES_READ": input, "CPU_MILLISECONDS": millis / 2,
            "GC_TIME_MILLIS": millis * gc_percent / 100, "PHYSICAL_MEMORY_BYTES": physical_mib << 20,
            "SPILLED_RECORDS": 1000 * spilled, "MAP_OUTPUT_RECORDS": 1000});
        if let Some(output) = output {
            map["MAP_OUTPUT_BYTES"] = json!(output);
        }
        let mut giant = map.clone();
        giant["HDFS_BYTES_READ"] = json!(input * 30);
        let reduce = json!({"REDUCE_SHUFFLE_BYTES": input, "CPU_MILLISECONDS": millis / 2,
            "GC_TIME_MILLIS": millis * gc_percent / 100, "PHYSICAL_MEMORY_BYTES": physical_mib << 19});
        let time = |millis: u64| json!({"total_ms": millis, "shuffle_ms": millis / 2, "sort_ms": 0});
        let groups = json!([
            {"role": "map", "count": maps, "time": time(millis), "counters": map},
            {"role": "map", "count": large, "time": time(millis * 20), "counters": giant},
            {"role": "reduce", "count": reduces, "time": time(millis), "counters": reduce},
        ]);
        let history = Job::succeeded(&groups).history();
        let mut app = json::parse(ByteWindow::new(history.as_bytes())).applications.remove(0);
        let mut set = |name: &str, value: String| app.conf.insert(name.to_owned(), Property { value, is_final: false });
        if let Some(mib) = container {
            set("mapreduce.map.memory.mb", mib.to_string());
            set("mapreduce.reduce.memory.mb", mib.to_string());
        }
        if let Some(mib) = heap {
            let names: &[&str] = if shared_opts {
                &["mapred.child.java.opts"]
            } else {
                &["mapreduce.map.java.opts", "mapreduce.reduce.java.opts"]
            };
            for name in names {
                set(name, format!("-Xmx{mib}m"));
            }
        }
        if let Some(size) = split {
            set("mapreduce.input.fileinputformat.split.maxsize", size.to_string());
        }
        if let Some(mib) = sort_mb {
            set("mapreduce.task.io.sort.mb", mib.to_string());
        }
        let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(&app).findings;
        let advice: Vec<Advice> = findings.into_iter().flat_map(|finding| finding.advice).collect();
        prop_assert!(check(&advice).is_ok(), "{}", check(&advice).unwrap_err());
    }
}
