//! Event logs and histories in zip and tar files: complete, truncated and damaged.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use elephant_engine::engine::discover;
use elephant_input::inventory::{Inventory, Source, SourcePath};
use elephant_input::kind::{Reason, SourceKind};
use elephant_input::part::Part;
use proptest::prelude::*;
use tempfile::TempDir;

const EVENT: &str = "{\"Event\":\"SparkListenerTaskStart\"}\n";
const CONF: &str = "<configuration></configuration>";
const HISTORY: &str = "Avro-Json\n{\"type\":\"record\",\"name\":\"Event\"}\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn len(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

/// A zip file as Java's `ZipOutputStream` writes it: deflated, with the lengths after each member. Also returns the
/// offset of the central directory.
fn java_zip(members: &[(&str, &[u8])]) -> (Vec<u8>, usize) {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let packed = deflate(bytes);
        let at = len(&all);
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        all.extend(b"PK\x03\x04\x14\0\x08\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        all.extend([&name_len[..], &[0, 0], name.as_bytes(), &packed, b"PK\x07\x08"].concat());
        let numbers = [crc(bytes), len(&packed), len(bytes)].map(u32::to_le_bytes).concat();
        all.extend(&numbers);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\x08\x08\x08\0\0\0\0\0");
        directory.extend([&numbers, &name_len[..], &[0; 12]].concat());
        directory.extend([&at.to_le_bytes()[..], name.as_bytes()].concat());
    }
    let start = all.len();
    all.extend(&directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    all.extend(
        [&count[..], &count, &len(&directory).to_le_bytes(), &u32::try_from(start).unwrap().to_le_bytes()]
            .concat(),
    );
    all.extend([0, 0]);
    (all, start)
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, bytes) in members {
        if name.len() > 100 {
            all.extend(tar_member("././@LongLink", b'L', name.as_bytes()));
        }
        all.extend(tar_member(name.get(..100).unwrap_or(name), b'0', bytes));
    }
    all.extend([0; 1024]);
    all
}

fn tar_member(name: &str, kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend(bytes);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

fn written(name: &str, bytes: &[u8]) -> (TempDir, Inventory) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(name), bytes).unwrap();
    let inventory = discover(&[root.path().to_path_buf()]);
    (root, inventory)
}

fn read(source: &Source) -> (Vec<u8>, Option<io::Error>) {
    let mut all = Vec::new();
    for part in &source.parts {
        if let Err(error) = part.open().unwrap().read_to_end(&mut all) {
            return (all, Some(error));
        }
    }
    (all, None)
}

fn whole(source: &Source) -> Vec<u8> {
    let (all, error) = read(source);
    assert!(error.is_none(), "{}: {error:?}", source.path);
    all
}

fn names(inventory: &Inventory, root: &Path) -> Vec<String> {
    let name = |path: &SourcePath| path.as_path().strip_prefix(root).unwrap().display().to_string();
    inventory.histories.iter().map(|source| name(&source.path)).collect()
}

fn lines(count: u32) -> Vec<u8> {
    let line = |i: u32| {
        format!("{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":{}}}\n", i.wrapping_mul(77_777))
    };
    (0..count).flat_map(|i| line(i).into_bytes()).collect()
}

