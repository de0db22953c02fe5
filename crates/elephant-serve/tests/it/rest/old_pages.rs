//! Addresses of Dr. Elephant's pages.

use super::super::stores;
use super::of_executions;

#[test]
fn old_addresses_lead_to_pages_that_are_there() {
    let (server, _folder) = of_executions();
    let key = stores::executions()[0].job_key().as_str().to_owned();
    let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
    for (address, leads_to) in [
        ("/help", "/rules"),
        ("/help?topic=Mapper%20Skew", "/rules/mapper-skew"),
        ("/newhelp?topic=Mapper%20Data%20Skew", "/rules/mapper-skew"),
        ("/newhelp?topic=Shuffle%20%26%20Sort", "/rules/shuffle-sort"),
        ("/help?topic=Executor%20GC", "/rules/spark-executor-gc"),
        ("/help?topic=Exception", "/rules/job-exception"),
        ("/help?topic=Tez%20Mapper%20GC", "/rules/tez-mapper-gc"),
        ("/jobhistory", "/"),
        ("/newflowhistory?flow-def-id=nightly&select-graph-type=time", "/flow/nightly"),
        ("/flowhistory?flow-def-id=nightly", "/flow/nightly"),
        ("/new", "/"),
        ("/new/assets/x", "/"),
        ("/search?id=job_1_0001", "/application/job_1_0001"),
        ("/search?flow-exec-id=nightly/7", "/flow/nightly?run=7"),
        ("/compare?flow-exec-id1=nightly/7&flow-exec-id2=nightly/8", "/flow/nightly?run=8&with=7"),
    ] {
        let answer = server.get(address);
        assert_eq!((answer.status, answer.header("location")), (303, leads_to), "{address}");
        assert_eq!(server.get(leads_to).status, 200, "{leads_to}");
    }
    for address in ["/jobhistory", "/newjobhistory", "/search"] {
        let answer = server.get(&format!("{address}?job-def-id={key}"));
        assert_eq!(answer.status, 303, "{address}");
        let page = server.get(answer.header("location"));
        assert!(page.status == 200 && page.body.contains("job_1_0003"), "{page:?}");
    }
    for (address, status) in [
        ("/search?flow-exec-id=none", 404),
        ("/compare?flow-exec-id1=nightly/7&flow-exec-id2=none", 404),
        ("/compare?a=job_1_0001&b=application_1_0002", 200),
        ("/search?user=ann", 200),
    ] {
        assert_eq!(server.get(address).status, status, "{address}");
    }
}

#[test]
fn executions_of_two_flows_are_not_compared() {
    let mut apps = stores::executions();
    apps.push(stores::app(
        "job_1_0010",
        elephant_model::model::Engine::MapReduce,
        Some(["weekly", "1", "load"]),
    ));
    let (place, _folder) = stores::of(apps);
    let server = super::Running::start(super::options(place));
    assert_eq!(server.get("/compare?flow-exec-id1=nightly/7&flow-exec-id2=weekly/1").status, 400);
}
