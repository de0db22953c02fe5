//! Troubles of real histories: one cause for each finding, and one configuration without contradictions.

use std::collections::{BTreeMap, BTreeSet};

use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_base::severity::Severity;
use elephant_engine::engine::{Visited, visit};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{CapReason, Finding, Measure, SettingChange, TroubleKind};
use elephant_ruleset::RuleSet;
use elephant_testing::shared;
use elephant_verdict::troubles::{Basis, Diagnosed, Trouble, diagnose, heap_per_task, saves, why_inert};

/// The findings and troubles of every history in the corpus and the recordings; `None` if they are absent.
fn all<T: Send>(look: impl Fn(&Application, &[Finding], &Diagnosed) -> T + Sync) -> Option<Vec<T>> {
    let (corpus, runs) = (shared("corpus")?, shared("runs")?);
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let Visited { applications, .. } =
        visit(&[corpus, runs, elephant_testing::root().join("testdata")], |app, _| {
            let evaluation = rules.evaluate(app);
            let metrics = evaluation.metrics.unwrap_or_else(|| rules.measure(app));
            let mut findings = evaluation.findings;
            let diagnosed = troubles_of(app, &rules, &metrics, &mut findings);
            look(app, &findings, &diagnosed)
        });
    Some(applications.into_iter().map(|visited| visited.value).collect())
}

fn troubles_of(app: &Application, rules: &RuleSet, metrics: &Metrics, findings: &mut [Finding]) -> Diagnosed {
    diagnose(app, Basis { rules, prices: None }, (metrics, RecordedOnce::default()), findings)
}

/// `rules list` says what the remedies of a rule save, so each finding indicates a kind of trouble that its rule declares,
/// and a trouble with an estimate is led by a rule that is said to save something.
#[test]
fn catalogue_says_what_remedies_save() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let facts = |id: &str| rules.rules().iter().find(|active| active.info.id == id).unwrap().facts;
    let declares = |rule: &str, kind| facts(rule).tells == kind || facts(rule).also_tells.contains(&kind);
    let wrong = all(|_, findings, diagnosed| {
        let undeclared = findings.iter().filter(|finding| !declares(&finding.rule, finding.tells));
        let undeclared = undeclared.map(|finding| format!("{} tells {}", finding.rule, finding.tells.name()));
        let estimated = diagnosed.troubles.iter().filter(|trouble| trouble.savings.alone.is_some());
        let leading = estimated.filter_map(|trouble| trouble.findings.first());
        let silent = leading.filter(|first| saves(&first.rule, facts(&first.rule)).is_empty());
        undeclared.chain(silent.map(|first| format!("{} saves something", first.rule))).collect::<Vec<_>>()
    });
    let wrong: BTreeSet<String> = wrong.into_iter().flatten().flatten().collect();
    assert_eq!(wrong, BTreeSet::new());
    for (rule, expected) in [
        ("spark-executor-load-balance", &["memory"][..]),
        ("spark-configuration-parameters", &["memory", "time"]),
        ("spark-stage-runtime", &["time"]),
        ("spark-driver-metrics", &[]),
    ] {
        assert_eq!(saves(rule, facts(rule)), expected, "{rule}");
    }
}

/// Every change that is proposed without a condition, with who proposes it.
fn proposed<'a>(findings: &'a [Finding], diagnosed: &'a Diagnosed) -> Vec<(&'a str, &'a SettingChange)> {
    let of_findings = findings.iter().flat_map(|finding| {
        let firm = finding.advice.iter().filter(|advice| !advice.conditional);
        firm.flat_map(|advice| &advice.settings).map(move |change| (&*finding.rule, change))
    });
    let of_troubles = diagnosed.troubles.iter().flat_map(|trouble| {
        let firm = trouble.advice.iter().filter(|advice| !advice.conditional);
        let all = firm.flat_map(|advice| &advice.settings).chain(&trouble.change);
        all.map(move |change| (trouble.id.as_str(), change))
    });
    let recommended = diagnosed.configuration.iter().map(|it| ("configuration", &it.change));
    of_findings.chain(of_troubles).chain(recommended).collect()
}

