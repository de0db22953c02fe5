//! Queries and their plans: as drawings and tables in the HTML report, as rows of CSV, as lines of Markdown.

use std::collections::BTreeSet;
use std::path::Path;

use elephant_rs::engine::{Options, analyze};
use elephant_rs::report::{Format, TextOptions, write};
use elephant_rs::results::Report;
use elephant_rs::rules::RuleSet;
use scraper::{ElementRef, Html, Selector};
use serde_json::json;

use super::browser::Browser;
use super::html::{assert_consistent, select, sound, text};
use super::html_browser::{ENTER, assert_quiet, axe, violations, wait_for};
use super::pages::{HOSTILE, charted, page};

const JOINS: &str = "heuristics/spark-would-broadcast";

fn target<'a>(html: &'a Html, link: ElementRef<'_>) -> ElementRef<'a> {
    let id = link.attr("href").unwrap()[1..].to_owned();
    select(html, "[id]").into_iter().find(|e| e.attr("id") == Some(&id)).unwrap()
}

#[test]
fn boxes_rows_stages_and_findings_lead_to_each_other() {
    let html = sound(&page(&charted(JOINS)));
    assert_consistent(&html);
    let boxes = select(&html, "svg.graph a");
    assert!(boxes.len() > 20, "{}", boxes.len());
    for node in &boxes {
        let row = target(&html, *node);
        assert_eq!(row.value().name(), "tr");
        let back = row.select(&Selector::parse("th a").unwrap()).next().unwrap();
        assert_eq!(target(&html, back), *node);
    }
    // A finding names its operator, which has a mark and a link back.
    let told =
        select(&html, ".finding .told a").into_iter().find(|link| text(*link).contains("SortMergeJoin"));
    let row = target(&html, told.unwrap());
    let finding = row.select(&Selector::parse("a.found").unwrap()).next().unwrap();
    assert!(target(&html, finding).value().classes().any(|class| class == "finding"));
    let marked = target(&html, row.select(&Selector::parse("th a").unwrap()).next().unwrap());
    assert!(marked.select(&Selector::parse("rect.mark").unwrap()).next().is_some());
    let stage = row.select(&Selector::parse("td a[href*='-stage-']").unwrap()).next().unwrap();
    let stage = target(&html, stage);
    let query = stage.select(&Selector::parse("th a[href*='-query-']").unwrap()).next().unwrap();
    let query = target(&html, query);
    let plan = query.select(&Selector::parse("th a[href*='-plan-']").unwrap()).next().unwrap();
    assert_eq!(target(&html, plan).value().name(), "details");
}

/// The table has each fact of the drawing.
#[test]
fn the_table_has_all_operators_of_the_drawing_and_more_of_each() {
    let html = sound(&page(&charted(JOINS)));
    let plan = select(&html, "details.plan")[0];
    let rows = plan.select(&Selector::parse("tbody tr").unwrap()).count();
    let boxes = plan.select(&Selector::parse("svg.graph a").unwrap()).count();
    assert_eq!(rows, boxes);
    let title = plan.select(&Selector::parse("svg.graph a title").unwrap()).map(text).collect::<Vec<_>>();
    assert!(title.iter().any(|title| title.contains("SortMergeJoin on k")), "{title:?}");
    assert!(title.iter().any(|title| title.contains("; 3,000,000 rows; longest task ")), "{title:?}");
}

fn joins(options: Options) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(JOINS);
    analyze(&[path], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), options)
}

