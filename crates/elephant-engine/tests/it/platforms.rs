//! Published problems whose answer depends on the platform, the engine or the collector.

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::ApplicationReport;
use elephant_rule::finding::TroubleKind;
use elephant_sample::judge::rules;
use elephant_testing::shared;
use elephant_verdict::troubles::Trouble;

/// The report on a history of `../shared`, by the rules as they are or by a preset.
fn report(path: &str, presets: &[&str]) -> Option<ApplicationReport> {
    let report = analyze(&[shared(path)?], &rules(presets, ""), Options::default());
    report.applications.into_iter().next()
}

fn advice(report: &ApplicationReport) -> Vec<&str> {
    report.troubles.iter().flat_map(|trouble| &trouble.advice).map(|line| line.text.as_str()).collect()
}

fn recommended(report: &ApplicationReport) -> Vec<String> {
    report.recommended.iter().map(|it| format!("{}={}", it.change.setting, it.change.to)).collect()
}

fn why_not_evaluated<'a>(report: &'a ApplicationReport, rule: &str) -> Option<&'a str> {
    report.not_evaluated.iter().find(|it| it.rule == rule).map(|it| it.reason.as_str())
}

#[test]
fn tasks_that_share_a_gpu_leave_cores_idle() {
    let Some(report) = report("runs/public/028-gpu-limits-slots", &[]) else { return };
    assert_eq!(report.native_engine.as_deref(), Some("rapids"));
    assert_eq!(recommended(&report), ["spark.task.resource.gpu.amount=0.0625"]);
    let cause = &report.troubles[0].cause;
    assert!(cause.contains("has cores for 16 tasks but runs 4 at once"), "{cause}");
    // Neither more tasks nor more executors, each of which takes a GPU.
    assert_eq!(report.troubles.len(), 1);
}

#[test]
fn on_databricks_the_worker_type_and_the_workers_are_changed() {
    let of_job = |file| report(&format!("runs/public/021-databricks-settings/{file}"), &[]);
    let Some((gap, no_end)) = of_job("gap.zst").zip(of_job("no-end.zst")) else { return };
    for report in [&gap, &no_end] {
        assert_eq!(report.platform.as_deref(), Some("databricks"));
        assert_eq!(recommended(report), Vec::<String>::new());
        let lines = advice(report);
        assert!(lines.iter().any(|line| line.contains("another worker type (now m5.4xlarge)")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("--conf")), "{lines:?}");
    }
    // Nobody waits for a job: the idle workers count in full, and the cluster should be smaller or end earlier.
    let is_idle = |trouble: &&Trouble| trouble.kind == TroubleKind::IdleExecutors;
    let idle = gap.troubles.iter().find(is_idle).unwrap();
    assert!(idle.severity >= Severity::Moderate, "{}", idle.cause);
    assert!(idle.advice.iter().any(|line| line.text.contains("a cluster of fixed size keeps its workers")));
    assert!(idle.savings.alone.as_ref().is_some_and(|saved| saved.core_hours.is_some()));
}

#[test]
fn cycles_of_zgc_are_no_lost_time() {
    let path = "runs/public/033-zgc-cycles";
    let Some((own, preset)) = report(path, &[]).zip(report(path, &["dr-elephant"])) else { return };
    let why = why_not_evaluated(&own, "spark-executor-gc").unwrap();
    assert!(why.starts_with("ZGC works while tasks do"), "{why}");
    assert!(!recommended(&own).iter().any(|it| it.contains("memory")));
    // Dr. Elephant knows no collectors.
    let critical =
        preset.findings.iter().any(|it| it.rule == "spark-executor-gc" && it.severity == Severity::Critical);
    assert!(critical);
}

#[test]
fn heaps_are_not_judged_where_photon_works() {
    let path = "corpus/spark-plain/NVIDIA__spark-rapids-tools/e2e/test_id_0005_photon";
    let Some(report) = report(path, &[]) else { return };
    assert_eq!(
        (report.platform.as_deref(), report.native_engine.as_deref()),
        (Some("databricks"), Some("photon"))
    );
    for rule in
        ["spark-executor-gc", "spark-jvm-used-memory", "spark-peak-unified-memory", "spark-memory-limit"]
    {
        let why = why_not_evaluated(&report, rule).unwrap_or_default();
        assert!(why.starts_with("Photon keeps its data outside the heap"), "{rule}: {why}");
    }
}