#[test]
fn every_log_layout_is_read_from_every_archive_type() {
    let packed = zstd::encode_all(EVENT.as_bytes(), 1).unwrap();
    let members: &[(&str, &[u8])] = &[
        ("__MACOSX/d/._eventlog", b"\0\x05\x16\x07"),
        ("d/.DS_Store", b"\0\0\0\x01Bud1"),
        ("d/databricks_pricing.json", b"{}"),
        ("d/eventlog", b"{\"Event\":\"SparkListenerJobEnd\"}\n"),
        ("d/eventlog-2022-01-14--17-00.gz", &gzip(EVENT.as_bytes())),
        ("eventlog_v2_local-1/appstatus_local-1", b""),
        ("eventlog_v2_local-1/events_10_local-1.zstd", &packed),
        ("eventlog_v2_local-1/events_2_local-1.zstd", &packed),
        ("local-2", EVENT.as_bytes()),
    ];
    let (zip, _) = java_zip(members);
    let tar = tar(members);
    for (name, bytes) in [
        ("x", zip.clone()),
        ("x", gzip(&zip)),
        ("x", tar.clone()),
        ("x", gzip(&tar)),
        ("x", zstd::encode_all(tar.as_slice(), 1).unwrap()),
    ] {
        let (root, inventory) = written(name, &bytes);
        assert!(inventory.failures.is_empty(), "{:?}", inventory.failures);
        assert_eq!(names(&inventory, root.path()), ["x!d", "x!eventlog_v2_local-1", "x!local-2"]);
        let [databricks, rolling, single] = inventory.histories.as_slice() else { unreachable!() };
        assert_eq!(whole(databricks), [EVENT.as_bytes(), members[3].1].concat());
        assert_eq!(whole(rolling), EVENT.repeat(2).as_bytes());
        assert_eq!(rolling.log.missing_parts, [1, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(rolling.log.in_progress, Some(false));
        assert_eq!(whole(single), EVENT.as_bytes());
        assert_eq!(single.log.application_id.as_deref(), Some("local-2"));
        assert_eq!(single.parts[0].name(), root.path().join("x!local-2").display().to_string());
        assert_eq!(single.parts[0].file(), root.path().join("x"));
        assert!(single.parts[0].stored_len().unwrap() > 0);
        assert_eq!((inventory.found, inventory.skipped.len()), (1, 0));
    }
}

#[test]
fn mapreduce_histories_find_their_conf_in_the_archive() {
    let members: &[(&str, &[u8])] = &[
        ("done/job_1_0001-1-u-n.jhist", HISTORY.as_bytes()),
        ("done/job_1_0001_conf.xml", CONF.as_bytes()),
        ("done/.job_1_0001_conf.xml.crc", b"crc\0"),
    ];
    let (_root, inventory) = written("done.tgz", &gzip(&tar(members)));
    let source = &inventory.histories[0];
    assert_eq!(source.kind, Some(SourceKind::JhistJson));
    let conf = inventory.conf_for(source.path.as_path(), "job_1_0001").unwrap();
    let mut text = String::new();
    conf.part.open().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, CONF);
}

#[test]
fn long_tar_names_are_read_completely() {
    let name = format!("{}/local-1.inprogress", "d".repeat(150));
    let (_root, inventory) = written("x.tar", &tar(&[(&name, EVENT.as_bytes())]));
    assert!(inventory.histories[0].parts[0].name().ends_with(&name));
    assert_eq!(inventory.histories[0].log.in_progress, Some(true));
}

#[test]
fn archives_without_logs_are_skipped() {
    let (zip, _) = java_zip(&[("readme.txt", b"text\n")]);
    let (nested, _) = java_zip(&[("inner.zip", &zip)]);
    for (bytes, reason) in [
        (zip, Reason::ArchiveWithoutHistory),
        (java_zip(&[]).0, Reason::ArchiveWithoutHistory),
        (nested, Reason::Archive),
    ] {
        let (_root, inventory) = written("x.zip", &bytes);
        assert!(inventory.histories.is_empty() && inventory.failures.is_empty());
        assert_eq!((inventory.skipped[0].reason, inventory.skipped[0].count), (reason, 1));
    }
}

#[test]
fn members_that_are_not_read_are_named() {
    let (inner, _) = java_zip(&[("local-2", EVENT.as_bytes())]);
    let (nested, _) = java_zip(&[("local-1", EVENT.as_bytes()), ("inner.zip", &inner)]);
    let (_root, inventory) = written("x.zip", &nested);
    assert_eq!((inventory.histories.len(), inventory.failures.len()), (1, 0));
    let told = inventory.notices[0].error.to_string();
    assert!(told.contains("x.zip!inner.zip was not read"), "{told}");

    let sparse =
        [tar_member("local-1", b'S', EVENT.as_bytes()), tar(&[("local-2", EVENT.as_bytes())])].concat();
    let (_root, inventory) = written("x.tar", &sparse);
    assert_eq!((inventory.histories.len(), inventory.failures.len()), (1, 1));
    let told = inventory.failures[0].error.to_string();
    assert!(told.contains("x.tar!local-1") && told.contains("sparse"), "{told}");
}

#[test]
fn a_tar_file_appended_to_another_is_read() {
    let both = [tar(&[("local-1", EVENT.as_bytes())]), tar(&[("local-2", EVENT.as_bytes())])].concat();
    let (_root, inventory) = written("x.tar", &both);
    assert_eq!(inventory.histories.len(), 2);
}

#[test]
fn a_member_that_the_directory_lost_is_a_failure() {
    let (zip, directory) = java_zip(&[("local-1", EVENT.as_bytes()), ("local-2", EVENT.as_bytes())]);
    let with_change = |at: usize| {
        let mut zip = zip.clone();
        zip[at] ^= 3;
        written("x.zip", &zip).1
    };
    let wrong_place_of_the_first = with_change(directory + 42);
    assert_eq!(wrong_place_of_the_first.failures.len(), 1, "{:?}", wrong_place_of_the_first.histories);
    // A wrong number of members loses none if the directory lists them all.
    assert_eq!(with_change(zip.len() - 12).histories.len(), 2);
}

#[test]
fn zip_without_its_directory_gives_members_before_the_cut() {
    let text = lines(3000);
    let (zip, directory) = java_zip(&[("local-1", EVENT.as_bytes()), ("local-2", &text)]);
    for cut in [directory, directory + 20, zip.len() - 5] {
        let (root, inventory) = written("x.zip", &zip[..cut]);
        assert_eq!(names(&inventory, root.path()), ["x.zip!local-1", "x.zip!local-2"], "{cut}");
        assert_eq!(whole(&inventory.histories[0]), EVENT.as_bytes());
        assert_eq!(whole(&inventory.histories[1]), text);
    }
    let (_root, inventory) = written("x.zip", &zip[..directory / 2]);
    assert_eq!(whole(&inventory.histories[0]), EVENT.as_bytes());
    assert!(inventory.histories[0].log.archive_truncated);
    let (part, error) = read(&inventory.histories[1]);
    assert!(text.starts_with(&part) && part.len() > text.len() / 4);
    assert_eq!(error.unwrap().kind(), io::ErrorKind::UnexpectedEof);
    let (_root, inventory) = written("x.zip", &zip[..20]);
    assert_eq!(inventory.failures.len(), 1);
    assert!(inventory.failures[0].error.to_string().contains("it is truncated in its first member"));
}

#[test]
fn truncated_tar_gives_members_before_the_cut() {
    let text = lines(3000);
    let tar = tar(&[("local-1", EVENT.as_bytes()), ("local-2", &text)]);
    let packed = gzip(&tar);
    for bytes in [&tar[..tar.len() / 2], &packed[..packed.len() / 2]] {
        let (_root, inventory) = written("x", bytes);
        let [first, second] = inventory.histories.as_slice() else { unreachable!("two logs") };
        assert_eq!(whole(first), EVENT.as_bytes());
        assert!(first.log.archive_truncated);
        let (part, error) = read(second);
        assert!(text.starts_with(&part) && part.len() > text.len() / 4);
        assert_eq!(error.unwrap().kind(), io::ErrorKind::UnexpectedEof);
    }
}

#[test]
fn damaged_member_is_reported() {
    let text = lines(3000);
    let (mut zip, directory) = java_zip(&[("local-1", &text)]);
    // The checksum in the central directory.
    zip[directory + 16] ^= 1;
    let (_root, inventory) = written("x.zip", &zip);
    let (all, error) = read(&inventory.histories[0]);
    assert_eq!(all, text);
    assert!(error.unwrap().to_string().contains("checksum"));
}

#[cfg(unix)]
#[test]
fn archive_from_a_pipe_is_buffered_and_read() {
    let root = tempfile::tempdir().unwrap();
    let pipe = root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (zip, _) = java_zip(&[("local-1", EVENT.as_bytes()), ("local-2", EVENT.as_bytes())]);
    for (bytes, expected) in [(zip, 2), (EVENT.repeat(3000).into_bytes(), 1)] {
        let mut inventory = discover(std::slice::from_ref(&pipe));
        let to = pipe.clone();
        let writer = std::thread::spawn(move || fs::write(to, bytes).unwrap());
        inventory.look_at_streams(&elephant_base::limits::Limits::default(), elephant_parse::identify);
        assert_eq!(inventory.histories.len(), expected);
        for source in &inventory.histories {
            assert_eq!(source.kind, Some(SourceKind::SparkEventLog));
            assert!(source.named_by_user);
            assert_eq!(source.parts[0].file(), pipe);
            assert!(whole(source).len() >= EVENT.len());
        }
        writer.join().unwrap();
    }
}

#[test]
fn real_archives_are_read() {
    let Some(root) = elephant_testing::shared("corpus/spark-archive") else { return };
    let count = |sub: &str| -> Vec<usize> {
        let inventory = discover(&[root.join(sub)]);
        assert!(inventory.failures.is_empty());
        // The last line of a part may be truncated.
        let lines = |part: &Part| io::read_to_string(part.open().unwrap()).unwrap().lines().count();
        inventory.histories.iter().map(|source| source.parts.iter().map(lines).sum()).collect()
    };
    let sync = "synccomputingcode__spark_log_parser";
    assert_eq!(count("groupon__sparklint"), [289]);
    assert_eq!(count(&format!("{sync}/databricks.zip")), [1162]);
    assert_eq!(count(&format!("{sync}/databricks.json.gz")), [1162]);
    assert_eq!(count(&format!("{sync}/databricks-rollover.zip")), [16945]);
    assert_eq!(count(&format!("{sync}/bad/missing-part.zip")), [3]);
    assert_eq!(count(&format!("{sync}/bad/duplicate-part.tgz")), [4, 1]);
}

#[test]
fn zip_of_our_own_run_has_the_same_bytes() {
    let Some(folder) = elephant_testing::shared("runs/spark-3.5.9/one-run-every-codec") else { return };
    let plain = fs::read(folder.join("app-20261121090628-0000")).unwrap();
    let inventory = discover(&[folder]);
    assert_eq!(inventory.histories.len(), 7);
    for source in &inventory.histories {
        assert!(whole(source) == plain, "{}", source.path);
        assert_eq!(source.log.application_id.as_deref(), Some("app-20261121090628-0000"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damage_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), keep in any::<prop::sample::Index>()) {
        let members: &[(&str, &[u8])] = &[("a/local-1", EVENT.as_bytes()), ("local-2", &lines(50))];
        for mut bytes in [java_zip(members).0, tar(members), gzip(&tar(members))] {
            let place = at.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(keep.index(bytes.len()).max(300));
            let (_root, inventory) = written("x", &bytes);
            for source in &inventory.histories {
                read(source);
            }
        }
    }
}