fn written(report: &Report, format: Format) -> String {
    let mut bytes = Vec::new();
    write(report, format, TextOptions::default(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn fewer_plans_are_drawn_on_request_and_the_rest_is_counted() {
    let with = |plans| page(&joins(Options { charts: 9, plans, ..Options::default() }));
    let none = with(0);
    assert!(!none.contains("<svg class=\"graph\"") && none.contains("are not drawn"));
    assert!(with(1).contains("<svg class=\"graph\"") && !with(9).contains("are not drawn"));
}

#[test]
fn hostile_names_of_queries_and_operators_are_escaped() {
    let mut report = charted(JOINS);
    for queries in report.applications.iter_mut().filter_map(|app| app.charts.as_mut()?.queries.as_mut()) {
        let texts = HOSTILE.iter().cycle();
        queries
            .listed
            .shown
            .iter_mut()
            .zip(texts.clone())
            .for_each(|(it, text)| it.name = (*text).to_owned());
        let operators = queries.plans.iter_mut().flat_map(|plan| &mut plan.drawn.operators);
        for (it, text) in operators.zip(texts) {
            (it.operator.name, it.operator.text) = ((*text).to_owned(), (*text).to_owned());
        }
    }
    let html = sound(&page(&report));
    assert_eq!(select(&html, "script").len(), 3);
    assert!(select(&html, "img, b").is_empty());
    assert!(text(html.root_element()).contains("<script>alert(1)</script>"));
}

#[test]
fn queries_and_operators_are_tables_for_spreadsheets() {
    let report = joins(Options { details: true, ..Options::default() });
    let rows = |format| {
        let text = written(&report, format);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let titles = reader.headers().unwrap().clone();
        let row = |row: Result<csv::StringRecord, csv::Error>| {
            let row = row.unwrap();
            titles.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
        };
        reader.records().map(row).collect::<Vec<std::collections::BTreeMap<String, String>>>()
    };
    let (queries, operators) = (rows(Format::CsvQueries), rows(Format::CsvOperators));
    let expected: usize = report.applications.iter().map(|app| app.queries.len()).sum();
    assert!(expected > 3 && queries.len() == expected, "{} of {expected}", queries.len());
    let found: Vec<_> =
        queries.iter().filter(|row| row["findings"].contains("spark-would-broadcast")).collect();
    assert!(!found.is_empty());
    for row in found {
        let number = |key: &str| row[key].parse::<u64>().unwrap();
        let parts = ["planning_ms", "jobs_ms", "between_jobs_ms", "after_jobs_ms"].map(number);
        assert_eq!(parts.iter().sum::<u64>(), number("wall_ms"));
    }
    let joins: BTreeSet<&str> = operators
        .iter()
        .filter(|row| row["findings"] == "spark-would-broadcast")
        .map(|row| row["name"].as_str())
        .collect();
    assert_eq!(joins, BTreeSet::from(["SortMergeJoin on k"]));
}

#[test]
fn markdown_names_the_queries_that_took_longest() {
    let report = joins(Options::default());
    let markdown = written(&report, Format::Markdown);
    assert!(markdown.contains("\n- query 0"), "{markdown}");
    assert!(markdown.contains(" took ") && markdown.contains(" stage\n"), "{markdown}");
}

/// The lowest contrast between a text in a box and the colour of the box.
const CONTRAST: &str = r"(() => {
  const parts = (c) => c.match(/[\d.]+/g).map(Number);
  const channel = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  let lowest = 21;
  const rect = document.querySelector('.graph rect');
  for (const heat of [0, 1, 2, 3, 4]) {
    rect.setAttribute('class', `heat-${heat}`);
    for (const text of document.querySelectorAll('.graph text')) {
      const [a, b] = [light(parts(getComputedStyle(text).fill)), light(parts(getComputedStyle(rect).fill))];
      lowest = Math.min(lowest, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    }
  }
  return lowest;
})()";

/// Boxes that overlap, and texts that are wider than their box.
const MISPLACED: &str = r"(() => {
  const inside = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const found = [];
  for (const graph of document.querySelectorAll('.graph')) {
    const boxes = [...graph.querySelectorAll('a > rect:not(.mark)')].map((rect) => rect.getBoundingClientRect());
    boxes.forEach((a, place) => boxes.slice(place + 1).forEach((b) => { if (inside(a, b)) found.push('overlap'); }));
    for (const text of graph.querySelectorAll('text')) {
      const box = text.parentElement.querySelector('rect').getBoundingClientRect();
      const own = text.getBoundingClientRect();
      if (own.right > box.right || own.bottom > box.bottom) found.push(text.textContent);
    }
  }
  return found;
})()";

#[test]
fn drawings_are_readable_in_light_and_dark_and_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let source = page(&charted(JOINS));
    for (width, scheme) in [(1280, "light"), (390, "dark")] {
        browser.window(width, 900);
        browser.prefer(scheme);
        browser.open(&source);
        browser.value("document.querySelectorAll('details').forEach(e => { e.open = true; })");
        assert_eq!(browser.value(MISPLACED), json!([]), "{width} pixels wide, {scheme}");
        assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), json!(true));
        if let Some(axe) = axe() {
            assert_eq!(violations(&browser, &axe), json!([]), "{width} pixels wide, {scheme}");
        }
        let lowest = browser.value(CONTRAST);
        assert!(lowest.as_f64().unwrap() >= 4.5, "{scheme}: {lowest}");
    }
    assert_quiet(&browser);
}

#[test]
fn a_plan_is_used_with_the_keyboard_and_without_scripts() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page(&charted(JOINS)));
    browser.value(
        "window.node = document.querySelector('.graph a'); node.closest('details').open = true; node.focus()",
    );
    assert_eq!(browser.value("document.activeElement === node"), json!(true));
    let row = browser.value("node.href.baseVal.slice(1)");
    browser.keys(ENTER);
    wait_for(&browser, "document.querySelector(':target')?.id", &row);
    // Operators are sorted by their rows.
    browser.value(
        "window.operators = document.querySelector('table.operators'); \
        operators.querySelectorAll('thead button')[4].click()",
    );
    let rows = browser.value("[...operators.tBodies[0].rows].map(row => row.cells[4].dataset.v)");
    let rows: Vec<String> = serde_json::from_value(rows).unwrap();
    let known: Vec<u64> = rows.iter().filter_map(|rows| rows.parse().ok()).collect();
    assert!(known.len() > 1 && known.is_sorted_by(|a, b| a >= b), "{rows:?}");
    assert_quiet(&browser);

    browser.scripts(false);
    browser.open(&page(&charted(JOINS)));
    let shown = "[...document.querySelectorAll('.queries')].every(part => part.checkVisibility())";
    assert_eq!(browser.value(shown), json!(true));
}
