//! Test reports: on real histories, with hostile names, and empty.

use std::sync::Arc;

use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::{Account, Owner, Part, PhaseFact, What};
use elephant_engine::results::{ApplicationReport, Leading, Report, SourceProblem, Summary, Work};
use elephant_explain::{Event, Explanation, Figure, Origin, Place, Rest, Setting, Term, Values, Which};
use elephant_model::model::conf::{Conf, Property};
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::{Engine, Status};
use elephant_parse::{Level, Position, Problem};
use elephant_rule::finding::{
    Caps, Finding, Measure, NotEvaluated, RuleFacts, Subject, Suppressed, Threshold, TroubleKind,
};
use elephant_ruleset::JobIdentity;
use elephant_ruleset::{RuleInfo, RuleSet};
use elephant_verdict::troubles::{Recommended, Trouble};

/// Names of a job, stage, executor or file that could break a report.
pub(super) const HOSTILE: [&str; 32] = [
    "",
    " ",
    "<script>alert(1)</script>",
    "</details></summary><img src=x onerror=alert(1)>",
    "a \"quote\", 'another' and a `third`",
    "line\nfeed\r\nand\rreturn\u{2028}\u{85}",
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J",
    "\u{202e}right to left\u{2066}\u{200f}",
    "NUL\0 and DEL\u{7f}",
    "\u{fffe}\u{ffff}\u{feff}\u{1fffe}",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "@torvalds and someone@example.com",
    "rust-lang/rust#1, #2, GH-3",
    "https://evil.example/ HTTP://evil.example www.evil.example mailto:a@b.example",
    "[text](http://evil.example) ![image](http://evil.example/x.png) [a][b] [^1]",
    "<http://evil.example> <a@b.example> &lt;b&gt; &#64;torvalds",
    "| a | b |\n| --- | --- |",
    "```\ncode\n```",
    "# heading\n\n- list\n\n---\n\n    code",
    "**bold** __bold__ *it* _it_ ~~gone~~ $x$ \\",
    "]]>",
    "<!-- comment --> <?xml?> &amp; &undefined;",
    "# EOF",
    "{a=\"b\"} 1\\n",
    "\\\"",
    "%00/../../etc/passwd?x#y",
    "a,b;c",
    "äöü 日本語 🐘",
];

/// Both engines, suppressed findings, an incomplete application, and a damaged file.
pub(super) fn mixed() -> Report {
    elephant_testing::go_to_root();
    let paths = ["testdata/broken", "testdata/hadoop1", "testdata/spark/3.5.9/skew", "no/such/folder"];
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut report = analyze(&paths.map(Into::into), &rules, Options::default());
    let job = report.applications.iter_mut().find(|app| app.engine == Engine::MapReduce).unwrap();
    let place = job.findings.iter().position(|finding| finding.rule == "mapper-spill").unwrap();
    job.suppressed.push(Suppressed {
        finding: job.findings.remove(place),
        reason: "DATA-123".to_owned(),
        until: "2027-01-31".parse().ok(),
        origin: "rules.yaml:7".to_owned(),
    });
    // Pages are long and not tested here.
    for rule in &mut report.rules {
        rule.page = rule.page.lines().take(7).collect::<Vec<_>>().join("\n").into();
    }
    report
}

/// An account in which every text that a history supplies is `name`.
fn account(name: &str) -> Account {
    let owner = Some(Owner { query: Some(7), name: name.to_owned() });
    let does = Some(name.to_owned());
    let phase = What::Phase {
        subject: Subject::Stage(StageAttempt { stage: 3, attempt: 0 }),
        owner: owner.clone(),
        does: does.clone(),
        fact: Some(PhaseFact::Waves { tasks: 9, slots: 4 }),
    };
    let idle = What::Idle { before: Millis::new(500), after: Millis::ZERO };
    let part = |what, time, share| Part { what, time: Millis::new(time), share };
    let parts = vec![
        part(phase, 2500, 0.5),
        part(What::Stages { owner, count: 2, does }, 1500, 0.3),
        part(idle, 990, 0.198),
        part(What::Rest { idle: Millis::ZERO }, 10, 0.002),
    ];
    Account { total: Millis::new(5000), parts }
}

