//! Every format, read back by independent parsers, also with hostile names in the history.

mod envelope;
mod markdown;
mod openmetrics;
mod reports;

use elephant_base::severity::Severity;
use elephant_engine::results::{ApplicationReport, Report};
use elephant_report::{Format, TextOptions, write};
use elephant_rule::finding::Finding;
use reports::{HOSTILE, hostile, large, mixed, no_findings, problems_only};
use serde_json::Value;

fn written(report: &Report, format: Format) -> String {
    let mut out = Vec::new();
    write(report, format, TextOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Reports that every format must handle.
fn all() -> Vec<Report> {
    let long = "x#".repeat(5_000);
    let names = HOSTILE.into_iter().chain([long.as_str()]).map(hostile);
    names.chain([Report::default(), no_findings(), problems_only(), mixed()]).collect()
}

/// A SARIF log, split into parts that can be reviewed.
fn parts_of_sarif(log: &str) -> [(&'static str, &str); 5] {
    let at = |beginning: &str| log.find(beginning).unwrap();
    let rule = |id: &str| at(&format!("            {{\n              \"id\": \"{id}\""));
    let (spark, queries) = (rule("spark-configuration"), rule("spark-driver-time"));
    let (problems, results) = (at("      \"invocations\": ["), at("      \"results\": ["));
    [
        ("mixed-rules-of-mapreduce.sarif", &log[..spark]),
        ("mixed-rules-of-spark.sarif", &log[spark..queries]),
        ("mixed-rules-of-queries-and-any.sarif", &log[queries..problems]),
        ("mixed-problems.sarif", &log[problems..results]),
        ("mixed-results.sarif", &log[results..]),
    ]
}

#[test]
fn snapshots() {
    let report = mixed();
    let compare = || {
        for (name, format) in [
            ("mixed.txt", Format::Text),
            ("mixed.ndjson", Format::Ndjson),
            ("mixed.csv", Format::Csv),
            ("mixed.md", Format::Markdown),
            ("mixed.junit.xml", Format::Junit),
            ("mixed.openmetrics", Format::Openmetrics),
        ] {
            insta::assert_snapshot!(name, written(&report, format));
        }
        elephant_testing::assert_json_snapshots("mixed", &written(&report, Format::Json));
        for (name, part) in parts_of_sarif(&written(&report, Format::Sarif)) {
            insta::assert_snapshot!(name, part);
        }
    };
    elephant_testing::with_snapshots("reports/formats", || {
        insta::with_settings!({
            filters => vec![(r#""(version|semanticVersion)": "[0-9.]+""#, r#""$1": "(version)""#)],
        }, { compare() });
    });
}

#[test]
fn json_and_ndjson_contain_identical_applications() {
    for report in all() {
        let json: Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
        let lines = written(&report, Format::Ndjson);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(json["applications"].as_array().unwrap(), &lines);
        for (app, line) in report.applications.iter().zip(&lines) {
            assert_eq!(line["id"], *app.id);
            assert_eq!(line["name"].as_str(), app.name.as_deref());
            let finding = app.findings.first().map(|finding| finding.message.as_str());
            assert_eq!(line["findings"][0]["message"].as_str(), finding);
            assert_eq!(line["suppressed"].as_array().unwrap().len(), app.suppressed.len());
        }
    }
}

#[test]
fn details_are_written_if_present() {
    let mut report = mixed();
    let plain: Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert!(plain["applications"][0].get("phases").is_none());
    report.applications[0].phases = Some(Vec::new());
    let detailed: Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert_eq!(detailed["applications"][0]["phases"], Value::Array(Vec::new()));
    assert_eq!(detailed["applications"][0]["configuration"], Value::Null);
}

#[test]
fn csv_has_no_formulas() {
    for report in all() {
        let text = written(&report, Format::Csv);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let findings: usize =
            report.applications.iter().map(|app| app.findings.len() + app.suppressed.len()).sum();
        assert_eq!(rows.len(), findings);
        assert_eq!(text.lines().count(), findings + 1, "a finding is one line");
        for cell in rows.iter().flatten() {
            assert!(!cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }
    }
}

#[test]
fn sarif_matches_the_official_schema() {
    // One bracket of the published schema is not accepted by strict regex parsers.
    let text = include_str!("../../../schemas/sarif-2.1.0.json").replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for report in all() {
        let sarif: Value = serde_json::from_str(&written(&report, Format::Sarif)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&sarif).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let run = &sarif["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        let told: usize = report.applications.iter().map(troubles_and_suppressed).sum();
        assert_eq!(results.len(), told);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
            assert!(result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().len() >= 16);
            assert!(!result["message"]["text"].as_str().unwrap().contains("]("), "no foreign link");
        }
        assert_eq!(run["invocations"][0]["executionSuccessful"], !report.named_input_failed);
    }
}

/// The number of troubles of which a finding is listed, of findings without a trouble, and of suppressed ones.
fn troubles_and_suppressed(app: &ApplicationReport) -> usize {
    let place = |finding: &Finding| app.troubles.iter().position(|trouble| trouble.tells(finding).is_some());
    let (told, alone): (Vec<_>, Vec<_>) = app.findings.iter().map(place).partition(Option::is_some);
    let told: std::collections::BTreeSet<_> = told.into_iter().collect();
    told.len() + alone.len() + app.suppressed.len()
}

#[test]
fn sarif_levels_and_suppressions() {
    let report = mixed();
    let sarif: Value = serde_json::from_str(&written(&report, Format::Sarif)).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let level = |severity: &str| {
        let mut levels: Vec<&str> = results
            .iter()
            .filter(|result| result["properties"]["severity"] == severity)
            .filter(|result| result["properties"]["echo"] == false)
            .map(|result| result["level"].as_str().unwrap())
            .collect();
        levels.dedup();
        levels
    };
    assert_eq!([level("severe"), level("low")], [["error"], ["note"]]);
    let mut echoes = results.iter().filter(|result| result["properties"]["echo"] == true).peekable();
    assert!(echoes.peek().is_some() && echoes.all(|result| result["level"] == "note"));
    let suppressed: Vec<&Value> =
        results.iter().filter(|result| result.get("suppressions").is_some()).collect();
    assert_eq!(suppressed.len(), 1);
    assert_eq!(suppressed[0]["suppressions"][0]["justification"], "DATA-123");
    assert_eq!(suppressed[0]["ruleId"], "mapper-spill");
}

#[test]
fn sarif_has_at_most_the_results_github_accepts() {
    let mut report = large("x", 26, 1_000);
    // So each finding stands alone.
    report.applications.iter_mut().for_each(|app| app.troubles.clear());
    let sarif: Value = serde_json::from_str(&written(&report, Format::Sarif)).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 25_000);
    let text = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("1026 results are left out"), "{text}");
}

#[test]
fn junit_is_read_by_another_parser() {
    for report in all() {
        let text = written(&report, Format::Junit);
        let valid = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(text.chars().all(valid), "{text:?}");
        let read = junit_parser::from_reader(text.as_bytes()).unwrap();
        let unreadable = report.problems.iter().any(|entry| entry.problem.level.name() == "error");
        assert_eq!(read.suites.len(), report.applications.len() + usize::from(unreadable));
        let cases = || read.suites.iter().flat_map(|suite| &suite.cases);
        let count = |wanted: fn(&junit_parser::TestStatus) -> bool| {
            cases().filter(|case| wanted(&case.status)).count() as u64
        };
        assert_eq!(read.tests, cases().count() as u64);
        assert_eq!(read.failures, count(junit_parser::TestStatus::is_failure));
        assert_eq!(read.errors, count(junit_parser::TestStatus::is_error));
        assert_eq!(read.skipped, count(junit_parser::TestStatus::is_skipped));
        let mut names: Vec<_> = cases().map(|case| (case.classname.clone(), case.name.clone())).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cases().count(), "readers skip duplicate names");
        for (app, suite) in report.applications.iter().zip(&read.suites) {
            assert_eq!(suite.failures > 0, app.findings.iter().any(|it| it.severity > Severity::None));
        }
    }
}

#[test]
fn junit_reports_passed_failed_and_skipped_rules() {
    let report = mixed();
    let read = junit_parser::from_reader(written(&report, Format::Junit).as_bytes()).unwrap();
    let case = |class: &str, name: &str| {
        let mut cases = read.suites.iter().flat_map(|suite| &suite.cases);
        let class = cases.find(|case| case.classname.as_deref() == Some(class) && case.original_name == name);
        class.map(|case| case.status.clone())
    };
    let job = "mapreduce · nightly \"sessions\" import";
    assert!(case(job, "mapper-skew").unwrap().is_success());
    assert!(case(job, "mapper-memory").unwrap().is_failure());
    assert!(case(job, "mapper-spill").unwrap().is_skipped(), "suppressed");
    assert!(case("mapreduce · retries", "reducer-gc").unwrap().is_skipped(), "not evaluated");
    assert!(case(job, "spark-executor-gc").is_none(), "rules of the other engine do not apply");
}

#[test]
fn markdown_contains_no_foreign_markup() {
    for report in all() {
        markdown::check(&written(&report, Format::Markdown));
    }
}

#[test]
fn markdown_stays_below_the_github_size_limit() {
    let long = "x#".repeat(5_000);
    for (name, applications, findings) in [(long.as_str(), 300, 3), ("x", 1, 3_000), ("name", 2_000, 2)] {
        let page = written(&large(name, applications, findings), Format::Markdown);
        markdown::check(&page);
        assert!(page.contains("did not fit"), "{name}");
        assert!(page.len() > 50_000, "the page uses the available size");
        assert!(page.contains("rules show RULE"), "the end of the page is present");
    }
}

#[test]
fn openmetrics_reports_incomplete_and_unevaluated() {
    let report = mixed();
    let samples = openmetrics::parse(&written(&report, Format::Openmetrics));
    let of = |name: &str, id: &str, outcome: Option<&str>| {
        let has = |labels: &[(String, String)], name: &str, value: &str| {
            labels.iter().any(|(label, found)| label == name && found == value)
        };
        let found = samples.iter().find(|(family, labels, _)| {
            family == name
                && has(labels, "application", id)
                && outcome.is_none_or(|outcome| has(labels, "outcome", outcome))
        });
        found.map(|(.., value)| *value)
    };
    let mut incomplete = 0;
    for app in &report.applications {
        let complete = of("elephant_application_complete", &app.id, None);
        assert_eq!(complete, Some(f64::from(u8::from(app.complete))), "{}", app.id);
        incomplete += u32::from(!app.complete);
        for (outcome, rules) in
            [("evaluated", app.evaluated.len()), ("not_evaluated", app.not_evaluated.len())]
        {
            let found = of("elephant_application_rules", &app.id, Some(outcome));
            assert_eq!(found, Some(rules as f64), "{}", app.id);
        }
    }
    assert!(incomplete > 0);
    let total = samples.iter().find(|(family, ..)| family == "elephant_incomplete_applications");
    assert_eq!(total.map(|(.., value)| *value), Some(f64::from(incomplete)));
}

/// `INSTA_UPDATE=always` writes the table instead of comparing it.
#[test]
fn every_openmetrics_family_is_documented() {
    let text = written(&Report::default(), Format::Openmetrics);
    let mut table = "| gauge | what it is |\n| --- | --- |\n".to_owned();
    for line in text.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, help) = line.split_once(' ').unwrap();
        table += &["| `", name, "` | ", help, " |\n"].concat();
    }
    let path = elephant_testing::root().join("docs/openmetrics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- families -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end of families -->").unwrap();
    if elephant_testing::is_blessing() {
        let page = [before, "<!-- families -->\n", &table, "<!-- end of families -->", after].concat();
        std::fs::write(path, page).unwrap();
    } else {
        assert_eq!(
            shown, table,
            "docs/openmetrics.md is out of date; run the tests with INSTA_UPDATE=always"
        );
    }
}

#[test]
fn openmetrics_follows_the_grammar() {
    for report in all() {
        let samples = openmetrics::parse(&written(&report, Format::Openmetrics));
        let of = |family: &str| samples.iter().filter(|(name, ..)| name == family).collect::<Vec<_>>();
        assert_eq!(of("elephant_application_severity").len(), report.applications.len());
        let findings: f64 = of("elephant_application_findings").iter().map(|(.., value)| value).sum();
        let expected: usize = report.applications.iter().map(|app| app.findings.len()).sum();
        assert!((findings - expected as f64).abs() < 0.5, "{findings} of {expected}");
        let labels = samples.iter().flat_map(|(_, labels, _)| labels);
        assert!(labels.flat_map(|(_, value)| value.chars()).all(|c| !c.is_control()));
    }
}

#[test]
fn output_has_no_terminal_or_bidi_control_characters() {
    use Format::{Csv, Json, Junit, Markdown, Ndjson, Openmetrics, Sarif, Text};
    for report in all() {
        for format in [Text, Json, Ndjson, Csv, Markdown, Sarif, Junit, Openmetrics] {
            let text = written(&report, format);
            let harmful = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!text.contains(harmful), "{format:?}: {text:?}");
        }
    }
}

#[test]
fn suppressed_findings_take_one_short_line() {
    let text = written(&mixed(), Format::Text);
    assert!(text.contains("  1 finding suppressed: mapper-spill (DATA-123, until 2027-01-31)\n"), "{text}");
}

#[test]
fn same_report_gives_the_same_bytes() {
    use Format::{Csv, Json, Junit, Markdown, Ndjson, Openmetrics, Sarif, Text};
    for format in [Text, Json, Ndjson, Csv, Markdown, Sarif, Junit, Openmetrics] {
        assert_eq!(written(&mixed(), format), written(&mixed(), format));
    }
}
