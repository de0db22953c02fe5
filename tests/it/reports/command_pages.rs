//! The pages of `nodes`, `whatif`, `diff` and `stragglers`.

use assert_cmd::Command;
use serde_json::{Value, json};

use super::browser::Browser;
use super::html::{assert_consistent, assert_policy, select, sound, text};
use super::html_browser::{
    CONTRAST, ENTER, TAB, assert_quiet, assert_words_whole, axe, violations, wait_for,
};
use elephant_testing::spark_log::{App, Job, Stage, Task};

const SKEW: &str = "testdata/spark/3.5.9/skew";
const GC: &str = "testdata/spark/3.5.9/gc";

/// Small recordings: one page of each command.
const PAGES: [(&str, &[&str]); 4] = [
    ("nodes", &["nodes", "--min-node-tasks", "10", "testdata/spark/3.5.9", "testdata/done"]),
    ("whatif", &["whatif", "--executors", "6", SKEW]),
    ("diff", &["diff", SKEW, GC]),
    ("stragglers", &["stragglers", "--tasks", "3", SKEW]),
];

fn page(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).args(["--quiet", "--format", "html"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page without style and scripts, which other tests and reviews cover.
fn without_code(page: &str) -> String {
    let mut rest = page;
    let mut kept = String::new();
    for (start, end) in [("<style>", "</style>"), ("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, code) = rest.split_once(start).unwrap();
        kept.push_str(before);
        rest = code.split_once(end).unwrap().1;
    }
    let (before, _) = rest.split_once("<script>").unwrap();
    kept.push_str(before);
    // The hashes change with the code.
    let policy = kept.find("<meta http-equiv").unwrap();
    let end = kept[policy..].find('\n').unwrap() + policy;
    kept.replace_range(policy..end, "[policy]");
    kept
}

#[test]
fn pages() {
    for (name, arguments) in PAGES {
        let page = page(arguments);
        assert_policy(&page);
        assert_consistent(&sound(&page));
        elephant_testing::with_snapshots("reports/pages", || {
            insta::assert_snapshot!(format!("{name}.html"), without_code(&page));
        });
    }
}

#[test]
fn more_inputs_give_sound_pages() {
    let all: [&[&str]; 8] = [
        &["nodes", "testdata"],
        &["nodes", "--top", "1", "testdata/hadoop1"],
        &["whatif", "testdata"],
        &["whatif", "--reducers", "3", "testdata/done"],
        &["diff", "testdata/done", "testdata/hadoop1"],
        &["diff", "testdata/spark/3.5.9", "testdata/spark/3.5.9"],
        &["stragglers", "testdata"],
        &["stragglers", "--label", "dos-index", "--no-replay", "testdata/done"],
    ];
    for arguments in all {
        let html = sound(&page(arguments));
        assert_consistent(&html);
        assert_numbers_have_keys(&html);
    }
}

/// Numbers are shown with units and separators, so the script that sorts them needs a key, which is empty if unknown.
#[track_caller]
fn assert_numbers_have_keys(html: &scraper::Html) {
    for table in select(html, "table.sortable") {
        let inside = |of: scraper::ElementRef<'_>, selector: &str| -> Vec<Option<String>> {
            let selector = scraper::Selector::parse(selector).unwrap();
            of.select(&selector)
                .map(|cell| cell.attr("data-v").or(cell.attr("data-kind")).map(str::to_owned))
                .collect()
        };
        let kinds = inside(table, "thead th");
        let rows = scraper::Selector::parse("tbody tr").unwrap();
        for row in table.select(&rows) {
            let keys = inside(row, "th, td");
            assert_eq!(keys.len(), kinds.len(), "{}", text(row));
            let numbers = keys.iter().zip(&kinds).filter(|(_, kind)| kind.is_some());
            let is_key = |key: &str| key.is_empty() || key.parse::<f64>().is_ok_and(f64::is_finite);
            let sound = numbers.map(|(key, _)| key.as_deref()).all(|key| key.is_some_and(is_key));
            assert!(sound, "{}: {keys:?}", text(row));
        }
    }
}

/// A run with a slow node. Its name and those of the application, the stages and a setting are attacks.
fn hostile_log(executors: u32) -> String {
    let attack = "</bdi></td></table><script>alert(1)</script>\u{202e}";
    let mut app = App::with(&[("spark.app.attack", attack)], executors, 2);
    attack.clone_into(&mut app.executors[0].host);
    for stage in 0..4 {
        let task = |place: i64| {
            let executor = 1 + place % i64::from(executors);
            let slow = if executor == 1 { 9000 } else { 1000 };
            let launch = 20_000 * (place / i64::from(executors));
            Task { launch, ..Task::new(&executor.to_string(), slow + 10 * place + i64::from(stage)) }
        };
        let tasks = (0..48).map(task).collect();
        let stage = Stage { name: format!("{attack} {stage}"), ..Stage::new(stage, tasks) };
        app.jobs.push(Job { id: stage.id, stages: vec![stage], ..Job::default() });
    }
    app.text().replace("\"word count\"", &json!(attack).to_string())
}

#[test]
fn hostile_names_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [one, other] = [path("application_1700000000000_0001"), path("application_1700000000000_0002")];
    std::fs::write(&one, hostile_log(6)).unwrap();
    std::fs::write(&other, hostile_log(4)).unwrap();
    let all: [&[&str]; 4] =
        [&["nodes", &one], &["whatif", &one], &["diff", &one, &other], &["stragglers", &one]];
    for arguments in all {
        let source = page(arguments);
        let html = sound(&source);
        assert_consistent(&html);
        // Those of the page, and one that shows jobs on demand.
        let scripts = if arguments.first() == Some(&"nodes") { 2 } else { 3 };
        assert_eq!(select(&html, "script").len(), scripts, "{arguments:?}");
        let whole = text(html.root_element());
        assert!(whole.contains("<script>alert(1)</script>[U+202E]"), "{arguments:?}");
        assert!(!source.contains('\u{202e}'), "{arguments:?}");
    }
}

/// A slow node has a coloured cell for each day on which it ran enough tasks, and a sentence for those who do not see it.
#[test]
fn days_of_slow_nodes_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for day in 0..3 {
        let log = hostile_log(6).replace("17000", &format!("1700{day}"));
        std::fs::write(folder.path().join(format!("application_{day}")), log).unwrap();
    }
    let html = sound(&page(&["nodes", folder.path().to_str().unwrap()]));
    let strips = select(&html, "#days svg");
    assert_eq!(strips.len(), 1);
    assert_eq!(select(&html, "#days svg rect.s3").len(), 3);
    let sentence = strips[0].attr("aria-label").unwrap();
    assert!(sentence.starts_with("slower than average on 3 of 3 days"), "{sentence}");
    assert!(text(select(&html, "#answer h1")[0]).starts_with("1 of 6 ranked nodes is slower"));
    assert_eq!(select(&html, "#intervals tbody tr").len(), 6);
}

