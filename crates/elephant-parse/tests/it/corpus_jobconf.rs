//! Job configurations of real clusters.

use elephant_model::model::conf::ConfKey;
use elephant_parse::jobconf;

fn is_conf(bytes: &[u8]) -> bool {
    jobconf::looks_like_conf(bytes.get(..4096).unwrap_or(bytes))
}

#[test]
fn every_configuration_is_read_completely() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let files = elephant_testing::listed(&corpus, "mr-conf-xml");
    assert!(!files.is_empty());
    for file in files {
        let bytes = elephant_testing::contents(&file.path);
        let (conf, problems) = jobconf::parse(&bytes);
        assert!(problems.is_empty(), "{}: {problems:?}", file.path.display());
        assert_eq!(conf.len() as u64, file.events, "{}", file.path.display());
        assert!(is_conf(&bytes), "{}", file.path.display());
    }
}

#[test]
fn configurations_of_our_own_runs_are_read() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let files: Vec<_> = elephant_testing::files_below(&runs)
        .into_iter()
        .filter(|p| p.to_string_lossy().ends_with("_conf.xml"))
        .collect();
    assert!(!files.is_empty());
    for path in files {
        let bytes = elephant_testing::contents(&path);
        let (conf, problems) = jobconf::parse(&bytes);
        let text = String::from_utf8(bytes).unwrap();
        let mut names: Vec<_> =
            text.split("<name>").skip(1).map(|part| part.split('<').next().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        assert!(problems.is_empty(), "{}: {problems:?}", path.display());
        assert!(is_conf(text.as_bytes()));
        assert_eq!(conf.len(), names.len(), "{}", path.display());
        // Configurations that were written for a published problem hold only what it needs.
        let is_recorded = !path.starts_with(runs.join("public"));
        assert!(!is_recorded || conf.text(ConfKey::JobName).is_some(), "{}", path.display());
    }
}

#[test]
fn other_files_are_not_taken_for_configurations() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    for path in elephant_testing::files_below(&corpus) {
        let expected = path.starts_with(corpus.join("mr-conf-xml"));
        let bytes = std::fs::read(&path).unwrap();
        assert!(expected || !is_conf(&bytes), "{}", path.display());
    }
}
