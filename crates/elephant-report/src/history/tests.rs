//! Answers in each format, with lists that are cut and values that are unknown.

use super::*;
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::nodes::levels::Interval;
use elephant_store::{
    Change, Changed, Confidence, Direction, Fleet, Group, Grouped, Measure, NodeSums, Nodes, OverTime,
    Periods, Ranked, Realised, Remedy, Run, Runs, SettingChange, Unread, View,
};

const DAY: i64 = 86_400_000;

fn moment(day: i64) -> Timestamp {
    Timestamp::from_millis((20_000 + day) * DAY)
}

fn written(answer: &Answer, format: HistoryFormat) -> String {
    let mut out = Vec::new();
    write(answer, format, TextOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn group(key: &str) -> Group {
    Group {
        key: (!key.is_empty()).then(|| key.to_owned()),
        applications: 3,
        failed: 1,
        unmeasured: 1,
        run_time: Some(Millis::from_secs(60)),
        used_gb_hours: Some(12.5),
        wasted_gb_hours: Some(2.5),
        judged_gb_hours: Some(10.0),
        saved_gb_hours: Some(1.25),
        severity: Severity::Severe,
        ..Group::default()
    }
}

/// Groups with these names, and one more that is not shown.
fn grouped(keys: &[&str]) -> Grouped {
    Grouped { groups: keys.iter().map(|key| group(key)).collect(), of: keys.len() as u64 + 1 }
}

fn over_time() -> OverTime {
    let mut used = vec![Some(3.0), Some(4.0), None, Some(5.5)];
    used.extend([None; 14]);
    let mut wasted = vec![None, Some(1.0), None, Some(1.5)];
    wasted.extend([None; 14]);
    OverTime { used_gb_hours: used, wasted_gb_hours: wasted }
}

fn ranked(keys: &[&str]) -> Ranked {
    Ranked { grouped: grouped(keys), over_time: keys.iter().map(|_| over_time()).collect() }
}

fn node(name: &str, mean: Option<f64>) -> NodeSums {
    NodeSums {
        name: name.to_owned(),
        applications: 3,
        attempts: 120,
        failed: 2,
        task_time: Some(Millis::from_secs(3600)),
        lost_executors: 1,
        node_failures: 0,
        compared: 100,
        stragglers: 5,
        mean,
        interval: mean.map(|mean| Interval { low: mean - 0.25, high: mean + 0.25 }),
        level: mean.map(|_| 0),
        is_slow: mean.is_some(),
    }
}

fn realised(saved: f64) -> Realised {
    let setting = |to: Option<&str>, advised| Changed {
        setting: "spark.executor.memory".to_owned(),
        from: Some("4g".to_owned()),
        to: to.map(str::to_owned),
        advised,
    };
    Realised {
        job: "spark · nightly".to_owned(),
        cluster: (saved < 0.0).then(|| "prod".to_owned()),
        first: "app_7".to_owned(),
        since: Some(moment(2)),
        undone: (saved < 0.0).then(|| moment(9)),
        changed: vec![setting(Some("2g"), true), setting(None, false)],
        runs: (4, 6),
        used_gb_hours: (4.5, 2.0),
        input: None,
        confidence: if saved > 0.0 { Confidence::High } else { Confidence::Moderate },
        run_time: Some((Millis::from_secs(90), Millis::from_secs(95))),
        saved_gb_hours: saved,
        cost: None,
        saved_cost: None,
    }
}

fn fleet() -> Fleet {
    let days: Vec<String> = (1..=18).map(|day| format!("2026-11-{day:02}")).collect();
    let days: Vec<&str> = days.iter().map(String::as_str).collect();
    Fleet {
        periods: Some(Periods::of_days(&days)),
        over_time: over_time(),
        most: 2,
        jobs: ranked(&["spark · nightly", "=spark, \"x\""]),
        users: ranked(&["bob", ""]),
        queues: ranked(&["etl"]),
        troubles: grouped(&["much-memory"]),
        remedies: vec![Remedy {
            setting: "spark.executor.memory".to_owned(),
            direction: Direction::Lower,
            applications: 5,
            jobs: 2,
            from: None,
            to: "2g".to_owned(),
            alike: 3,
            saved_gb_hours: Some(7.25),
            saved_time: None,
        }],
        remedies_of: 4,
        realised: vec![realised(15.0), realised(-4.0)],
        realised_of: 3,
        realised_gb_hours: 12.25,
        realised_cost: None,
        realised_unpriced: 0,
        nodes: Nodes { nodes: vec![node("n1", Some(0.75)), node("n2", None)], of: 5, slow: 1, unknown: 1 },
        unread: vec![
            Unread { problem: "the log is damaged".to_owned(), files: 3, example: "logs/|a".to_owned() },
            Unread { problem: "cannot read logs/b".to_owned(), files: 1, example: "logs/b".to_owned() },
        ],
        unread_of: 6,
    }
}

/// Changes with what they saved as money: one that is known, one that is unknown, and those that cost less with more
/// memory, and more with less.
fn with_prices() -> Answer {
    let cost = |saved, cost, saved_cost| Realised {
        cost: Some(cost),
        saved_cost: Some(saved_cost),
        ..realised(saved)
    };
    let changes = vec![
        cost(15.0, (0.44, 0.24), 1.2),
        realised(2.0),
        cost(1.0, (0.25, 0.5), -1.5),
        cost(-3.0, (0.6, 0.55), 0.3),
        cost(-4.0, (0.1, 2.1), -12.0),
    ];
    let fleet = Fleet {
        realised: changes,
        realised_of: 6,
        realised_gb_hours: 11.0,
        realised_cost: Some(-12.0),
        realised_unpriced: 2,
        ..empty()
    };
    Answer { currency: Some("EUR".to_owned()), ..answer(View::Overview(Box::new(fleet))) }
}

fn empty() -> Fleet {
    let none = || Grouped { groups: Vec::new(), of: 0 };
    let ranked = || Ranked { grouped: none(), over_time: Vec::new() };
    Fleet {
        periods: None,
        over_time: OverTime::default(),
        most: 2,
        jobs: ranked(),
        users: ranked(),
        queues: ranked(),
        troubles: none(),
        remedies: Vec::new(),
        remedies_of: 0,
        realised: Vec::new(),
        realised_of: 0,
        realised_gb_hours: 0.0,
        realised_cost: None,
        realised_unpriced: 0,
        nodes: Nodes::default(),
        unread: Vec::new(),
        unread_of: 0,
    }
}

fn run(id: &str, day: i64) -> Run {
    Run {
        id: id.to_owned(),
        attempt: None,
        source: format!("logs/{id}"),
        cluster: Some("prod".to_owned()),
        name: Some("nightly".to_owned()),
        user: Some("bob".to_owned()),
        queue: None,
        flow: None,
        flow_run: None,
        task: None,
        owner: None,
        status: "succeeded".to_owned(),
        submitted: Some(moment(day)),
        run_time: Some(Millis::from_secs(45_296)),
        used_gb_hours: Some(12345.0),
        wasted_gb_hours: None,
        saved_gb_hours: None,
        cost: Some(6172.5),
        severity: Severity::Severe,
        trouble: Some(("the heap is too large".to_owned(), Some("set a smaller heap".to_owned()))),
    }
}

fn answer(view: View) -> Answer {
    Answer { total: group(""), from: Some(moment(0)), until: Some(moment(17)), currency: None, view }
}

fn job(shown: Vec<Run>, changes: Vec<Change>) -> Answer {
    let of = shown.len() as u64;
    answer(View::Job(Runs { job: "spark · nightly".to_owned(), of, shown, changes }))
}

fn runs() -> Vec<Run> {
    vec![
        run("application_1790000000000_0056", 1),
        run("application_1790000000000_0057", 2),
        run("app-20261126120000-0001", 3),
    ]
}

fn change() -> Change {
    Change {
        measure: Measure::Used,
        first: "application_1790000000000_0057".to_owned(),
        since: Some(moment(2)),
        before: 2.5,
        after: 5.0,
        runs_before: 7,
        runs_after: 8,
        settings: Some(vec![SettingChange {
            setting: "spark.executor.cores".to_owned(),
            from: None,
            to: Some("4".to_owned()),
        }]),
    }
}

/// What changes saved, as JSON.
fn realised_as_json(answer: &Answer) -> String {
    let document: serde_json::Value = serde_json::from_str(&written(answer, HistoryFormat::Json)).unwrap();
    serde_json::to_string_pretty(&document["realised"]).unwrap()
}

#[test]
fn snapshots() {
    let overview = answer(View::Overview(Box::new(fleet())));
    let worst = Answer { currency: Some("EUR".to_owned()), ..answer(View::Worst(runs()[..2].to_vec())) };
    let job = job(runs(), vec![change()]);
    let priced = with_prices();
    let answers = [("overview", &overview), ("worst", &worst), ("job", &job), ("priced", &priced)];
    elephant_testing::with_snapshots("reports/history", || {
        insta::assert_snapshot!("priced.json", realised_as_json(&priced));
        for (name, answer) in answers {
            for (ending, format) in
                [("txt", HistoryFormat::Text), ("md", HistoryFormat::Markdown), ("csv", HistoryFormat::Csv)]
            {
                insta::assert_snapshot!(format!("{name}.{ending}"), written(answer, format));
            }
        }
    });
}

#[test]
fn each_csv_line_has_all_columns() {
    let overview = answer(View::Overview(Box::new(fleet())));
    for answer in [overview, answer(View::Worst(runs())), with_prices()] {
        let text = written(&answer, HistoryFormat::Csv);
        // Commas in quotes separate no cells.
        let cells =
            |line: &str| -> usize { line.split('"').step_by(2).map(|part| part.matches(',').count()).sum() };
        let counts: Vec<usize> = text.lines().map(cells).collect();
        assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}

#[test]
fn a_table_with_costs_has_whole_ids_in_80_columns() {
    let worst = Answer { currency: Some("EUR".to_owned()), ..answer(View::Worst(runs())) };
    let text = written(&worst, HistoryFormat::Text);
    assert!(text.contains("  application_1790000000000_0056  succeeded"), "{text}");
    assert!(text.lines().all(|line| crate::wrap::width(line) <= 80), "{text}");
    let mut long = runs();
    long[0].id = "spark-0123456789abcdef0123456789abcdef0123456789abcdef-driver".to_owned();
    let text = written(&answer(View::Worst(long)), HistoryFormat::Text);
    assert!(text.contains("…") && text.contains("def-driver  succeeded"), "{text}");
}

#[test]
fn a_job_without_runs_says_so() {
    let none = job(Vec::new(), Vec::new());
    let none = Answer { total: Group::default(), from: None, until: None, ..none };
    let said = "no run of the job spark · nightly matches the filters";
    assert_eq!(written(&none, HistoryFormat::Text), format!("{said}\n"));
    assert_eq!(written(&none, HistoryFormat::Markdown), format!("## {said}\n"));
    {
        let page = written(&none, HistoryFormat::Html);
        assert!(
            page.contains(said) && !page.contains("changed its level") && !page.contains("<table"),
            "{page}"
        );
    }
}

#[test]
fn damaged_files_are_listed_without_any_application() {
    let unread = Fleet { unread: fleet().unread, unread_of: 6, ..empty() };
    let none = Answer { total: Group::default(), ..answer(View::Overview(Box::new(unread))) };
    let text = written(&none, HistoryFormat::Text);
    let list = "files that could not be read\n  3 files such as logs/|a: the log is damaged\n  cannot read logs/b\n2 more";
    assert!(text.contains(list), "{text}");
    assert!(written(&none, HistoryFormat::Markdown).contains("| 1 | cannot read logs/b | logs/b |"));
}

#[test]
fn empty_tables_are_left_out() {
    let empty = answer(View::Overview(Box::new(empty())));
    assert_eq!(written(&empty, HistoryFormat::Text).lines().count(), 3);
    assert!(!written(&empty, HistoryFormat::Markdown).contains('|'));
    assert_eq!(written(&empty, HistoryFormat::Csv).lines().count(), 2);
}

#[test]
fn pages_say_how_many_lines_are_missing() {
    let page = written(&answer(View::Overview(Box::new(fleet()))), HistoryFormat::Html);
    let remedies = page.split("id=\"remedies\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(remedies.contains("3 more"), "{remedies}");
    let unread = page.split("id=\"unread\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(unread.contains("2 more"), "{unread}");
}

#[test]
fn changes_have_no_money_without_prices() {
    let without = Answer { currency: None, ..answer(View::Overview(Box::new(fleet()))) };
    let json = realised_as_json(&without);
    assert!(json.contains("saved_gb_hours") && !json.contains("cost"), "{json}");
    {
        let page = written(&without, HistoryFormat::Html);
        let realised = page.split("id=\"realised\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert!(realised.contains("Saved so far") && !realised.contains("Cost"), "{realised}");
    }
}

#[test]
fn pages_have_what_changes_saved_as_money() {
    let page = written(&with_prices(), HistoryFormat::Html);
    let realised = page.split("id=\"realised\"").nth(1).unwrap().split("</section>").next().unwrap();
    let shown = [
        "Cost of a run",
        "0.44 → 0.24 EUR",
        "1.20 EUR",
        "−1.50 EUR",
        "The money saved so far is without 2 changes whose cost is unknown.",
    ];
    for text in shown {
        assert!(realised.contains(text), "{text}: {realised}");
    }
    assert!(page.contains("<small>−12.0 EUR</small>"), "{page}");
    // Each row has a cell for each column, also if its cost is unknown.
    let counts: Vec<usize> = realised
        .split("<tr>")
        .skip(1)
        .map(|row| row.matches("<td").count() + row.matches("<th").count())
        .collect();
    assert!(counts.len() == 6 && counts.iter().all(|count| *count == 10), "{counts:?}");
}
