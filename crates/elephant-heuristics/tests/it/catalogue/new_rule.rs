//! `cargo run -p new-rule` creates a rule that meets the requirements of the catalogue.

use std::fs;
use std::path::{Path, PathBuf};

use new_rule::NewRule;
use tempfile::TempDir;
use walkdir::WalkDir;

use super::{documents, page, parameters};

/// A copy of the files that get a row or a case.
fn sources() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let is_wanted = |path: &Path| {
        let edited = ["src/any/mod.rs", "src/spark/mod.rs", "src/mapreduce/mod.rs"];
        let cases = ["it/fixtures/mapreduce.rs", "it/fixtures/spark_cases.rs"];
        edited.iter().chain(&cases).any(|end| path.ends_with(end))
    };
    for folder in ["crates/elephant-heuristics"] {
        for entry in WalkDir::new(elephant_testing::root().join(folder)).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() && is_wanted(entry.path()) {
                let target = copy.path().join(entry.path().strip_prefix(elephant_testing::root()).unwrap());
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    copy
}

#[test]
fn a_new_rule_meets_the_requirements_of_the_catalogue() {
    let copy = sources();
    for (engine, id, module) in
        [("mapreduce", "my-rule", "my_rule"), ("spark", "spark-my-rule", "my_rule"), ("any", "zoom", "zoom")]
    {
        // Ids of Spark rules get their prefix.
        let rule = NewRule::new(engine, id.trim_start_matches("spark-")).unwrap();
        let changes = rule.changes(copy.path()).unwrap();
        new_rule::write(copy.path(), &changes).unwrap();
        for change in &changes {
            assert!(!change.text.contains('@') && change.text.ends_with('\n'), "{:?}", change.path);
        }
        let read = |path: String| fs::read_to_string(copy.path().join(path)).unwrap();

        let text = read(format!("rules/{engine}/{id}.md"));
        assert!(page::title(&text).is_some_and(|title| title.ends_with("Rule") || title == "Zoom"));
        assert_eq!(page::headings(&text), page::RULE_HEADINGS);
        assert!(page::RULE_HEADINGS.iter().all(|heading| !page::section(&text, heading).is_empty()));
        assert!(text.lines().all(|line| line.chars().count() <= 80) && !page::has_cutoff_list(&text));

        let code = read(format!("crates/elephant-heuristics/src/{engine}/{module}.rs"));
        let yaml = documents(&read(format!("rules/{engine}/{id}.yaml"))).remove(0);
        assert_eq!(yaml.get("rule").and_then(|rule| rule.as_str()), Some(id));
        for key in parameters(&yaml) {
            assert!(page::names(&text, key) && code.contains(&format!("        {key}: ")), "{key}");
        }
        assert!(code.contains(&format!("rule!(Own, \"{id}\", ")), "{code}");
        let evidence = page::section(&text, "Evidence");
        for key in code.split(".fact(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page::names(evidence, key), "{key}");
        }

        let list = read(format!("crates/elephant-heuristics/src/{engine}/mod.rs"));
        assert!(list.contains(&format!("\nmod {module};\n")), "{list}");
        assert!(list.contains(&format!("\n    {module}::RULE,\n];\n")), "{list}");
        let cases = changes.last().unwrap();
        assert!(cases.text.contains(&format!("series(\"{id}\", ")), "{}", cases.text);
        assert!(rule.next_steps(&changes).contains(&cases.path.display().to_string()));

        let again = rule.changes(copy.path()).unwrap_err();
        assert!(again.contains("already exists"), "{again}");
    }
}

#[test]
fn existing_ids_and_ids_not_in_kebab_case_are_rejected() {
    let known = NewRule::new("any", "mapper-skew").unwrap().changes(elephant_testing::root()).unwrap_err();
    assert!(known.starts_with("rules/mapreduce/mapper-skew.yaml already exists"), "{known}");
    for id in ["My-rule", "my_rule", "-rule", "my--rule", "", "rule-2", "../rule"] {
        assert!(NewRule::new("spark", id).unwrap_err().contains("not in kebab-case"), "{id}");
    }
    assert!(NewRule::new("flink", "my-rule").unwrap_err().contains("unknown engine"));
    let empty = tempfile::tempdir().unwrap();
    assert!(NewRule::new("any", "my-rule").unwrap().changes(empty.path()).is_err());
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "{:?}", PathBuf::from(empty.path()));
}
