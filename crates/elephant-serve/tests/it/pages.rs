//! The pages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use elephant_store::Store;

use super::client::{Running, options};
use super::stores::{self, HOSTILE};

/// The addresses of this server that a page links to.
fn links(page: &str) -> Vec<String> {
    let main = page.split("</head>").nth(1).unwrap();
    let addresses = main.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    addresses
        .filter(|address| address.starts_with('/'))
        .map(|address| address.replace("&#38;", "&"))
        .collect()
}

/// Follows all links from the first page on, and returns the answers with their addresses.
fn crawl(server: &Running, most: usize) -> BTreeMap<String, String> {
    let mut seen = BTreeSet::from(["/".to_owned()]);
    let mut next = VecDeque::from(["/".to_owned()]);
    let mut pages = BTreeMap::new();
    while let Some(address) = next.pop_front().filter(|_| pages.len() < most) {
        let answer = server.get(&address);
        assert_eq!(answer.status, 200, "{address}");
        for link in links(&answer.body) {
            if seen.insert(link.clone()) {
                next.push_back(link);
            }
        }
        pages.insert(address, answer.body);
    }
    pages
}

#[test]
fn every_link_leads_to_a_page() {
    let (store, _folder) = stores::of_histories();
    let server = Running::start(options(store));
    let pages = crawl(&server, 400);
    for begin in
        ["/application/", "/job/", "/user/", "/queue/", "/rules/", "/search?kind=", "/search?from=", "/nodes"]
    {
        assert!(pages.keys().any(|address| address.starts_with(begin)), "{begin}");
    }
    for (address, page) in &pages {
        assert_eq!(page.matches("<h1").count(), 1, "{address}");
        // Nothing is fetched, and no option of a command is advised.
        for foreign in ["src=", "http://", "https://", "@import", "--top"] {
            let content = page.split("<body>").nth(1).unwrap();
            assert!(
                !content.contains(foreign) || foreign != "--top" && address.starts_with("/rules/"),
                "{address}: {foreign}"
            );
        }
    }
}

#[test]
fn names_from_histories_are_only_names() {
    let (store, _folder) = stores::hostile();
    let server = Running::start(options(store));
    let pages = crawl(&server, 400);
    // Each name has its own pages, whatever characters it has.
    for begin in ["/application/", "/user/", "/queue/", "/job/"] {
        let count = pages.keys().filter(|address| address.starts_with(begin)).count();
        assert_eq!(count, HOSTILE.len(), "{begin}: {:?}", pages.keys());
    }
    for (address, page) in &pages {
        let content = page.split("<body>").nth(1).unwrap().rsplit_once("</footer>").unwrap().0;
        assert!(!content.contains("<script") && !content.contains("<img"), "{address}");
        assert!(!content.contains('\u{202e}'), "{address}");
    }
    let user = pages.iter().find(|(address, _)| address.starts_with("/user/%2Fx")).unwrap().1;
    assert!(user.contains("1 application"), "{user}");
}

