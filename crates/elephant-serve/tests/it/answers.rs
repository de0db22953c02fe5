//! Statuses and headers.

use super::client::{Running, options};
use super::stores;

#[test]
fn every_answer_has_the_headers_that_protect_its_reader() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    for path in ["/", "/search?x=1", "/nope", "/api/v1/summary", "/api/v1/nope", "/metrics", "/healthz"] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy");
        for part in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(answer.header("cache-control").starts_with(if answer.status == 200 {
            "private"
        } else {
            "no-store"
        }));
    }
}

#[test]
fn problems_are_pages_for_people_and_json_for_programs() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let page = server.get("/application/none");
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    assert!(page.body.contains("There is no application &#34;none&#34; in the store."), "{}", page.body);
    for (method, path, status, detail) in [
        ("GET", "/api/v1/applications/none", 404, "there is no application \"none\" in the store"),
        ("GET", "/api/v1/jobs/none", 404, "there is no job \"none\" in the store"),
        ("GET", "/api/v1/none", 404, "there is no page /api/v1/none"),
        ("POST", "/api/v1/summary", 405, "this address only answers GET and HEAD"),
        (
            "GET",
            "/api/v1/applications?after=x",
            400,
            "the parameter after is of no use: it is not one that a part before ended with",
        ),
        (
            "GET",
            "/api/v1/summary?from=x",
            400,
            "the parameter from is \"x\", but must be a time such as 2026-11-20 or 2026-11-20T12:00:00Z",
        ),
    ] {
        let answer = server.ask(method, path, "");
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (status, "application/problem+json"),
            "{path}"
        );
        let problem = answer.json();
        assert_eq!(
            (problem["status"].as_u64(), problem["detail"].as_str()),
            (Some(status.into()), Some(detail))
        );
        assert_eq!(problem["type"], "about:blank");
    }
    assert_eq!(server.ask("DELETE", "/", "").header("allow"), "GET, HEAD");
}

#[test]
fn what_did_not_change_is_not_sent_again() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    for path in ["/", "/api/v1/summary"] {
        let first = server.get(path);
        let tag = first.header("etag");
        assert!(tag.len() > 20, "{first:?}");
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = server.ask("GET", path, &format!("If-None-Match: {known}\r\n"));
            assert_eq!((again.status, again.body.as_str(), again.header("etag")), (304, "", tag), "{known}");
        }
        let other = server.ask("GET", path, "If-None-Match: \"other\"\r\n");
        assert_eq!((other.status, &other.body), (200, &first.body));
        let head = server.ask("HEAD", path, "");
        assert_eq!((head.status, head.body.as_str(), head.header("etag")), (200, "", tag));
        assert_eq!(head.header("content-length"), first.body.len().to_string());
    }
}

#[test]
fn metrics_count_answers_and_sum_the_store() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    for path in ["/", "/application/none", "/application/other", "/nope"] {
        server.get(path);
    }
    let answer = server.get("/metrics");
    assert_eq!(answer.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = &answer.body;
    for line in [
        "elephant_http_answers_total{route=\"/\",status=\"2xx\"} 1",
        "elephant_http_answers_total{route=\"/application/{id}\",status=\"4xx\"} 2",
        "elephant_http_answers_total{route=\"none\",status=\"4xx\"} 1",
        "elephant_http_seconds_count{route=\"/application/{id}\"} 2",
        "elephant_http_connections 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    let of = |name: &str| -> f64 {
        let sample = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        sample.trim().parse().unwrap()
    };
    let json = |path: &str| -> serde_json::Value { serde_json::from_str(&server.get(path).body).unwrap() };
    let not_judged = json("/api/v1/not_judged");
    let counts = [
        ("elephant_store_unjudged_applications ", &not_judged["not_judged"]["applications_count"]),
        ("elephant_store_unreadable_files ", &not_judged["not_judged"]["files_count"]),
    ];
    for (name, count) in counts {
        assert_eq!(Some(of(name)), count.as_f64(), "{name}: {not_judged}");
    }
    let troubles = json("/api/v1/groups/trouble");
    let groups = troubles["groups"][0]["groups"].as_array().unwrap();
    assert!(!groups.is_empty(), "{troubles}");
    for group in groups {
        let kind = format!("elephant_store_troubled_applications{{kind={},", group["key"]);
        let samples = text.lines().filter_map(|line| line.strip_prefix(&kind));
        let sum: f64 = samples.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
        assert_eq!(Some(sum), group["applications_count"].as_f64(), "{group}");
    }
    assert!(text.contains("elephant_store_queue_used_gb_hours{queue=\"root.default\"} "), "{text}");
    assert!(text.ends_with("# EOF\n"));
    // Each family has its type once, before its samples.
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let kinds = format!("# TYPE {} ", family.unwrap_or(name));
        assert_eq!(text.matches(&kinds).count(), 1, "{line}");
    }
}
