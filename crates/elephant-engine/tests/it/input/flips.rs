//! Damaged compressed files and archives: whichever byte is changed or missing, the file is not mistaken for one that
//! may be skipped. If a checksum shows the damage, the report does, too.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use elephant_engine::engine::visit;
use elephant_parse::Level;
use lzma_rust2::{XzOptions, XzWriter};

use elephant_testing::make;

/// How a file was packed, and whether each byte is covered by a checksum.
struct Packed {
    name: &'static str,
    bytes: Vec<u8>,
    checked: bool,
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn snappy_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = snap::write::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.into_inner().unwrap()
}

fn zstd(bytes: &[u8], checksum: bool) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(checksum).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4_frame(bytes: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4_blocks(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut block = |packed: &[u8], bytes: &[u8]| {
        let sum = twox_hash::XxHash32::oneshot(0x9747_b28c, bytes) & 0x0fff_ffff;
        all.extend(b"LZ4Block\x25");
        for number in [u32::try_from(packed.len()).unwrap(), u32::try_from(bytes.len()).unwrap(), sum] {
            all.extend(number.to_le_bytes());
        }
        all.extend(packed);
    };
    for bytes in bytes.chunks(32 << 10) {
        block(&lz4_flex::block::compress(bytes), bytes);
    }
    all.extend(b"LZ4Block\x15\0\0\0\0\0\0\0\0\0\0\0\0");
    all
}

fn lzf(bytes: &[u8]) -> Vec<u8> {
    let chunk =
        |bytes: &[u8]| [b"ZV\0", &u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    bytes.chunks(1 << 15).flat_map(chunk).collect()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(name: &str, history: &[u8]) -> Vec<Packed> {
    let packed = |name, bytes, checked| Packed { name, bytes, checked };
    let zip = make::Zip::new().deflated(name, &deflate(history), history).finish();
    let stored = make::Zip::new().member(name, history).finish();
    let tar = make::tar(name, history, history.len() as u64);
    vec![
        packed("gzip", make::gzip(history), true),
        packed("bzip2", bzip2(history), true),
        packed("xz", xz(history), true),
        packed("zstd", zstd(history, true), true),
        packed("zstd without checksum", zstd(history, false), false),
        packed("lz4 frame", lz4_frame(history), true),
        packed("lz4 blocks", lz4_blocks(history), true),
        packed("snappy", make::snappy(history), false),
        packed("snappy frame", snappy_frame(history), true),
        packed("lzf", lzf(history), false),
        packed("zip", zip, true),
        packed("stored zip", stored, true),
        packed("gzipped tar", make::gzip(&tar), true),
        packed("tar", tar, false),
    ]
}

/// The results of a run: the applications, the problems, and how many files were skipped.
#[derive(Debug, PartialEq)]
struct Told {
    applications: Vec<String>,
    problems: Vec<String>,
    skipped: u64,
}

fn told(path: &PathBuf, bytes: &[u8]) -> Told {
    fs::write(path, bytes).unwrap();
    let folder = path.parent().unwrap().to_path_buf();
    let visited = visit(&[folder], |app, _| format!("{app:?}"));
    let problems = visited.problems.iter().filter(|entry| entry.problem.level >= Level::Warning);
    Told {
        applications: visited.applications.into_iter().map(|app| app.value).collect(),
        problems: problems.map(|entry| format!("{:?}", entry.problem)).collect(),
        skipped: visited.summary.files_skipped,
    }
}

fn histories() -> [(&'static str, Vec<u8>); 2] {
    let log = [make::spark_start(), make::stage(0, 0), make::stage(1, 0), make::spark_end()].concat();
    [("app-1", log.into_bytes()), ("job_1_0001-1-u-n.jhist", make::jhist(2).into_bytes())]
}

/// Checks `damage` on each packing of each history. It is given the number of the history, and returns damaged
/// copies with their names.
fn check(damage: impl Fn(&Packed, usize) -> Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let (mut silent, mut unnoticeable, mut tried) = (Vec::new(), 0, 0);
    for (number, (name, history)) in histories().into_iter().enumerate() {
        for packed in packed(name, &history) {
            let whole = told(&path, &packed.bytes);
            assert_eq!((whole.applications.len(), whole.skipped), (1, 0), "{}: {whole:?}", packed.name);
            for (what, damaged) in damage(&packed, number) {
                let told = told(&path, &damaged);
                let is_silent = told.problems == whole.problems
                    && (told.skipped > 0 || (packed.checked && told.applications != whole.applications));
                tried += 1;
                if is_silent && !packed.checked {
                    // Without a checksum, one bit can make the text of a whole block unrecognisable.
                    unnoticeable += 1;
                } else if is_silent {
                    let count = told.applications.len();
                    silent.push(format!(
                        "{name}, {}, {what} of {}: {count} applications, {} skipped",
                        packed.name,
                        packed.bytes.len(),
                        told.skipped
                    ));
                }
            }
        }
    }
    assert!(unnoticeable * 1000 < tried, "{unnoticeable} of {tried} vanish where there is no checksum");
    assert!(silent.is_empty(), "{} are silent:\n{}", silent.len(), silent.join("\n"));
}

#[test]
fn no_changed_byte_makes_a_file_vanish() {
    const FIRST_BLOCK: usize = 1000;
    // Each position in one of the two histories.
    check(|packed, history| {
        let changed = |at: usize| {
            let mask = [1u8 << (at % 8), 0xff][at / 8 % 2];
            let mut bytes = packed.bytes.clone();
            bytes[at] ^= mask;
            (format!("byte {at} ^ {mask:#x}"), bytes)
        };
        (history..packed.bytes.len().min(FIRST_BLOCK)).step_by(2).map(changed).collect()
    });
}

#[test]
fn no_cut_makes_a_file_vanish() {
    check(|packed, _| {
        // One byte is not the beginning of anything.
        let step = packed.bytes.len() / 200 + 1;
        // A tar file cannot be recognised before its first block is complete.
        let first = if packed.name == "tar" { 512 } else { 2 };
        // An empty stream of Snappy has only its header.
        let is_empty_stream =
            |cut: usize| matches!((packed.name, cut), ("snappy", 16) | ("snappy frame", 10));
        let cuts =
            (2..16).chain((16..packed.bytes.len()).step_by(step)).filter(|cut| *cut < packed.bytes.len());
        let cuts = cuts.filter(|cut| *cut >= first && !is_empty_stream(*cut));
        cuts.map(|cut| (format!("cut to {cut}"), packed.bytes[..cut].to_vec())).collect()
    });
}

#[test]
fn a_wrong_checksum_after_a_long_block_of_bzip2_is_noticed() {
    const CHECKSUM: usize = 10;
    // Runs make a block of 100 kB decode to 5 MB before its checksum is compared.
    let mut bytes = bzip2(&vec![b'x'; 10 << 20]);
    bytes[CHECKSUM] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let told = told(&folder.path().join("history"), &bytes);
    assert_eq!((told.skipped, told.problems.len()), (0, 1), "{told:?}");
}