#[test]
fn a_search_finds_by_each_of_its_conditions() {
    let (store, _folder) = stores::of_histories();
    let server = Running::start(options(store));
    let count = |query: &str| {
        let page = server.get(&format!("/search?{query}")).body;
        let (_, rest) = page.split_once("<h1 id=\"h-answer\">").unwrap();
        rest.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let all = count("");
    assert!(all > 30, "{all}");
    for query in [
        "user=alice",
        "severity=severe",
        "rule=spark-skew",
        "status=failed",
        "engine=spark",
        "from=2026-01-01",
        "to=2020-01-01",
        "q=spec",
        "kind=failures",
    ] {
        let some = count(query);
        assert!((1..all).contains(&some), "{query}: {some} of {all}");
    }
    assert_eq!(count("engine=spark") + count("engine=mapreduce"), all);
    assert_eq!(count("from=2026-01-01&to=2026-01-01"), 0);
    // The form has what was asked, so that the next search begins there.
    let page = server.get("/search?user=al*&severity=low&from=2026-01-01&q=%22x").body;
    for field in
        ["name=\"user\" value=\"al*\"", "value=\"low\" selected", "value=\"2026-01-01\"", "value=\"&#34;x\""]
    {
        assert!(page.contains(field), "{field}");
    }
}

#[test]
fn the_parts_of_a_search_are_linked() {
    let (store, _folder) = stores::of_histories();
    let all = Store::open(&store).unwrap().application("").unwrap().len();
    assert_eq!(all, 0);
    let server = Running::start(options(store));
    let (mut address, mut ids) = ("/search?sort=waste".to_owned(), BTreeSet::new());
    loop {
        let page = server.get(&address).body;
        let shown: Vec<String> =
            links(&page).into_iter().filter(|link| link.starts_with("/application/")).collect();
        assert!(!shown.is_empty() && shown.len() <= 50, "{address}");
        ids.extend(shown);
        let next = page.split("<a href=\"").find(|rest| rest.contains(">Next page<"));
        let Some(next) = next else { break };
        address = next.split('"').next().unwrap().replace("&#38;", "&");
        assert!(address.starts_with("/search?sort=waste&after="), "{address}");
    }
    let listed = server.get("/api/v1/applications?limit=1000").json();
    let listed: BTreeSet<&str> =
        listed["applications"].as_array().unwrap().iter().map(|app| app["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), listed.len());
}

#[test]
fn an_id_leads_to_its_page() {
    let (store, _folder) = stores::of_histories();
    let server = Running::start(options(store));
    let answer = server.get("/search?q=job_1795256319232_0001");
    assert_eq!((answer.status, answer.header("location")), (303, "/application/job_1795256319232_0001"));
    // The name of the same job at YARN.
    let page = server.get("/application/application_1795256319232_0001").body;
    assert!(page.contains("speculation: job_1795256319232_0001"), "{page}");
    assert!(page.contains("Its charts, stages and plans are in the report on its history"), "{page}");
}

#[test]
fn a_history_that_is_gone_is_told() {
    let (store, folder) = stores::hostile();
    let mut app = elephant_engine::results::ApplicationReport::blank("application_1_1");
    app.sources = vec![folder.path().join("gone.log").to_str().unwrap().to_owned()];
    Store::open(&store).unwrap().fill([app].into_iter(), 1).unwrap();
    let server = Running::start(options(store));
    let page = server.get("/application/application_1_1").body;
    assert!(page.contains("Its history is gone") && !page.contains("elephant-rs analyze"), "{page}");
}

#[test]
fn a_store_without_applications_has_pages() {
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    drop(Store::create(&place).unwrap());
    let server = Running::start(options(place));
    for path in ["/", "/search", "/compare", "/nodes", "/rules", "/rules/mapper-skew", "/metrics", "/readyz"]
    {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for path in ["/application/x", "/job/x", "/user/x", "/queue/x", "/rules/x"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}

#[test]
fn a_page_has_the_report_that_was_stored() {
    let (store, _folder) = stores::of_histories();
    let of_rule = |rule: &str| {
        let filter = elephant_engine::engine::Filter::default();
        let only = elephant_store::Only { rules: vec![rule.to_owned()], ..Default::default() };
        let search = elephant_store::Search::of(&filter, &only, (elephant_store::Order::Waste, 1));
        Store::open(&store).unwrap().search_whole(&search, 0).unwrap().pop().unwrap()
    };
    let app = of_rule("spark-skew");
    let report: serde_json::Value = serde_json::from_str(app.report.as_deref().unwrap()).unwrap();
    let server = Running::start(options(store.clone()));
    let page = server.get(&format!("/application/{}", app.run.id)).body;
    for (list, title) in [("run_time_parts", "Where the run time went"), ("findings", "Numbers behind")] {
        assert!(!report[list].as_array().unwrap().is_empty() && page.contains(title), "{list}");
    }
    for trouble in report["troubles"].as_array().unwrap() {
        for advice in trouble["advice"].as_array().unwrap() {
            let begin: String =
                advice.as_str().unwrap().chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(page.contains(&begin), "{advice}");
        }
    }
    let answer = server.get(&format!("/api/v1/applications/{}", app.run.id)).json();
    assert_eq!(answer["applications"][0]["report"], report);
}

#[test]
fn two_runs_are_compared_side_by_side() {
    let (store, _folder) = stores::of_histories();
    let server = Running::start(options(store));
    let asks = server.get("/compare?a=x").body;
    assert!(asks.contains("Which applications to compare?") && asks.contains("value=\"x\""), "{asks}");
    assert_eq!(server.get("/compare?a=x&b=y").status, 404);
    let listed = server.get("/api/v1/applications?engine=spark&limit=1000").json();
    let ids: Vec<&str> =
        listed["applications"].as_array().unwrap().iter().map(|app| app["id"].as_str().unwrap()).collect();
    let [a, .., b] = ids[..] else { panic!("{ids:?}") };
    let page = server.get(&format!("/compare?a={a}&b={b}")).body;
    for part in ["B took", "What they cost", "Where the time differs", "Settings that differ", a, b] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let same = server.get(&format!("/compare?a={a}&b={a}")).body;
    assert!(same.contains("as long as A") && same.contains("No setting that decides"), "{same}");
}
