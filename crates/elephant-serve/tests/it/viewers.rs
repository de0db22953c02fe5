//! Who asks, and what they may see.

use std::time::{Duration, Instant};

use elephant_engine::results::ApplicationReport;
use elephant_serve::{Access, Ingest, Options, Viewers};
use elephant_store::{Place, Store};
use tempfile::TempDir;

use super::client::{Answer, Running, options};
use super::stores;

const RULES: &str = "
- viewers: [root]
  all: true
- viewers: ['*']
  own: true
  queues: [public]
";

/// A store with applications of two users, one of them in a queue that everyone may see.
fn of_two_users() -> (Place, TempDir) {
    let apps = [("a_1", "alice", "secret"), ("b_1", "bob", "secret"), ("b_2", "bob", "public")];
    let apps = apps.map(|(id, user, queue)| {
        let mut app = ApplicationReport::blank(id);
        app.name = Some(format!("job of {user} {id}"));
        (app.user, app.queue) = (Some(user.to_owned()), Some(queue.to_owned()));
        app.sources = vec![format!("{id}.log")];
        app
    });
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    Store::create(&place).unwrap().fill(apps.into_iter(), 10).unwrap();
    (place, folder)
}

/// A server that trusts this machine as the proxy, or another machine.
fn server(place: Place, folder: &TempDir, proxy: &str, with_rows: bool) -> Running {
    let rows = folder.path().join("rows.yaml");
    std::fs::write(&rows, RULES).unwrap();
    let viewers = Viewers::told_by("X-Forwarded-User").unwrap();
    let viewers = if with_rows { viewers.with_rows(&rows).unwrap() } else { viewers };
    let access =
        Access { proxies: vec![proxy.parse().unwrap()], viewers: Some(viewers), ..Access::default() };
    Running::start(Options { access, ..options(place) })
}

fn as_user(server: &Running, path: &str, user: &str) -> Answer {
    server.ask("GET", path, &format!("X-Forwarded-User: {user}\r\n"))
}

/// Pages and answers that show single applications or sums over them.
const SHOWING: [&str; 9] = [
    "/",
    "/search",
    "/search?q=job",
    "/nodes",
    "/rules",
    "/api/v1/summary",
    "/api/v1/applications",
    "/api/v1/jobs",
    "/api/v1/groups/user",
];

#[test]
fn viewers_see_their_rows_only() {
    let (place, folder) = of_two_users();
    let server = server(place, &folder, "127.0.0.1", true);
    for path in SHOWING {
        let alice = as_user(&server, path, "alice");
        assert_eq!(alice.status, 200, "{path}: {alice:?}");
        assert!(!alice.body.contains("b_1"), "{path}");
        // Answers that are kept for others are not given to them.
        let root = as_user(&server, path, "root");
        let bob = as_user(&server, path, "bob");
        assert!(!bob.body.contains("a_1") && root.status == 200, "{path}");
    }
    let count =
        |user| as_user(&server, "/api/v1/summary", user).json()["total"]["applications_count"].clone();
    assert_eq!(
        (count("root"), count("alice"), count("bob"), count("carol")),
        (3.into(), 2.into(), 2.into(), 1.into())
    );
    for (path, user, status) in [
        ("/application/b_1", "alice", 404),
        ("/application/b_2", "alice", 200),
        ("/application/b_1", "root", 200),
        ("/api/v1/applications/b_1", "alice", 404),
        ("/user/bob", "carol", 200),
        ("/user/alice", "carol", 404),
        ("/queue/secret", "carol", 404),
        ("/rest/job?id=b_1", "alice", 404),
        ("/compare?a=b_1&b=b_2", "alice", 404),
        ("/metrics", "alice", 403),
        ("/metrics", "root", 200),
        ("/readyz", "alice", 200),
    ] {
        assert_eq!(as_user(&server, path, user).status, status, "{path} as {user}");
    }
    let own = as_user(&server, "/me", "alice");
    assert_eq!((own.status, own.header("location")), (303, "/user/alice"));
    assert_eq!(as_user(&server, "/me", "bob").header("location"), "/user/bob");
}

#[test]
fn who_is_not_named_by_the_proxy_sees_nothing() {
    let (place, folder) = of_two_users();
    let behind = server(place.clone(), &folder, "127.0.0.1", true);
    for path in SHOWING {
        assert_eq!(behind.get(path).status, 403, "{path}");
    }
    // Probes and metrics of operators have no login.
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(behind.get(path).status, 200, "{path}");
    }
    let twice = "X-Forwarded-User: alice\r\nX-Forwarded-User: root\r\n";
    assert_eq!(behind.ask("GET", "/", twice).status, 403);
    // Someone who is not the proxy cannot name himself.
    let other = server(place, &folder, "192.0.2.1", true);
    assert_eq!(as_user(&other, "/", "root").status, 403);
}

#[test]
fn without_rows_everyone_sees_all() {
    let (place, folder) = of_two_users();
    let server = server(place, &folder, "127.0.0.1", false);
    let count = as_user(&server, "/api/v1/summary", "carol").json()["total"]["applications_count"].clone();
    assert_eq!(count, 3);
    assert_eq!(as_user(&server, "/me", "carol").header("location"), "/user/carol");
    assert_eq!(server.get("/").status, 403);
}

#[test]
fn probes_are_answered_under_any_name() {
    let (place, _folder) = of_two_users();
    let server = Running::start(options(place));
    assert_eq!(server.ask("GET", "/healthz", "Host: 10.1.2.3:8750\r\n").status, 200);
    assert_eq!(server.ask("GET", "/readyz", "Host: 10.1.2.3:8750\r\n").status, 200);
    assert_eq!(server.ask("GET", "/metrics", "Host: 10.1.2.3:8750\r\n").status, 403);
    assert_eq!(server.get("/me").status, 404);
}

#[test]
fn pages_have_their_public_address() {
    let (place, _folder) = of_two_users();
    let public_url = Some("https://elephant.example/".parse().unwrap());
    let server = Running::start(Options { public_url, ..options(place) });
    let page = server.get("/search?q=a%20b");
    assert_eq!(page.header("link"), "<https://elephant.example/search?q=a%20b>; rel=\"canonical\"");
    let description = server.get("/api/v1/openapi.json").json();
    assert_eq!(description["servers"][0]["url"], "https://elephant.example");
    assert_eq!(server.get("/api/v1/summary").header("link"), "");
}

#[test]
fn what_goes_wrong_with_histories_is_told_to_those_who_see_all() {
    let (place, folder) = of_two_users();
    let rows = folder.path().join("rows.yaml");
    std::fs::write(&rows, RULES).unwrap();
    let viewers = Viewers::told_by("X-Forwarded-User").unwrap().with_rows(&rows).unwrap();
    let access =
        Access { proxies: vec!["127.0.0.1".parse().unwrap()], viewers: Some(viewers), ..Access::default() };
    let turn = || Err("cannot read the histories of bob".to_owned());
    let ingest = Some(Ingest { every: Duration::from_secs(3600), turn: Box::new(turn) });
    let server = Running::start(Options { access, ingest, ..options(place) });
    let begin = Instant::now();
    while !as_user(&server, "/", "root").body.contains("the histories of bob") {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!as_user(&server, "/", "alice").body.contains("the histories of bob"));
}