#[test]
fn no_setting_has_two_values_or_no_effect() {
    let found = all(|app, findings, diagnosed| {
        let changes: Vec<SettingChange> =
            diagnosed.configuration.iter().map(|it| it.change.clone()).collect();
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        let mut wrong: Vec<String> = Vec::new();
        let all = proposed(findings, diagnosed);
        for &(who, change) in &all {
            let known = values.entry(&change.setting).or_insert(&change.to);
            if *known != change.to {
                wrong.push(format!("{}: {who} proposes {change}, another {known}", app.id));
            }
            // The configuration lacks the settings that an echo advises, so add them: settings of one advice may serve
            // each other.
            let own = all.iter().filter(|(other, _)| *other == who).map(|&(_, change)| change);
            let others: Vec<SettingChange> = changes.iter().chain(own).cloned().collect();
            if let Some(why) = why_inert(app, change, &[&others]) {
                wrong.push(format!("{}: {who} proposes {change}, but {why}", app.id));
            }
        }
        (values.len(), wrong)
    });
    let Some(found) = found else { return };
    let wrong: Vec<String> = found.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let settings: usize = found.iter().map(|(settings, _)| settings).sum();
    assert!(settings > 50, "{settings}");
}

/// Tasks that ran out of memory or collected much garbage never get less heap.
#[test]
fn the_heap_of_tasks_never_falls_where_it_is_short() {
    let found = all(|app, _, diagnosed| {
        let is_short = |trouble: &Trouble| {
            let collects =
                trouble.kind == TroubleKind::GarbageCollection && trouble.severity >= Severity::Moderate;
            collects || trouble.ran_out_of_heap()
        };
        if app.engine != Engine::Spark || !diagnosed.troubles.iter().any(is_short) {
            return 0;
        }
        let changes: Vec<&SettingChange> = diagnosed.configuration.iter().map(|it| &it.change).collect();
        let times = heap_per_task(app, &changes);
        assert!(times > 0.999, "{}: {times} {:?}", app.id, diagnosed.configuration);
        1
    });
    let Some(found) = found else { return };
    assert!(found.iter().sum::<usize>() > 5);
}

#[test]
fn each_finding_tells_of_one_trouble() {
    let found = all(|app, findings, diagnosed| {
        let worst = diagnosed.troubles.iter().map(|trouble| trouble.severity).max().unwrap_or_default();
        let worst_finding = findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
        assert_eq!(worst, worst_finding, "{}", app.id);
        for finding in findings.iter().filter(|finding| finding.severity > Severity::None) {
            let told = diagnosed.troubles.iter().filter(|trouble| trouble.tells(finding).is_some());
            assert_eq!(told.count(), 1, "{}: {} {:?}", app.id, finding.rule, finding.subject);
        }
        for trouble in &diagnosed.troubles {
            assert!(!trouble.findings.is_empty() && !trouble.subjects.is_empty(), "{}: {trouble:?}", app.id);
            assert!(
                trouble.findings.iter().any(|telling| !telling.is_consequence),
                "{}: {trouble:?}",
                app.id
            );
        }
        let mut ids: Vec<&str> = diagnosed.troubles.iter().map(|trouble| trouble.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), diagnosed.troubles.len(), "{}: ids are not unique", app.id);
        diagnosed.troubles.len()
    });
    let Some(found) = found else { return };
    assert!(found.iter().sum::<usize>() > 100);
}

