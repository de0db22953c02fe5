//! Recognition of real files.

use std::path::{Path, PathBuf};

use elephant_engine::engine::discover;
use elephant_input::codec;
use elephant_input::kind::{self, Reason, SourceKind};

fn files_below(sub: &str) -> Vec<PathBuf> {
    let Some(root) = elephant_testing::shared(sub) else { return Vec::new() };
    let files = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(Result::unwrap);
    files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn kind_of(path: &Path) -> SourceKind {
    kind::of(&mut codec::open(path).unwrap(), elephant_parse::identify)
}

fn all_are(sub: &str, expected: SourceKind) {
    for path in files_below(sub) {
        assert_eq!(kind_of(&path), expected, "{}", path.display());
    }
}

#[test]
fn hadoop_2_and_3_histories_are_recognised() {
    all_are("corpus/mr-jhist", SourceKind::JhistJson);
}

#[test]
fn hadoop_1_histories_are_recognised() {
    all_are("corpus/hadoop1-history", SourceKind::Hadoop1History);
}

#[test]
fn job_configurations_are_recognised() {
    all_are("corpus/mr-conf-xml", SourceKind::JobConf);
}

#[test]
fn spark_event_logs_are_recognised() {
    all_are("corpus/spark-plain", SourceKind::SparkEventLog);
    all_are("corpus/spark-compressed", SourceKind::SparkEventLog);
}

#[test]
fn histories_of_tez_are_recognised() {
    all_are("corpus/tez", SourceKind::TezJson);
}

#[test]
fn look_alikes_are_not_recognised() {
    for path in files_below("corpus/decoy") {
        let kind = kind_of(&path);
        assert!(matches!(kind, SourceKind::Unrelated(_)), "{}: {kind:?}", path.display());
        if path.extension().is_some_and(|suffix| suffix == "jhist") {
            assert_eq!(kind, SourceKind::Unrelated(Reason::AvroContainer));
        }
    }
}

#[test]
fn other_files_are_not_histories() {
    for sub in ["spark-rest", "rumen", "yarn-jhs-rest", "container-logs", "gc-logs"] {
        for path in files_below(&format!("corpus/{sub}")) {
            let kind = kind_of(&path);
            // Answers of MapReduce's servers and of the resource manager are read.
            let is_answer = sub == "yarn-jhs-rest" && kind == SourceKind::Answers;
            let is_other = !kind.is_history() && kind != SourceKind::JobConf;
            assert!(is_answer || is_other, "{}: {kind:?}", path.display());
        }
    }
}

#[test]
fn history_finds_its_conf() {
    let subs = ["corpus/mr-jhist", "corpus/mr-conf-xml"];
    let Some(paths) = subs.map(elephant_testing::shared).into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let inventory = discover(&paths);
    assert!(inventory.failures.is_empty());
    let history =
        inventory.histories.iter().find(|source| source.path.to_string().contains("QuasiMonteCarlo"));
    let conf = inventory.conf_for(history.unwrap().path.as_path(), "job_1526555215992_0001").unwrap();
    assert!(conf.path.ends_with("000000/job_1526555215992_0001_conf.xml"));
}
