//! Addresses of requests to a server.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;

use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::{self, Options, Progress};
use elephant_heuristics::BUILT_IN;
use elephant_input::named::Named;
use elephant_ruleset::RuleSet;
use elephant_serve::{Access, Server};
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;
use tempfile::TempDir;

/// A server that answers without a socket, and a store with one application.
struct Asked {
    server: Server,
    store: Store,
    _folder: TempDir,
}

const LOG: &str = concat!(
    r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}"#,
    "\n",
    r#"{"Event":"SparkListenerApplicationStart","App Name":"etl","App ID":"app-1","Timestamp":1000,"User":"alice"}"#,
    "\n",
    r#"{"Event":"SparkListenerApplicationEnd","Timestamp":61000}"#,
    "\n",
);

thread_local! {
    static ASKED: RefCell<Asked> = RefCell::new(Asked::new());
}

/// A route, the parts of its path and its query: the answer is content, or says what is wrong with the request. Nothing of it
/// is a fault of the server.
pub fn questions(bytes: &[u8]) {
    let Some((route, target)) = bytes.split_first() else { return };
    let target = String::from_utf8_lossy(target);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let status = ASKED.with_borrow(|asked| {
        let parts: Vec<&str> = path.split('/').collect();
        asked.server.answer_to((usize::from(*route), &parts), query, &asked.store)
    });
    assert!([200, 300, 303, 400, 403, 404, 503].contains(&status), "{status} for route {route}, {target:?}");
}

impl Asked {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app-1");
        fs::write(&log, LOG).unwrap();
        let place = Place::from(OsString::from(folder.path().join("fleet.db")));
        let rules = RuleSet::new(BUILT_IN).unwrap();
        let mut store = Store::create(&place).unwrap();
        store.set_reports(elephant_report::json_of);
        let (options, progress) = (Options::default(), Progress::default());
        let basis = Basis { rules: &rules, prices: None };
        let paths = [log];
        let known = (rules.hash(), Timestamp::from_millis(0));
        let kept = store.keep_changed(Named::from(&paths[..]), &Limits::default(), known, |named, keeper| {
            engine::analyze_keeping(named, basis, &options, &progress, (keeper, None)).0
        });
        kept.unwrap().1.unwrap();
        let server = Server::bind(elephant_serve::Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            access: Access::default(),
            store: place,
            rules,
            limits: elephant_serve::Limits::default(),
            ingest: None,
            posting: None,
            public_url: None,
            tell: |_| (),
        });
        Self { server: server.unwrap(), store, _folder: folder }
    }
}