#[test]
fn a_setting_that_is_right_is_no_trouble() {
    let found = all(|app, findings, diagnosed| {
        let is_right = |trouble: &&Trouble| {
            trouble.kind == TroubleKind::Settings
                && trouble.advice.iter().all(|line| line.text.starts_with("keep "))
        };
        let right = diagnosed.troubles.iter().find(is_right);
        assert!(right.is_none(), "{}: {right:?}", app.id);
        let stays = |finding: &&Finding| {
            let cap = finding.caps.deciding().filter(|_| finding.severity == Severity::None);
            cap.is_some_and(|cap| cap.why == CapReason::SettingsStay)
        };
        findings.iter().filter(stays).count()
    });
    let Some(found) = found else { return };
    assert!(found.iter().sum::<usize>() > 0);
}

#[test]
fn a_run_that_failed_says_so_first() {
    let found = all(|app, _, diagnosed| {
        if app.status != Status::Failed {
            return 0;
        }
        let first =
            diagnosed.troubles.first().unwrap_or_else(|| panic!("{} failed, and nothing says so", app.id));
        assert_eq!(first.kind, elephant_rule::finding::TroubleKind::Failures, "{}: {}", app.id, first.cause);
        assert!(first.severity >= Severity::Severe, "{}: {} is {}", app.id, first.cause, first.severity);
        1
    });
    let Some(found) = found else { return };
    assert!(found.iter().sum::<usize>() > 5);
}

#[test]
fn ids_of_job_trackers_are_told_from_those_of_yarn() {
    let with_id = |id: &str| {
        let mut app = Application::new(elephant_model::model::Engine::MapReduce);
        id.clone_into(&mut app.id);
        app
    };
    assert!(with_id("job_201311192236_0042").ran_on_job_tracker());
    assert!(!with_id("job_1526555215992_0001").ran_on_job_tracker());
    assert!(!with_id("job_x").ran_on_job_tracker());
}

/// Measures of a finding that its message states as lost, by kind.
fn stated(finding: &Finding, key: &str) -> Option<f64> {
    let (_, measure) = finding.evidence.iter().find(|(name, _)| *name == key)?;
    match measure {
        Measure::Time(time) if finding.message.contains(&time.to_string()) => Some(time.as_f64()),
        Measure::Number(Some(hours), _) => Some(*hours),
        _ => None,
    }
}

#[test]
fn what_a_trouble_saves_agrees_with_what_its_headline_says_was_lost() {
    const TIMES: [(TroubleKind, &str); 4] = [
        (TroubleKind::FewTasks, "lost_ms"),
        (TroubleKind::ManyTasks, "lost_ms"),
        (TroubleKind::Waiting, "wait_ms"),
        (TroubleKind::Skew, "lost_ms"),
    ];
    let found = all(|app, findings, diagnosed| {
        let mut wrong: Vec<String> = Vec::new();
        let mut compared = 0;
        for trouble in &diagnosed.troubles {
            let Some(share) = trouble.savings.share else { continue };
            let leading = findings.iter().find(|it| it.tells == trouble.kind && it.message == trouble.cause);
            let Some(leading) = leading else { continue };
            let time = TIMES.iter().find(|(kind, _)| *kind == trouble.kind);
            let together = leading.evidence.iter().any(|(name, _)| *name == "lost_together_ms");
            let lost = time.filter(|_| !together).and_then(|(_, key)| stated(leading, key));
            if let Some(lost) = lost {
                compared += 1;
                // A replay may save more than a rule says of one stage, but not surely.
                if share.wall_ms.low > lost + 1.0 {
                    wrong.push(format!("{} {}: {:?} of {lost} ms", app.id, trouble.id, share.wall_ms));
                }
            }
            let wasted =
                stated(leading, "wasted_gb_hours").filter(|_| trouble.kind == TroubleKind::MuchMemory);
            if let Some((wasted, saved)) = wasted.zip(share.gb_hours)
                && saved.high > wasted + 1e-6
            {
                wrong.push(format!("{} {}: {saved:?} of {wasted} GB·h", app.id, trouble.id));
            }
        }
        (compared, wrong)
    });
    let Some(found) = found else { return };
    let wrong: Vec<&String> = found.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(found.iter().map(|(compared, _)| compared).sum::<u32>() >= 5);
}