/// What the JSON report says of each day is on the page, too.
#[test]
fn days_have_causes_and_dos_indices() {
    let folder = tempfile::tempdir().unwrap();
    for day in 0..3 {
        let log = hostile_log(6).replace("17000", &format!("1700{day}"));
        std::fs::write(folder.path().join(format!("application_{day}")), log).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let html = sound(&page(&["stragglers", path]));
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    let output = command.args(["stragglers", "--quiet", "--format", "json", path]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let days = report["total"]["days"].as_array().unwrap();
    let rows = select(&html, "#days .plain tbody tr");
    assert_eq!((rows.len(), days.len()), (3, 3));
    for (row, day) in rows.into_iter().zip(days) {
        let row = text(row);
        let stragglers = day["stragglers_count"].as_u64().unwrap();
        let causes: Vec<(&String, &Value)> = day["causes"].as_object().unwrap().iter().collect();
        let primary = causes.iter().map(|(_, cause)| cause["primary_count"].as_u64().unwrap());
        assert_eq!(primary.sum::<u64>(), stragglers);
        assert!(stragglers > 0 && row.contains(&stragglers.to_string()), "{row}");
        let shown = if day["dos_index_10_count"].is_null() { "unknown" } else { "0" };
        assert!(row.contains(shown), "{row}");
    }
    assert!(!select(&html, "#days svg rect").is_empty());
}

/// Each task is in one bar of its histogram, and each straggler has the colour of its cause.
#[test]
fn histograms_hold_all_tasks() {
    let html = sound(&page(&["stragglers", SKEW]));
    let first = |text: String| -> u64 { text.split_whitespace().next().unwrap().parse().unwrap() };
    let figures = select(&html, ".group figure:first-child");
    assert!(!figures.is_empty());
    for figure in figures {
        let inside = |selector: &str| {
            let selector = scraper::Selector::parse(selector).unwrap();
            figure.select(&selector).map(text).collect::<Vec<_>>()
        };
        let tasks = first(inside(".legend li").remove(0));
        let bars = inside("title").into_iter().map(|title| {
            first(title.rsplit_once(": ").map(|(_, count)| count.to_owned()).unwrap_or_default())
        });
        assert_eq!(bars.sum::<u64>(), tasks, "{}", text(figure));
        // The bars of stragglers say how certain their causes are, unless nothing explains them.
        let explained = inside("title").into_iter().filter(|title| title.contains("; "));
        let sure = |title: &String| ["measured", "inferred", "weak"].iter().any(|word| title.contains(word));
        assert!(explained.clone().all(|title| sure(&title) || title.contains("unexplained")));
        assert!(explained.count() > 0);
        let causes = inside(".legend li").into_iter().skip(2);
        let stragglers: u64 = causes.map(|cause| first(cause.rsplit_once(": ").unwrap().1.to_owned())).sum();
        assert!((1..=tasks).contains(&stragglers), "{}", text(figure));
    }
}

/// The curves have a point for each number of the JSON report, and mark the present and the requested one.
#[test]
fn curves_show_the_replays() {
    let html = sound(&page(&["whatif", "--executors", "6", SKEW]));
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args([
        "whatif",
        "--executors",
        "6",
        "--format",
        "json",
        SKEW,
    ]);
    let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let points = report["applications"][0]["replay"]["scaling"]["points"].as_array().unwrap();
    let curves = select(&html, ".plot svg");
    assert_eq!(curves.len(), 2, "run time and core-hours");
    for curve in curves {
        let count = |selector: &str| curve.select(&scraper::Selector::parse(selector).unwrap()).count();
        assert_eq!(count("path.dot"), points.len());
        assert_eq!((count("line.now"), count("line.proposed")), (1, 1));
    }
}

/// A folder with runs of a job on several days: its name, its user, and the ids of its runs.
fn runs(folder: &std::path::Path, name: &str, user: &str, ids: &[&str]) {
    std::fs::create_dir_all(folder).unwrap();
    let skew = std::fs::read("testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd").unwrap();
    let log = String::from_utf8(zstd::decode_all(skew.as_slice()).unwrap()).unwrap();
    for id in ids {
        let log = log
            .replace("app-20261121094318-0000", id)
            .replace("\"App Name\":\"skew-3.5.9\"", &format!("\"App Name\":\"{name}\""))
            .replace("\"User\":\"alice\"", &format!("\"User\":\"{user}\""));
        std::fs::write(folder.join(id), log).unwrap();
    }
}

/// The answer and totals over all applications, then the jobs, and in each its runs; each has an id that stays the same.
#[test]
fn pages_are_grouped_by_job_with_lasting_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [tonight, tomorrow] = [path("tonight"), path("tomorrow")];
    runs(
        tonight.as_ref(),
        "etl 2026-11-21",
        "alice",
        &["app-20261121000000-0001", "app-20261121000000-0002"],
    );
    runs(tonight.as_ref(), "etl 2026-11-21", "bob", &["app-20261121000000-0003"]);
    runs(tomorrow.as_ref(), "etl 2026-11-22", "bob", &["app-20261122000000-0004"]);
    runs(tomorrow.as_ref(), "etl 2026-11-21", "alice", &["app-20261121000000-0002"]);
    let links = |html: &scraper::Html, selector: &str| -> Vec<String> {
        select(html, selector).iter().map(|link| link.attr("href").unwrap()[1..].to_owned()).collect()
    };
    for command in ["whatif", "stragglers"] {
        let [first, second] = [&tonight, &tomorrow].map(|path| sound(&page(&[command, path])));
        [&first, &second].into_iter().for_each(assert_consistent);
        // Two users: two jobs, the same tomorrow.
        let [mut jobs, mut later] = [&first, &second].map(|html| links(html, "#jobs tbody th a"));
        assert_eq!(select(&first, "section.job").len(), 2, "{command}");
        jobs.sort();
        later.sort();
        assert_eq!(jobs, later, "{command}");
        let mut all: Vec<String> =
            jobs.iter().map(|id| text(select(&first, &format!("#{id} h2"))[0])).collect();
        all.sort();
        assert!(all[0].contains("2 runs, alice") && all[1].contains("bob"), "{all:?}");
        // The runs are inside of their job, by the id that they have on the page of `analyze`.
        let id = select(&first, "section.job [id^=a-]").len();
        assert!(id >= 3, "{command}: {id}");
        let report = sound(&page(&["analyze", &tonight]));
        for run in select(&first, "section.job article") {
            assert_eq!(
                select(&report, &format!("article#{}", run.attr("id").unwrap())).len(),
                1,
                "{command}"
            );
        }
        let place = |wanted: &str| {
            let sections = select(&first, "main > section");
            sections.iter().position(|section| section.attr("id") == Some(wanted)).unwrap()
        };
        assert!(place("answer") < place("jobs") && place("jobs") < place(&jobs[0]), "{command}");
    }
    let totals = sound(&page(&["whatif", &tonight]));
    assert!(text(select(&totals, "#answer .lead")[0]).starts_with("3 of 3 applications replayed"));
    // Changes with the same effect share a line.
    assert!(!select(&totals, "#answer .totals li").is_empty());

    // Runs of a user are compared with runs of the same user.
    runs(tomorrow.as_ref(), "load", "carol", &["app-20261122000000-0009"]);
    let diff = sound(&page(&["diff", &tonight, &tomorrow]));
    assert_consistent(&diff);
    let unchanged: Vec<String> = select(&diff, "#unchanged tbody tr").into_iter().map(text).collect();
    assert_eq!(unchanged.len(), 2, "{unchanged:?}");
    assert!(unchanged.iter().any(|row| row.contains("-0003") && row.contains("-0004")), "{unchanged:?}");
}

/// A job whose runs only other resources would shorten says so.
#[test]
fn jobs_do_not_contradict_their_runs() {
    let html = sound(&page(&["whatif", "testdata/spark/3.5.9"]));
    let mut shortened = 0;
    for row in select(&html, "#jobs tbody tr") {
        let link = row.select(&scraper::Selector::parse("th a").unwrap()).next().unwrap();
        let better = select(&html, &format!("{} td.better", link.attr("href").unwrap())).len();
        shortened += usize::from(better > 0);
        let has_none =
            ["none beyond the error", "cannot be replayed"].iter().any(|none| text(row).contains(none));
        assert_eq!(has_none, better == 0, "{}", text(row));
    }
    assert!(shortened > 0);
    // More executors shorten most jobs, and cost something. A job that failures slow down comes before.
    let first = text(select(&html, "#jobs tbody tr")[0]);
    assert!(first.contains("no failures"), "{first}");
}

/// How the pages behave in a browser: wide and narrow, light and dark, with the keyboard.
#[test]
fn pages_work_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let axe = axe();
    for (name, arguments) in PAGES {
        let source = page(arguments);
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            browser.window(1280, 900);
            browser.open(&source);
            assert_quiet(&browser);
            let lowest = browser.value(CONTRAST);
            let ratio = lowest["ratio"].as_f64();
            assert!(ratio.is_some_and(|ratio| ratio >= 4.5), "{name}, {scheme}: {lowest}");
            // What is wider than a phone scrolls in its own box.
            browser.window(390, 800);
            let wide = "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, .axis') && \
                e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))";
            let fits = browser.value("document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(fits, json!(true), "{name}, {scheme}: {}", browser.value(wide));
            if let Some(axe) = &axe {
                browser.value("document.querySelectorAll('details').forEach(e => { e.open = true; })");
                assert_eq!(violations(&browser, axe), json!([]), "{name}, {scheme}");
            }
        }
        keyboard(&browser, name);
        assert_quiet(&browser);
        assert_words_whole(&browser, &source);
    }
}

