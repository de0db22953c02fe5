//! Discovery on real file systems: links, loops, pipes, unusual names, missing permissions.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use elephant_base::limits::Limits;
use elephant_base::units::Millis;
use elephant_engine::engine::discover;
use elephant_input::codec::Codec;
use elephant_input::error::InputError;
use elephant_input::inventory::{Inventory, SourcePath};
use elephant_input::kind::{Reason, SourceKind};
use tempfile::TempDir;

const HISTORY: &str = "Avro-Json\n{\"type\":\"record\",\"name\":\"Event\"}\n";
const CONF: &str = "<?xml version=\"1.0\"?><configuration></configuration>";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file and creates its parent folders.
fn write(root: &Path, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = root.join(Path::new(name.as_ref()));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn below(root: &Path) -> Inventory {
    discover(&[root.to_path_buf()])
}

/// The paths of the histories below `root`.
fn histories(inventory: &Inventory, root: &Path) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    inventory.histories.iter().map(|source| name(source.path.as_path())).collect()
}

fn skipped(inventory: &Inventory) -> Vec<(Reason, u64)> {
    inventory.skipped.iter().map(|skipped| (skipped.reason, skipped.count)).collect()
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn done_folder_matches_histories_with_confs() {
    let root = folder();
    for (day, job) in [("2018/05/17/000000", "job_1_0001"), ("2018/05/18/000000", "job_1_0002")] {
        write(root.path(), format!("{day}/{job}-1-user-a b-2-1-1-SUCCEEDED-default-1.jhist"), HISTORY);
        write(root.path(), format!("{day}/{job}_conf.xml"), CONF);
        write(root.path(), format!("{day}/.{job}_conf.xml.crc"), "crc\0");
        write(root.path(), format!("copy/{job}_conf.xml"), CONF);
    }
    let inventory = below(root.path());
    assert_eq!(inventory.histories.len(), 2);
    assert_eq!(inventory.confs.len(), 4);
    assert_eq!(skipped(&inventory), [(Reason::Checksum, 2)]);
    assert_eq!(inventory.found, 8);
    for (source, job) in inventory.histories.iter().zip(["job_1_0001", "job_1_0002"]) {
        assert_eq!(source.kind, Some(SourceKind::JhistJson));
        assert!(!source.named_by_user);
        let conf = inventory.conf_for(source.path.as_path(), job).unwrap();
        assert_eq!(conf.job_id.as_deref(), Some(job));
        assert_eq!(conf.path.parent(), source.path.as_path().parent());
    }
}

#[test]
fn staging_folder_has_every_application_master_attempt() {
    let root = folder();
    for run in [1, 2] {
        write(root.path(), format!("job_1_0001/job_1_0001_{run}.jhist"), HISTORY);
    }
    write(root.path(), "job_1_0001/job.xml", CONF);
    let inventory = below(root.path());
    assert_eq!(
        histories(&inventory, root.path()),
        ["job_1_0001/job_1_0001_1.jhist", "job_1_0001/job_1_0001_2.jhist"]
    );
    let conf = inventory.conf_for(inventory.histories[1].path.as_path(), "job_1_0001").unwrap();
    assert!(conf.path.ends_with("job.xml"));
}

#[test]
fn files_are_recognised_by_content_not_name() {
    let root = folder();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(HISTORY.as_bytes()).unwrap();
    write(root.path(), "a.zst", gzip.finish().unwrap());
    write(root.path(), "b.gz", zstd::encode_all(HISTORY.as_bytes(), 1).unwrap());
    write(root.path(), "c.jhist.gz", HISTORY);
    write(root.path(), "d.png", "Meta VERSION=\"1\" .\n");
    write(root.path(), "e.jhist", "Obj\u{1}");
    write(root.path(), "f.jhist", "");
    write(root.path(), "_SUCCESS", "");
    write(root.path(), ".DS_Store", "\0\0\0\x01Bud1");
    write(root.path(), "g", "{\"Event\":\"SparkListenerLogStart\"}\n");
    let long_comment = format!("<!--{}-->\n{HISTORY}", "licence\n".repeat(2000));
    write(root.path(), "h", long_comment);
    write(root.path(), "i", format!("<!--{}-->\n{HISTORY}", "licence\n".repeat(20_000)));
    let inventory = below(root.path());
    let seen: Vec<_> =
        inventory.histories.iter().map(|source| (source.kind.unwrap(), source.codec.unwrap())).collect();
    assert_eq!(
        seen,
        [
            (SourceKind::JhistJson, Codec::Gzip),
            (SourceKind::JhistJson, Codec::Zstd),
            (SourceKind::JhistJson, Codec::Plain),
            (SourceKind::Hadoop1History, Codec::Plain),
            (SourceKind::SparkEventLog, Codec::Plain),
            (SourceKind::JhistJson, Codec::Plain),
        ]
    );
    assert_eq!(
        skipped(&inventory),
        [
            (Reason::Empty, 1),
            (Reason::SuccessMarker, 1),
            (Reason::AvroContainer, 1),
            (Reason::Text, 1),
            (Reason::Binary, 1),
        ]
    );
    assert_eq!(inventory.found, 11);
}

#[test]
fn a_file_that_is_named_like_a_history_is_one_or_fails() {
    let root = folder();
    let event = "{\"Event\":\"SparkListenerJobStart\"}\n";
    // The first bytes of a log, up to some place in the line of its settings, are lost or were never written.
    let rest = format!("\"Spark Properties\":{{\"a\":\"{}\"}}}}\n{event}", "x".repeat(200_000));
    write(root.path(), "logs/log", &rest);
    write(root.path(), "logs/zeros", [vec![0; 70_000], rest.into_bytes()].concat());
    let utf16: Vec<u8> = format!("\u{feff}{HISTORY}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [
        ("job_1_0001-1-user-a-2-1-1-SUCCEEDED-default-1.jhist", &b"\x02the rest of an Avro file"[..]),
        ("job_1_0002_1.jhist", &utf16),
        ("app-20261121094318-0000.inprogress", &[0; 5000]),
        ("application_1_0003_2", b"\x80\x81"),
    ] {
        write(root.path(), format!("broken/{name}"), bytes);
    }
    for name in ["application_1_0001.log", "app-1.py", "job_1_0001.summary", "README.md"] {
        write(root.path(), format!("others/{name}"), "some words\n");
    }
    write(root.path(), "others/local-1", "");
    let inventory = below(root.path());
    assert_eq!(histories(&inventory, root.path()), ["logs/log", "logs/zeros"]);
    assert_eq!(skipped(&inventory), [(Reason::Empty, 1), (Reason::Text, 4)]);
    let named = |error: &InputError| matches!(error, InputError::NamedLikeHistory { .. });
    assert!(inventory.failures.iter().all(|failure| named(&failure.error)), "{:?}", inventory.failures);
    assert_eq!(inventory.failures.len(), 4);
}

#[test]
fn names_may_contain_spaces_and_non_utf8_bytes() {
    let root = folder();
    write(root.path(), "with blanks/job 1 .jhist", HISTORY);
    write(root.path(), OsStr::from_bytes(b"\xff\xfe/\xe9.jhist"), HISTORY);
    write(root.path(), OsStr::from_bytes(b"\xff\xfe/job_1_2_\xe9.xml"), CONF);
    let inventory = below(root.path());
    assert_eq!(inventory.histories.len(), 2);
    assert!(inventory.failures.is_empty());
    assert_eq!(inventory.histories[1].path.to_string().matches('\u{fffd}').count(), 3);
    assert_eq!(inventory.confs[0].job_id.as_deref(), Some("job_1_2"));
    let (mut decoded, _) = inventory.histories[1].open(elephant_parse::identify).unwrap();
    let mut text = String::new();
    decoded.read_to_string(&mut text).unwrap();
    assert_eq!(text, HISTORY);
}

#[test]
fn link_loops_end() {
    let root = folder();
    write(root.path(), "a/x.jhist", HISTORY);
    symlink(root.path(), root.path().join("a/up")).unwrap();
    symlink("../b", root.path().join("a/b")).unwrap();
    fs::create_dir(root.path().join("b")).unwrap();
    symlink("../a", root.path().join("b/a")).unwrap();
    symlink("self", root.path().join("self")).unwrap();
    let inventory = below(root.path());
    assert_eq!(inventory.histories.len(), 1);
    let failed: Vec<_> =
        inventory.failures.iter().map(|failure| failure.error.path().to_path_buf()).collect();
    assert_eq!(failed, [root.path().join("self")]);
}

#[test]
fn nested_links_are_followed_once() {
    let root = folder();
    for level in 0..30 {
        let here = root.path().join(format!("level{level}"));
        fs::create_dir(&here).unwrap();
        for link in ["l", "m"] {
            symlink(format!("../level{}", level + 1), here.join(link)).unwrap();
        }
    }
    write(root.path(), "level30/x.jhist", HISTORY);
    let inventory = below(root.path());
    assert_eq!((inventory.histories.len(), inventory.found), (1, 1));
    assert!(inventory.failures.is_empty());
}

#[test]
fn file_counts_once_however_it_is_reached() {
    let root = folder();
    let real = write(root.path(), "in/z.jhist", HISTORY);
    symlink("z.jhist", root.path().join("in/a.jhist")).unwrap();
    symlink("../in/z.jhist", root.path().join("in/b.jhist")).unwrap();
    symlink("in", root.path().join("also")).unwrap();
    assert_eq!(histories(&below(root.path()), root.path()).len(), 1);

    let inventory = below(&root.path().join("in"));
    assert_eq!(
        histories(&inventory, root.path()),
        ["in/z.jhist"],
        "the file itself rather than a link to it"
    );

    let dotted = root.path().join("in/../in/z.jhist");
    let linked = root.path().join("in/a.jhist");
    let inventory =
        discover(&[root.path().join("in"), real.clone(), real.clone(), dotted, linked, root.path().into()]);
    assert_eq!(inventory.histories.len(), 1);
    assert!(inventory.histories[0].named_by_user);
    assert_eq!(inventory.found, 1);
}

#[test]
fn hard_links_and_external_links_are_separate_files() {
    let (root, outside) = (folder(), folder());
    let real = write(outside.path(), "x.jhist", HISTORY);
    symlink(&real, root.path().join("1.jhist")).unwrap();
    symlink(&real, root.path().join("2.jhist")).unwrap();
    let kept = write(root.path(), "3.jhist", HISTORY);
    fs::hard_link(kept, root.path().join("4.jhist")).unwrap();
    assert_eq!(histories(&below(root.path()), root.path()), ["1.jhist", "3.jhist", "4.jhist"]);
}

#[test]
fn path_order_does_not_matter() {
    let root = folder();
    let paths: Vec<_> = ["b/1.jhist", "a/2.jhist", "a b/3.jhist", "a-b/4.jhist"]
        .map(|name| write(root.path(), name, HISTORY))
        .into();
    let mut named =
        vec![root.path().join("a"), root.path().join("a b"), root.path().join("a-b"), paths[0].clone()];
    let forward = histories(&discover(&named), root.path());
    named.reverse();
    assert_eq!(histories(&discover(&named), root.path()), forward);
    assert_eq!(forward, ["a b/3.jhist", "a-b/4.jhist", "a/2.jhist", "b/1.jhist"], "in byte order");
}

#[test]
fn pipe_or_socket_in_a_folder_is_not_opened() {
    let root = folder();
    mkfifo(&root.path().join("pipe.jhist"));
    symlink("pipe.jhist", root.path().join("link.jhist")).unwrap();
    let _listener = UnixListener::bind(root.path().join("socket")).unwrap();
    write(root.path(), "x.jhist", HISTORY);
    let inventory = below(root.path());
    assert_eq!(histories(&inventory, root.path()), ["x.jhist"]);
    assert_eq!(skipped(&inventory), [(Reason::SpecialFile, 3)]);
}

#[test]
fn named_pipe_is_read_as_a_stream() {
    let root = folder();
    let pipe = root.path().join("pipe");
    mkfifo(&pipe);
    let inventory = discover(std::slice::from_ref(&pipe));
    let source = &inventory.histories[0];
    assert_eq!((source.kind, source.named_by_user), (None, true));
    let writer = std::thread::spawn(move || fs::write(pipe, HISTORY).unwrap());
    let (mut decoded, kind) = source.open(elephant_parse::identify).unwrap();
    let mut text = String::new();
    decoded.read_to_string(&mut text).unwrap();
    writer.join().unwrap();
    assert_eq!((kind, text.as_str()), (SourceKind::JhistJson, HISTORY));
}

#[cfg(target_os = "linux")]
#[test]
fn process_substitution_is_read_as_a_stream() {
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(HISTORY.as_bytes()).unwrap();
    drop(writer);
    let inventory = discover(&[format!("/dev/fd/{}", reader.as_raw_fd()).into()]);
    assert!(inventory.failures.is_empty());
    assert_eq!(inventory.histories[0].open(elephant_parse::identify).unwrap().1, SourceKind::JhistJson);
}

#[test]
fn standard_input_counts_once() {
    let inventory = discover(&["-".into(), "-".into()]);
    assert_eq!(inventory.histories.len(), 1);
    assert_eq!(inventory.histories[0].path, SourcePath::Stdin(None));
    assert_eq!(inventory.found, 1);
}

#[test]
fn named_socket_is_an_error() {
    let root = folder();
    let socket = root.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let inventory = discover(&[socket]);
    assert!(matches!(inventory.failures[0].error, InputError::NotReadableAsFile { .. }));
}

#[test]
fn missing_path_is_an_error_and_others_are_read() {
    let root = folder();
    write(root.path(), "x.jhist", HISTORY);
    symlink("nowhere", root.path().join("dangling")).unwrap();
    let missing = root.path().join("no such file");
    let below_file = root.path().join("x.jhist/y");
    let inventory =
        discover(&[missing.clone(), root.path().into(), below_file, root.path().join("dangling")]);
    assert_eq!(inventory.histories.len(), 1);
    let seen: Vec<_> = inventory
        .failures
        .iter()
        .map(|f| (f.named_by_user, f.error.path().strip_prefix(root.path()).unwrap()))
        .collect();
    let expected = [(true, "dangling"), (false, "dangling"), (true, "no such file"), (true, "x.jhist/y")]
        .map(|(n, p)| (n, Path::new(p)));
    assert_eq!(seen, expected);
    assert!(matches!(inventory.failures[2].error, InputError::NotFound { .. }));
    assert!(inventory.failures[2].error.to_string().contains(&missing.display().to_string()));
    assert!(inventory.failures[0].error.to_string().contains("link may be broken"));
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_read() {
    let root = folder();
    let file = write(root.path(), "secret.jhist", HISTORY);
    write(root.path(), "locked/x.jhist", HISTORY);
    write(root.path(), "y.jhist", HISTORY);
    let locked = root.path().join("locked");
    for path in [&file, &locked] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let rights_bite = fs::File::open(&file).is_err();
    let inventory = below(root.path());
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    if !rights_bite {
        elephant_testing::skipped::note("the user has permission to read all files");
        return;
    }
    assert_eq!(histories(&inventory, root.path()), ["y.jhist"]);
    let failed: Vec<_> = inventory.failures.iter().map(|failure| failure.error.path()).collect();
    assert_eq!(failed, [locked.as_path(), file.as_path()]);
    assert!(inventory.failures[1].error.to_string().contains("permission denied"));
    assert!(inventory.failures.iter().all(|failure| !failure.named_by_user));
}

#[test]
fn stream_failing_at_once_is_an_error_and_later_a_history() {
    let root = folder();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(HISTORY.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    write(root.path(), "early.gz", &packed[..12]);
    write(root.path(), "late.gz", &packed[..packed.len() - 4]);
    let inventory = below(root.path());
    assert_eq!(histories(&inventory, root.path()), ["late.gz"]);
    assert!(matches!(inventory.failures[0].error, InputError::Undecodable { codec: Codec::Gzip, .. }));
}

#[test]
fn empty_folder_is_valid() {
    let root = folder();
    fs::create_dir_all(root.path().join("a/b")).unwrap();
    let inventory = below(root.path());
    assert_eq!((inventory.found, inventory.failures.len(), inventory.skipped.len()), (0, 0, 0));
    assert_eq!(discover(&[]).found, 0);
}

#[test]
fn many_files_are_inspected_in_batches_and_stay_in_order() {
    let root = folder();
    for i in 0..2500 {
        write(root.path(), format!("{i:04}"), if i % 2 == 0 { HISTORY } else { "text" });
    }
    let inventory = below(root.path());
    let expected: Vec<_> = (0..2500).step_by(2).map(|i| format!("{i:04}")).collect();
    assert_eq!(histories(&inventory, root.path()), expected);
    assert_eq!((skipped(&inventory), inventory.found), (vec![(Reason::Text, 1250)], 2500));
    assert!(inventory.skipped[0].path.ends_with("0001"));
}

#[cfg(target_os = "linux")]
#[test]
fn file_systems_without_files_are_searched_only_if_they_are_named() {
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/proc", root.path().join("kernel")).unwrap();
    std::os::unix::fs::symlink("/proc/version", root.path().join("version")).unwrap();
    let inventory = discover(&[root.path().to_path_buf()]);
    assert_eq!((inventory.found, inventory.failures.len()), (1, 0));
    let told = inventory.notices[0].error.to_string();
    assert!(told.contains("kernel was not searched: proc is a virtual file system"), "{told}");
    let inventory = discover(&["/proc/self/attr".into(), "/proc/version".into()]);
    assert!(inventory.found > 1 && inventory.notices.is_empty(), "{:?}", inventory.notices);
}

#[test]
fn the_time_limit_holds_for_the_search() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a"), "text").unwrap();
    let limits = Limits { time: Some(Millis::ZERO), ..Limits::default() };
    let inventory = elephant_input::discover::discover(
        [root.path().to_path_buf()].as_slice().into(),
        &limits,
        elephant_parse::identify,
    );
    assert_eq!(inventory.found, 0);
    let told = inventory.failures[0].error.to_string();
    assert!(told.contains("searched only partly") && told.contains("--max-time"), "{told}");
}
