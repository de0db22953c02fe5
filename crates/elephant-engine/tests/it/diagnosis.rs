//! All failure texts of the test material outside the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use elephant_engine::engine::visit;
use elephant_model::diagnosis::classify;
use elephant_model::model::Application;

use elephant_testing::shared;

/// Every distinct failure text, with the number of applications that contain it.
fn texts() -> Option<BTreeMap<String, u64>> {
    let folders: Vec<PathBuf> = vec![shared("corpus")?, shared("runs")?];
    let mut texts = BTreeMap::new();
    for visited in visit(&folders, |app, _| texts_of(app)).applications {
        for text in visited.value {
            *texts.entry(text).or_insert(0) += 1;
        }
    }
    Some(texts)
}

/// The diagnostics of the application and of its attempts, the failures of its jobs and stages, and the reasons why
/// executors were removed.
fn texts_of(app: &Application) -> Vec<String> {
    let mut texts: Vec<String> = app.diagnostics.iter().cloned().collect();
    for group in &app.groups {
        texts.extend(
            group
                .attempts
                .diagnostics()
                .iter()
                .filter_map(|&(_, text)| app.strings.get(text).map(str::to_owned)),
        );
    }
    if let Some(spark) = &app.spark {
        texts.extend(spark.jobs.iter().filter_map(|job| job.failure.clone()));
        texts.extend(spark.stages.iter().filter_map(|stage| stage.failure.as_deref().map(str::to_owned)));
        texts.extend(spark.executors.iter().filter_map(|executor| executor.removed_reason.clone()));
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.sort();
    texts.dedup();
    texts
}

#[test]
fn nearly_all_texts_of_real_histories_have_a_kind() {
    let Some(texts) = texts() else { return };
    let unknown: Vec<&str> =
        texts.keys().map(String::as_str).filter(|text| classify(text).is_none()).collect();
    let known = texts.len() - unknown.len();
    assert!(texts.len() > 10, "only {} texts were found", texts.len());
    assert!(
        known * 100 >= texts.len() * 95,
        "{known} of {} texts have a kind; not {unknown:#?}",
        texts.len()
    );
}

/// Prints the number of texts by kind, and the first characters of each text:
/// `cargo test --lib table_of_kinds -- --ignored --nocapture`.
#[test]
#[ignore = "it only prints"]
fn table_of_kinds() {
    let Some(texts) = texts() else { return };
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (text, applications) in &texts {
        let diagnosis = classify(text);
        let kind = diagnosis.as_ref().map_or("(none)", |known| known.kind.name());
        let class = diagnosis.as_ref().and_then(|known| known.exception.as_deref()).unwrap_or("-");
        let code =
            diagnosis.as_ref().and_then(|known| known.exit_code).map_or("-".into(), |code| code.to_string());
        let start: String = text.replace('\n', " | ").chars().take(200).collect();
        kinds.entry(kind).or_default().push(format!("{applications:4} {class} {code}  {start}"));
    }
    for (kind, texts) in kinds {
        println!("{kind}: {}", texts.len());
        for text in texts {
            println!("    {text}");
        }
    }
}