/// An application in which every text that a history or rule file supplies is `name`.
pub(super) fn hostile(name: &str) -> Report {
    let text = || name.to_owned();
    let finding = |severity: Severity, subject: Subject| Finding {
        rule: text().into(),
        title: text().into(),
        rule_facts: RuleFacts::USER,
        tells: TroubleKind::Other,
        repartition: None,
        of_more_parts: false,
        also_about: Vec::new(),
        in_queries: Vec::new(),
        conditions: Vec::new(),
        raw_severity: severity,
        caps: Caps::default(),
        severity,
        score: 8,
        subject,
        message: text(),
        statement: text(),
        evidence: vec![(text().into(), Measure::Text(text())), ("x_ratio".into(), Measure::Ratio(None))],
        thresholds: [Threshold { key: text(), cutoffs: [1.0, 2.0, 4.5, f64::INFINITY] }].into(),
        advice: vec![text().into(), text().into()],
        failure: None,
    };
    let suppressed = Suppressed {
        finding: finding(Severity::Low, Subject::Application),
        reason: text(),
        until: None,
        origin: text(),
    };
    let mut conf = Conf::default();
    conf.insert(text(), Property { value: text(), is_final: false });
    let app = ApplicationReport {
        id: text(),
        attempt: Some(text()),
        engine: Engine::Spark,
        engine_version: Some(text()),
        name: Some(text()),
        user: Some(text()),
        queue: Some(text()),
        cluster: Some(text()),
        job_type: Some("Spark".into()),
        script: Some(text()),
        platform: None,
        native_engine: None,
        native_share: None,
        identity: Some(JobIdentity { scheduler: text(), job: Some(text()), ..JobIdentity::default() }),
        queries: Vec::new(),
        account: Some(account(name)),
        status: Status::Succeeded,
        complete: false,
        incomplete: Some(text()),
        limit: Some("--max-tasks".into()),
        judged: false,
        sources: vec![text()],
        submitted_at: Some(Timestamp::from_millis(0)),
        started_at: Some(Timestamp::from_millis(i64::MAX)),
        finished_at: None,
        severity: Severity::Critical,
        raw_severity: Severity::Critical,
        severity_in_larger_run: Severity::Critical,
        score: 16,
        leading: Leading::Nothing,
        metrics: Metrics { run_time: Some(Millis::new(1)), ..Metrics::default() },
        work: Work::default(),
        phase_work: Vec::new(),
        at_least: elephant_analysis::metrics::AtLeast::default(),
        counts: [0, 0, 0, 1, 1],
        troubles: vec![Trouble::named(name)],
        recommended: vec![Recommended { change: Trouble::named(name).change.remove(0), why: vec![text()] }],
        savings: None,
        findings: vec![
            finding(Severity::Critical, Subject::Executor(text())),
            finding(Severity::Severe, Subject::Driver),
        ],
        suppressed: vec![suppressed],
        evaluated: Arc::new([text().into()]),
        not_evaluated: vec![NotEvaluated { rule: "other-rule".into(), reason: text() }],
        stage_names: Vec::new(),
        phases: Some(Vec::new()),
        configuration: Some(Box::new(conf)),
        nodes: Vec::new(),
        query_work: Vec::new(),
        explanations: vec![explanation(name)],
        charts: None,
    };
    let rule = |id: String| RuleInfo { id: id.into(), title: text().into(), page: text().into() };
    Report {
        rules: vec![rule(text()), rule("other-rule".to_owned())],
        summary: Summary {
            files_found: 1,
            files_analysed: 1,
            applications: 2,
            findings: [0, 0, 0, 2, 2],
            ..Summary::default()
        },
        // The same application twice, as from two folders.
        applications: vec![app.clone(), app],
        problems: problems(name),
        ..Report::default()
    }
}

fn explanation(name: &str) -> Explanation {
    let text = || name.to_owned();
    let place = || Place { file: text(), line: Some(1), byte: None };
    let term = Term { place: place(), key: text(), value: 7, of: text() };
    let values = Values {
        key: text(),
        unit: "ms",
        which: Which::Ended,
        count: 3,
        sum: 9,
        terms: vec![term],
        rest: Rest { count: 2, sum: 2 },
    };
    Explanation {
        rule: text().into(),
        subject: Subject::Executor(text()),
        figures: vec![Figure { key: text().into(), origin: Origin::Rule, values: vec![values.clone()] }],
        read: vec![values],
        events: vec![Event { place: place(), name: text() }],
        settings: vec![Setting { name: text(), value: Some(text()), place: Some(place()) }],
        unread: Some(text()),
    }
}

fn problems(name: &str) -> Vec<SourceProblem> {
    let levels = [
        (Level::Error, None),
        (Level::Warning, Some(Position::Line(12))),
        (Level::Info, Some(Position::Byte(0))),
    ];
    let problem = |(level, position)| SourceProblem {
        source: name.to_owned(),
        problem: Problem { level, code: "truncated".into(), position, message: name.to_owned(), count: 2 },
    };
    levels.map(problem).into()
}

/// A report with problems only.
pub(super) fn problems_only() -> Report {
    Report {
        problems: problems("history/broken.jhist"),
        named_input_failed: true,
        summary: Summary { files_found: 1, files_failed: 1, ..Summary::default() },
        ..Report::default()
    }
}

/// One application, judged by one rule without findings.
pub(super) fn no_findings() -> Report {
    let mut report = hostile("calm");
    report.problems.clear();
    report.summary.findings = [0; 5];
    report.summary.applications = 1;
    report.applications.truncate(1);
    for app in &mut report.applications {
        app.findings.clear();
        app.suppressed.clear();
        app.not_evaluated.clear();
        app.counts = [0; 5];
        app.severity = Severity::None;
        app.score = 0;
        app.complete = true;
    }
    report
}

/// More findings than fit into a comment: on many applications called `name`.
pub(super) fn large(name: &str, applications: usize, findings: usize) -> Report {
    let mut report = hostile(name);
    let first = report.applications.remove(0);
    let size = Measure::Size(Bytes::new(1));
    report.applications = (0..applications)
        .map(|number| {
            let mut app = first.clone();
            app.id = format!("app-{number}");
            let mut finding = app.findings.swap_remove(0);
            finding.evidence = vec![("a_bytes".into(), size.clone())];
            app.findings = vec![finding; findings];
            app.troubles = vec![Trouble::named(name); findings];
            app
        })
        .collect();
    report
}