/// A page with many jobs contains only some of them until a link, also a pasted one, or the button asks for others.
#[test]
fn tables_fit_a_phone() {
    let Some(browser) = Browser::start() else { return };
    browser.window(390, 800);
    for (name, arguments) in PAGES {
        browser.open(&page(arguments));
        let cut = "[...document.querySelectorAll('.stacked :is(td, th[scope=row])')] \
                   .filter(cell => cell.checkVisibility()) \
                   .filter(cell => cell.scrollWidth > cell.clientWidth + 1 \
                                   || cell.getBoundingClientRect().right > innerWidth) \
                   .map(cell => cell.textContent)";
        assert_eq!(browser.value(cut), json!([]), "{name}");
        assert!(
            browser.value("document.querySelectorAll('.stacked td').length").as_u64() > Some(3),
            "{name}"
        );
        assert_eq!(
            browser.value("document.documentElement.scrollWidth <= innerWidth"),
            json!(true),
            "{name}"
        );
    }
}

#[test]
fn jobs_are_shown_on_demand() {
    let Some(browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=6 {
        let id = format!("app-2026112100000{number}-000{number}");
        runs(folder.path(), &format!("job {}", "x".repeat(number)), "alice", &[&id]);
    }
    let source = page(&["whatif", folder.path().to_str().unwrap()]);
    let jobs = "document.querySelectorAll('section.job').length";
    for width in [1300, 390] {
        browser.window(width, 800);
        browser.open(&source);
        assert_eq!(browser.value(jobs), json!(3));
        let last = browser.value("[...document.querySelectorAll('#jobs tbody a')].at(-1).hash.slice(1)");
        let last = last.as_str().unwrap();
        browser.value("[...document.querySelectorAll('#jobs tbody a')].at(-1).click()");
        wait_for(&browser, "document.activeElement.id", &json!(last));
        assert_eq!(browser.value(jobs), json!(4));
        browser.open_at(&source, last);
        wait_for(&browser, "document.activeElement.id", &json!(last));
        let top = browser.value(&format!("document.getElementById('{last}').getBoundingClientRect().top"));
        assert!((-20.0..400.0).contains(&top.as_f64().unwrap()), "{top}");
        browser.value(
            "[...document.querySelectorAll('button')].find(b => b.textContent === 'Show 3 more').click()",
        );
        assert_eq!(browser.value(jobs), json!(6));
    }
    assert_quiet(&browser);
}

/// The skip link comes first; a table is sorted from its head, which the keyboard reaches.
fn keyboard(browser: &Browser, name: &str) {
    browser.window(1280, 900);
    browser.value("scrollTo(0, 0); document.activeElement.blur()");
    browser.keys(TAB);
    assert_eq!(browser.value("document.activeElement.className"), json!("skip"), "{name}");
    let heads = "document.querySelectorAll('table.sortable thead button')";
    if browser.value(&format!("{heads}.length")) == json!(0) {
        assert_eq!(name, "diff", "{name} has no table to sort");
        return;
    }
    let mut steps = 0;
    while browser.value("document.activeElement.closest('table.sortable') === null") == json!(true) {
        browser.keys(TAB);
        steps += 1;
        assert!(steps < 60, "{name}: Tab never reaches the table");
    }
    let column = "document.activeElement.closest('th')";
    browser.keys(ENTER);
    wait_for(browser, &format!("{column}.ariaSort !== null"), &json!(true));
    let first = browser.value(&format!("{column}.ariaSort"));
    browser.keys(ENTER);
    let turned = |value: &Value| if value == "ascending" { json!("descending") } else { json!("ascending") };
    assert_eq!(browser.value(&format!("{column}.ariaSort")), turned(&first), "{name}");
}

#[test]
fn tables_are_sorted_by_numbers_with_unknown_values_last() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page(&["nodes", "testdata"]));
    let column =
        "[...document.querySelectorAll('#nodes th button')].findIndex(b => b.textContent === 'Mean z')";
    let values =
        format!("[...document.querySelectorAll('#nodes tbody tr')].map(r => r.cells[{column}].dataset.v)");
    let rows = browser.value("document.querySelectorAll('#nodes tbody tr').length");
    for direction in [1.0, -1.0] {
        browser.value(&format!("document.querySelectorAll('#nodes th button')[{column}].click()"));
        let shown: Vec<String> = serde_json::from_value(browser.value(&values)).unwrap();
        assert_eq!(json!(shown.len()), rows);
        let known: Vec<f64> = shown.iter().map_while(|value| value.parse().ok()).collect();
        assert!(known.len() > 5 && shown[known.len()..].iter().all(String::is_empty), "{shown:?}");
        assert!(known.is_sorted_by(|a, b| direction * a >= direction * b), "{shown:?}");
    }
}

/// Without scripts the page is complete: tables in the order of the report, no button that does nothing.
#[test]
fn pages_are_complete_without_scripts() {
    let Some(browser) = Browser::start() else { return };
    browser.scripts(false);
    for (name, arguments) in PAGES {
        let source = page(arguments);
        browser.open(&source);
        assert_eq!(browser.value("document.querySelectorAll('button').length"), json!(0), "{name}");
        let rows = select(&sound(&source), "tbody tr").len();
        let visible = "[...document.querySelectorAll('tbody tr')].length";
        assert_eq!(browser.value(visible), json!(rows), "{name}");
        assert_quiet(&browser);
    }
}
