//! `elephant-rs export`: files for other programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::store::{histories, json, on_each_database, printed, run, text};
use elephant_testing::files_below;

/// The files of a table below an export.
fn files(folder: &Path, table: &str) -> Vec<PathBuf> {
    let mut files = files_below(&folder.join(table));
    files.sort();
    files
}

#[test]
fn an_export_has_the_applications_and_findings_of_the_store() {
    on_each_database(|place| {
        let folder = histories();
        let (store, out) = (place(&folder.path().join("x.db")), folder.path().join("out"));
        printed(&["ingest", "--quiet", "--store", &store, &text(&folder.path().join("done"))]);
        let export = ["export", "--store", &store, "--output", &text(&out)];
        let line = printed(&[&export[..], &["--format", "ndjson"]].concat());
        let applications =
            json(&["history", "--store", &store])["total"]["applications_count"].as_u64().unwrap();
        assert!(line.starts_with(&format!("{applications} applications, ")), "{line}");
        let [file] = &files(&out, "applications")[..] else { panic!() };
        let place = file.strip_prefix(&out).unwrap().to_str().unwrap();
        assert!(
            place.starts_with("applications/day=20") && place.ends_with("/run=store/part-0.ndjson"),
            "{place}"
        );
        let lines = fs::read_to_string(file).unwrap();
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len() as u64, applications);
        let worst = json(&["history", "--store", &store, "--worst", "--top", "1000"]);
        for app in worst["applications"].as_array().unwrap() {
            let row = rows.iter().find(|row| row["application"] == app["id"]).unwrap();
            for key in ["user", "status", "runtime_ms", "resource_used_gb_hours", "severity", "submitted_at"]
            {
                assert_eq!(row[key], app[key], "{key} of {row}");
            }
        }
        // The same again is the same bytes in the same place.
        let before = fs::read(file).unwrap();
        printed(&[&export[..], &["--format", "ndjson"]].concat());
        assert_eq!(files(&out, "applications"), std::slice::from_ref(file));
        assert_eq!(fs::read(file).unwrap(), before);
        // Another id is another export, and another format of the same id replaces it.
        printed(&[&export[..], &["--format", "csv", "--run-id", "other"]].concat());
        assert_eq!(files(&out, "applications").len(), 2);
        printed(&[&export[..], &["--format", "csv"]].concat());
        let endings: BTreeSet<_> = files(&out, "findings")
            .into_iter()
            .filter_map(|file| Some(file.extension()?.to_owned()))
            .collect();
        assert_eq!(endings.into_iter().collect::<Vec<_>>(), ["csv"]);
        // An export without rows removes those of the earlier one.
        printed(&[&export[..], &["--format", "csv", "--user", "nobody-of-this-name"]].concat());
        assert_eq!(files(&out, "applications").len(), 1);
        let left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('_')), "{left:?}");
        let wrong = run(&[&export[..], &["--format", "csv", "--run-id", "../x"]].concat());
        assert_eq!(wrong.status.code(), Some(2));
    });
}

#[cfg(feature = "parquet")]
mod as_parquet {
    use std::fs::File;
    use std::process::Command;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;
    use elephant_testing::skipped;

    /// A column as text, row by row; `None` where the value is missing.
    fn column(file: &Path, name: &str) -> Vec<Option<String>> {
        let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        let cell = |row: parquet::record::Row| {
            let (_, field) = row.get_column_iter().find(|(column, _)| *column == name).unwrap();
            match field {
                Field::Null => None,
                Field::Str(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        };
        rows.map(cell).collect()
    }

    #[test]
    fn parquet_has_the_same_values_as_lines_of_json() {
        let folder = histories();
        let store = text(&folder.path().join("x.db"));
        let (out, lines) = (folder.path().join("out"), folder.path().join("lines"));
        let [done, queries] =
            ["done", "heuristics/spark-would-broadcast"].map(|part| text(&folder.path().join(part)));
        printed(&["ingest", "--quiet", "--store", &store, &done, &queries]);
        printed(&["export", "--store", &store, "--output", &text(&out)]);
        printed(&["export", "--store", &store, "--output", &text(&lines), "--format", "ndjson"]);
        for table in ["applications", "findings", "troubles", "queries"] {
            let [file] = &files(&out, table)[..] else { panic!("{table}") };
            let bytes = fs::read(file).unwrap();
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
            let rows = fs::read_to_string(&files(&lines, table)[0]).unwrap();
            let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(!rows.is_empty(), "{table}");
            for key in rows[0].as_object().unwrap().keys().filter(|key| !key.ends_with("_at")) {
                let expected: Vec<Option<String>> = rows.iter().map(|row| shown(&row[key])).collect();
                let found: Vec<Option<String>> = column(file, key);
                let same = found.iter().zip(&expected).all(|(found, expected)| match (found, expected) {
                    (Some(found), Some(expected)) => {
                        let number = |text: &str| text.parse::<f64>().ok();
                        found == expected || number(found) == number(expected)
                    }
                    (found, expected) => found == expected,
                });
                assert!(same && found.len() == expected.len(), "{table}.{key}: {found:?} {expected:?}");
            }
        }
    }

    fn shown(value: &Value) -> Option<String> {
        match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// `pip install pyarrow` lets this test run; it reads the partitions as a table, as Spark does.
    #[test]
    fn pyarrow_reads_the_partitions_as_one_table() {
        let python = |script: &str, arguments: &[&str]| {
            Command::new("python3").args(["-c", script]).args(arguments).output()
        };
        if !python("import pyarrow", &[]).is_ok_and(|output| output.status.success()) {
            return skipped::note("pyarrow is not installed");
        }
        let folder = histories();
        let (store, out) = (text(&folder.path().join("x.db")), text(&folder.path().join("out")));
        printed(&["ingest", "--quiet", "--store", &store, &text(folder.path())]);
        printed(&["export", "--store", &store, "--output", &out]);
        printed(&["export", "--store", &store, "--output", &out]);
        let script = "import sys, pyarrow.dataset as d
for name in ('applications', 'findings', 'troubles', 'queries'):
    table = d.dataset(sys.argv[1] + '/' + name, partitioning='hive').to_table()
    print(table.num_rows, table.column('run').unique().to_pylist())
    if name == 'applications':
        used = table.column('resource_used_gb_hours').to_pylist()
        print(sum(value for value in used if value is not None), table.schema.field('submitted_at').type)";
        let output = python(script, &[&out]).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let read = String::from_utf8(output.stdout).unwrap();
        let total = json(&["history", "--store", &store])["total"].clone();
        let lines: Vec<&str> = read.lines().collect();
        assert_eq!(lines[0], format!("{} ['store']", total["applications_count"]));
        let used: f64 = lines[1].split(' ').next().unwrap().parse().unwrap();
        assert!((used - total["resource_used_gb_hours"].as_f64().unwrap()).abs() < 1e-6 * used, "{read}");
        assert!(lines[1].ends_with("timestamp[ms, tz=UTC]"), "{read}");
    }
}
