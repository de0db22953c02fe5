//! The pages of a server in a real browser. Skipped if there is none, except under `CI=true`.

use serde_json::json;

use super::browser::Browser;
use super::html_browser::{ENTER, axe, violations};
use crate::cli::serve::Served;

/// A server over a store with histories of this repository, and the folder of the store.
fn served() -> (Served, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fleet.db").to_str().unwrap().to_owned();
    let flow = folder.path().join("flow");
    std::fs::create_dir(&flow).unwrap();
    for (id, run, task) in [("app-1", "1", "extract"), ("app-2", "1", "load"), ("app-3", "2", "extract")] {
        std::fs::write(flow.join(id), log_of_a_flow(id, run, task)).unwrap();
    }
    let paths = ["testdata/done", "testdata/hadoop1", "testdata/spark/3.5.9", "testdata/broken"];
    let own = ["ingest", "--quiet", "--store", &store, flow.to_str().unwrap()];
    crate::cli::store::run(&[&own[..], &paths[..]].concat());
    (Served::start(&["--store", &store]), folder)
}

/// A log of an application that Airflow started.
fn log_of_a_flow(id: &str, run: &str, task: &str) -> String {
    let settings = json!({
        "spark.airflow.ctx.dag_id": "nightly / etl",
        "spark.airflow.ctx.dag_run_id": run,
        "spark.airflow.ctx.task_id": task,
    });
    let start = json!({"Event": "SparkListenerApplicationStart", "App Name": task, "App ID": id,
        "Timestamp": 1_790_000_000_000_i64, "User": "alice"});
    let events = [
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}),
        start,
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}),
        json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_790_000_060_000_i64}),
    ];
    events.map(|event| event.to_string()).join("\n") + "\n"
}

/// A page of each kind.
const PAGES: [&str; 18] = [
    "/",
    "/search?severity=low&sort=waste",
    "/search?q=nothing-has-this-name",
    "/application/app-20261121094226-0000",
    "/application/job_1795256319232_0001",
    "/job/execkill-3.5.9",
    "/flow/nightly%20%2F%20etl",
    "/flow/nightly%20%2F%20etl?run=1",
    "/flow/nightly%20%2F%20etl?run=2&with=1",
    "/compare?a=app-1&b=app-2",
    "/failures",
    "/failures/heap-space",
    "/user/alice",
    "/queue/root.default",
    "/nodes",
    "/rules",
    "/rules/spark-skew",
    "/nope",
];

#[test]
fn axe_finds_no_violations_on_pages_of_the_server() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::start() else { return };
    let (server, _folder) = served();
    for path in PAGES {
        for (width, scheme) in [(1280, "light"), (390, "dark"), (80, "light")] {
            browser.window(width, 900);
            browser.prefer(scheme);
            browser.visit(&format!("http://{}{path}", server.address));
            let is_problem =
                browser.value("document.querySelector('h1').textContent.startsWith('There is no')");
            assert_eq!(is_problem, json!(path == "/nope"), "{path}");
            let place = format!("{path}, {width} pixels wide, {scheme}");
            assert_eq!(violations(&browser, &axe), json!([]), "{place}");
            if width > 80 {
                let fits = "document.documentElement.scrollWidth <= innerWidth";
                assert_eq!(browser.value(fits), json!(true), "{place}");
            }
            let fetched = "performance.getEntriesByType('resource').length";
            assert_eq!(browser.value(fetched), json!(0), "{place}");
        }
    }
}

#[test]
fn the_first_page_leads_to_a_setting_in_three_clicks_without_scripts() {
    let Some(browser) = Browser::start() else { return };
    let (server, _folder) = served();
    browser.visit(&format!("http://{}/", server.address));
    browser.scripts(false);
    let click = |selector: &str| {
        let here = browser.value("location.href");
        browser.value(&format!("document.querySelector('{selector}').focus()"));
        browser.keys(ENTER);
        browser.left(&here);
    };
    // A job that wastes, its run, and the table of settings there.
    click("#jobs a[href^=\"/job/\"]");
    assert_eq!(browser.value("document.querySelectorAll('h1').length"), json!(1));
    click("#runs a[href^=\"/application/\"]");
    let shown = browser.value("document.querySelector('#troubles').innerText");
    assert!(shown.as_str().unwrap().contains("→"), "{shown}");

    // The search at the top of every page.
    browser.value("document.querySelector('.find input').focus()");
    browser.keys("speculation");
    let here = browser.value("location.href");
    browser.keys(ENTER);
    browser.left(&here);
    assert_eq!(browser.value("location.search"), json!("?q=speculation"));
    assert_eq!(browser.value("document.querySelector('h1').textContent"), json!("1 application"));
}
