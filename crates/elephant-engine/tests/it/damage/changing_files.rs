//! Files that change or disappear while they are read.

use std::fs::{self, File};
use std::io::Write;

use elephant_engine::engine::discover;
use elephant_parse::Parsed;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names, Part};

use elephant_testing::make::{jhist, spark_end, spark_start, stage};

fn parse(file: File, len: u64) -> Parsed {
    let file = std::sync::Mutex::new(Some(file));
    let open = move || Ok(Feed::File(file.lock().unwrap().take().unwrap(), len));
    let part = Part { name: "log".to_owned(), open: Box::new(open) };
    spark::parse(&Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() })
}

#[test]
fn log_changing_while_read_is_neither_duplicated_nor_padded() {
    let log = spark_start() + &(0..3000).map(|id| stage(id, 0)).collect::<String>() + &spark_end();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(log.as_bytes()).unwrap();
    let len = log.len() as u64;
    let read = |len: u64| parse(file.reopen().unwrap(), len);
    let tasks = |parsed: &Parsed| parsed.applications[0].task_count();
    let codes = |parsed: Parsed| -> Vec<&'static str> {
        parsed
            .part_problems
            .into_iter()
            .flat_map(|(_, problems)| problems.into_vec())
            .map(|it| it.known_code())
            .collect()
    };
    assert_eq!(tasks(&read(len)), 3000);
    // It grew after its length was read: a line that had started may be complete, but nothing is read twice.
    let grown = read(len / 2);
    assert!((1400..1600).contains(&tasks(&grown)), "{}", tasks(&grown));
    // It was truncated in the middle of a line after its length was read.
    let kept = log.len() / 2 + 7;
    file.as_file().set_len(kept as u64).unwrap();
    let cut = read(len);
    let expected = log[..kept].matches("SparkListenerTaskStart\"").count() as u64;
    assert!(tasks(&cut).abs_diff(expected) <= 1, "{} instead of {expected}", tasks(&cut));
    assert!(!cut.applications[0].complete);
    assert!(codes(cut).contains(&"truncated"));
    // It is now empty.
    file.as_file().set_len(0).unwrap();
    let empty = read(len);
    assert!(empty.applications.is_empty());
    assert_eq!(codes(empty), ["truncated"]);
}

#[test]
fn vanished_file_has_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job_1500000000000_0001.jhist");
    fs::write(&path, jhist(1)).unwrap();
    let inventory = discover(&[folder.path().to_owned()]);
    fs::remove_file(&path).unwrap();
    let error = inventory.histories[0].open(elephant_parse::identify).unwrap_err().to_string();
    assert!(error.contains("removed in the meantime"), "{error}");
}
