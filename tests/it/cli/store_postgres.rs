//! Stores on a server of PostgreSQL.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::store::{histories, printed, run, text};
use elephant_testing::certificate::certificate;
use elephant_testing::postgres::{GUARDED, PASSWORD, encrypting_server, server};

/// Every question, with what it writes to.
const QUESTIONS: &[&[&str]] = &[
    &[],
    &["--format", "html"],
    &["--by", "user"],
    &["--by", "queue", "--format", "csv"],
    &["--by", "job", "--top", "1000"],
    &["--by", "day"],
    &["--by", "engine"],
    &["--by", "status"],
    &["--by", "trouble"],
    &["--by", "rule"],
    &["--by", "node", "--top", "1000"],
    &["--by", "node", "--since", "2026-11-01T07:00:00Z"],
    &["--by", "user", "--until", "2026-11-21"],
    &["--by", "rule", "--user", "a*", "--engine", "mapreduce"],
    &["--by", "job", "--name", "/^[a-m]/"],
    &["--worst", "--top", "1000"],
    &["--since", "2020-01-01"],
    &["--app", "*"],
];

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.args(arguments).env("LC_ALL", "C.UTF-8").env_remove("PGPASSWORD").stdin(Stdio::null());
    command
}

fn errors(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn both_databases_give_the_same_answers() {
    let Some(server) = server() else { return };
    let folder = histories();
    let (file, address) = (text(&folder.path().join("x.db")), server.database());
    let line = |store: &str| {
        let line = printed(&["ingest", "--quiet", "--store", store, &text(folder.path())]);
        // The file of one of them lies among the histories, and is counted as skipped.
        line.replace(store, "the store").split('·').nth(1).unwrap().to_owned()
    };
    assert_eq!(line(&file), line(&address));
    let prices = text(&folder.path().join("prices.yaml"));
    std::fs::write(&prices, "currency: EUR\ngb_hour: 0.5\n---\nfor: {user: a*}\ngb_hour: 2\n").unwrap();
    for question in QUESTIONS {
        for priced in [&[][..], &["--prices", &prices]] {
            let answer = |store: &str| {
                let arguments = [&["history", "--store", store], *question, priced].concat();
                printed(&arguments)
            };
            assert_eq!(answer(&file), answer(&address), "{question:?}");
        }
    }
    let exported = |store: &str, to: &str| {
        let to = folder.path().join(to);
        printed(&["export", "--store", store, "--output", &text(&to), "--format", "ndjson"]);
        let files = elephant_testing::files_below(&to);
        let name = |path: &std::path::Path| text(path.strip_prefix(&to).unwrap());
        files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(exported(&file, "one"), exported(&address, "other"));
}

#[test]
fn what_is_wrong_with_a_server_is_told_without_the_password() {
    let Some(server) = server() else { return };
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let told = |address: &str| {
        let message = errors(&command(&["history", "--store", address]).output().unwrap());
        assert!(!message.contains("secret"), "{message}");
        message
    };
    let dead = told(&format!("postgres://etl:secret@127.0.0.1:{free}/fleet"));
    assert!(dead.contains(&format!("postgres://etl@127.0.0.1:{free}/fleet")), "{dead}");
    assert!(dead.contains("is the server running"), "{dead}");
    let other = told(&format!("{}?colour=secret", server.database()));
    assert!(other.contains("the address is not understood"), "{other}");
    let missing = told(&server.address("postgres", "no_such_database"));
    assert!(missing.contains("does not exist") && missing.contains("createdb"), "{missing}");
    let database = server.database();
    let empty = told(&database);
    assert!(empty.contains("elephant-rs ingest --store"), "{empty}");
    let name = database.rsplit('/').next().unwrap();
    let guarded = server.address(GUARDED, name);
    let asked = told(&guarded);
    assert!(asked.contains("PGPASSWORD"), "{asked}");
    let wrong = told(&guarded.replace(GUARDED, &format!("{GUARDED}:secret")));
    assert!(wrong.contains("refuses the user"), "{wrong}");
    let encrypted = told(&format!("{database}?sslmode=require"));
    assert!(encrypted.contains("sslmode=disable"), "{encrypted}");
    // The right password leads to the tables.
    let right = command(&["history", "--store", &guarded]).env("PGPASSWORD", PASSWORD).output().unwrap();
    assert!(errors(&right).contains("there is no store"));
}

#[test]
fn a_server_that_encrypts_is_asked_if_its_certificate_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let Some((known, key)) = certificate(folder.path()) else { return };
    let Some(server) = encrypting_server((&known, &key)) else { return };
    let with_authority = |authority: &str, arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("SSL_CERT_FILE", authority).env("PGPASSWORD", PASSWORD).output().unwrap()
    };
    let (known, database) = (text(&known), server.database());
    let required = format!("{database}?sslmode=require");
    let stored = with_authority(&known, &["ingest", "--quiet", "--store", &required, "testdata/hadoop1"]);
    assert!(stored.status.success(), "{}", String::from_utf8_lossy(&stored.stderr));
    // The server lets this user in over TLS only.
    let guarded = server.address(GUARDED, database.rsplit('/').next().unwrap());
    server.sql(&database, &format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {GUARDED}"));
    let history = |authority: &str, more: &str| {
        with_authority(authority, &["history", "--store", &format!("{guarded}{more}")])
    };
    let answer = history(&known, "");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let open = errors(&history(&known, "?sslmode=disable"));
    assert!(open.contains("no encryption"), "{open}");
    let unknown = errors(&history("/dev/null", ""));
    assert!(unknown.contains("certificate") && !unknown.contains(PASSWORD), "{unknown}");
}

#[test]
fn other_databases_and_missing_rights_are_told() {
    let Some(server) = server() else { return };
    let database = server.database();
    server.sql(&database, "CREATE TABLE notes (note TEXT)");
    let foreign = errors(&run(&["ingest", "--store", &database, "testdata/hadoop1"]));
    assert!(foreign.contains("a database of another program"), "{foreign}");
    let latin = "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'";
    server.sql("postgres", latin);
    let latin =
        errors(&run(&["ingest", "--store", &server.address("postgres", "latin"), "testdata/hadoop1"]));
    assert!(latin.contains("LATIN1") && latin.contains("UTF8"), "{latin}");
    // Readers need no right to write.
    let database = server.database();
    printed(&["ingest", "--quiet", "--store", &database, "testdata/hadoop1"]);
    let name = database.rsplit('/').next().unwrap();
    let guarded = server.address(GUARDED, name);
    let with_password = |arguments: &[&str]| command(arguments).env("PGPASSWORD", PASSWORD).output().unwrap();
    let denied = errors(&with_password(&["history", "--store", &guarded]));
    assert!(denied.contains("permission denied") && denied.contains("grant"), "{denied}");
    server.sql(&database, &format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {GUARDED}"));
    assert!(with_password(&["history", "--store", &guarded]).status.success());
    let denied = errors(&with_password(&["prune", "--store", &guarded, "--before", "2026-01-01"]));
    assert!(denied.contains("permission denied"), "{denied}");
    server.sql(&database, "UPDATE store SET version = 99");
    let newer = errors(&run(&["history", "--store", &database]));
    assert!(newer.contains("version 99") && newer.contains("install a newer one"), "{newer}");
}

fn ingest(store: &str, path: &str) -> Child {
    let mut command = command(&["ingest", "--quiet", "--jobs", "1", "--store", store, path]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn worst(store: &str) -> String {
    printed(&["history", "--store", store, "--worst", "--top", "1000", "--format", "csv"])
}

#[test]
fn a_connection_that_breaks_off_is_made_again() {
    let Some(server) = server() else { return };
    let folder = histories();
    let (database, path) = (server.database(), text(folder.path()));
    let mut child = ingest(&database, &path);
    let name = database.rsplit('/').next().unwrap();
    let terminate = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}' AND application_name = \
         'elephant-rs'"
    );
    let mut broken = 0;
    while child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(150));
        if broken < 3 {
            broken += server.sql("postgres", &terminate).parse::<u32>().unwrap();
        }
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{broken}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(broken > 0);
    let reference = server.database();
    printed(&["ingest", "--quiet", "--store", &reference, &path]);
    assert_eq!(worst(&database), worst(&reference));
}

#[test]
fn two_writers_at_once_and_a_reader_do_not_disturb_each_other() {
    let Some(server) = server() else { return };
    let folder = histories();
    let (database, path) = (server.database(), text(folder.path()));
    // Both make the tables, and read the same files.
    let writers = [ingest(&database, &path), ingest(&database, &path)];
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let reference = server.database();
    printed(&["ingest", "--quiet", "--store", &reference, &path]);
    for question in [&["--by", "user"][..], &["--by", "node"], &["--worst", "--top", "1000"]] {
        let answer = |store: &str| printed(&[&["history", "--store", store], question].concat());
        assert_eq!(answer(&database), answer(&reference));
    }
    // Another program is in the middle of a change.
    let change = "BEGIN; SELECT pg_advisory_xact_lock(1701602672); UPDATE application SET score = 0; SELECT pg_sleep(6); \
                  ROLLBACK";
    let before = worst(&database);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| server.sql(&database, change));
        sleep(Duration::from_secs(1));
        assert_eq!(worst(&database), before);
        assert!(!writer.is_finished(), "the reader waited");
    });
}
