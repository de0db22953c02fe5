//! The block codecs of Spark event logs: handmade frames, real files, and every kind of damage.

use std::io::{self, Cursor, ErrorKind, Read, Write};

use elephant_input::codec::{self, Codec, Decoded};
use proptest::prelude::*;
use twox_hash::XxHash32;

const BLOCK: usize = 1000;
const END_MARK: &[u8] = b"LZ4Block\x10\0\0\0\0\0\0\0\0\0\0\0\0";

fn lz4_block(bytes: &[u8], stored: bool) -> Vec<u8> {
    let packed = if stored { bytes.to_vec() } else { lz4_flex::block::compress(bytes) };
    let method = if stored { 0x10 } else { 0x20 };
    // Java stores a block that does not get shorter.
    if !stored && packed.len() >= bytes.len() {
        return lz4_block(bytes, true);
    }
    let numbers = [
        u32::try_from(packed.len()).unwrap(),
        u32::try_from(bytes.len()).unwrap(),
        XxHash32::oneshot(0x9747_b28c, bytes) & 0x0fff_ffff,
    ];
    [b"LZ4Block", &[method | 5][..], &numbers.map(u32::to_le_bytes).concat(), &packed].concat()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut all: Vec<u8> = bytes.chunks(BLOCK).flat_map(|block| lz4_block(block, false)).collect();
    all.extend(END_MARK);
    all
}

fn lz4_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn snappy(bytes: &[u8]) -> Vec<u8> {
    let block = |block: &[u8]| {
        let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
        [&u32::try_from(packed.len()).unwrap().to_be_bytes()[..], &packed].concat()
    };
    let mut all = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    all.extend(bytes.chunks(BLOCK).flat_map(block));
    all
}

fn lzf_chunk(kind: u8, lens: &[usize], bytes: &[u8]) -> Vec<u8> {
    let lens = lens.iter().flat_map(|len| u16::try_from(*len).unwrap().to_be_bytes());
    [b'Z', b'V', kind].into_iter().chain(lens).chain(bytes.iter().copied()).collect()
}

/// Stored and compressed chunks in turn; compressed chunks contain only literals unless data repeats.
fn lzf(bytes: &[u8]) -> Vec<u8> {
    let pack = |chunk: &[u8]| -> Vec<u8> {
        if chunk.len() > 10 && chunk.iter().all(|byte| *byte == chunk[0]) {
            return [&[0, chunk[0]][..], &literals(&chunk[1..])].concat();
        }
        literals(chunk)
    };
    let chunk = |(i, chunk): (usize, &[u8])| {
        let packed = pack(chunk);
        match i % 2 {
            0 => lzf_chunk(1, &[packed.len(), chunk.len()], &packed),
            _ => lzf_chunk(0, &[chunk.len()], chunk),
        }
    };
    bytes.chunks(BLOCK).enumerate().flat_map(chunk).collect()
}

fn literals(bytes: &[u8]) -> Vec<u8> {
    let run = |run: &[u8]| [&[u8::try_from(run.len() - 1).unwrap()][..], run].concat();
    bytes.chunks(32).flat_map(run).collect()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKERS: [(Codec, Pack); 4] =
    [(Codec::Lz4, lz4), (Codec::Lz4Frame, lz4_frame), (Codec::Snappy, snappy), (Codec::Lzf, lzf)];

fn decode(bytes: impl Into<Vec<u8>>) -> Decoded {
    codec::decode(Box::new(Cursor::new(bytes.into())))
}

fn drain(mut stream: impl Read, portion: usize) -> (Vec<u8>, Option<io::Error>) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; portion]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (all, None),
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) => return (all, Some(error)),
        }
    }
}

fn lines(count: u32) -> Vec<u8> {
    let line = |i: u32| format!("{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":{i}}}\n").into_bytes();
    (0..count).flat_map(line).collect()
}

#[test]
fn every_codec_returns_the_original_bytes() {
    let text = lines(500);
    for (codec, pack) in PACKERS {
        let stream = decode(pack(&text));
        assert_eq!(stream.codec(), codec);
        let (all, error) = drain(stream, 777);
        assert!(error.is_none(), "{codec}: {error:?}");
        assert!(all == text, "{codec}");
    }
}

#[test]
fn concatenated_streams_are_one_stream() {
    for (codec, pack) in PACKERS {
        let joined = [pack(b"one "), pack(b""), pack(b"two")].concat();
        let (all, error) = drain(decode(joined), 100);
        assert!(error.is_none(), "{codec}: {error:?}");
        assert_eq!(all, b"one two", "{codec}");
    }
}

#[test]
fn padding_after_the_end_is_ignored() {
    for (codec, pack) in PACKERS {
        let mut stream = decode([pack(b"data"), vec![0; 5000]].concat());
        let (all, error) = drain(&mut stream, 100);
        assert!(error.is_none(), "{codec}: {error:?}");
        assert_eq!(all, b"data", "{codec}");
        assert!(stream.tail().is_there(), "{codec}");
    }
}

#[test]
fn running_application_writes_no_end_mark() {
    let text = lines(100);
    let packed = lz4(&text);
    let (all, error) = drain(decode(&packed[..packed.len() - END_MARK.len()]), 100);
    assert!(error.is_none());
    assert_eq!(all, text);
}

#[test]
fn truncated_stream_gives_every_complete_block() {
    let text = lines(100);
    for (codec, pack) in PACKERS {
        let packed = pack(&text);
        let mut longest = 0;
        for cut in 8..packed.len() {
            let (all, error) = drain(decode(&packed[..cut]), 1 << 16);
            assert!(text.starts_with(&all), "{codec} cut at {cut}");
            assert!(all.len() >= longest, "{codec} cut at {cut}");
            longest = all.len();
            if let Some(error) = error {
                assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{codec} cut at {cut}: {error}");
            }
        }
        assert!(longest + BLOCK >= text.len() || codec == Codec::Lz4Frame, "{codec}");
    }
}

#[test]
fn damage_is_reported_with_its_position() {
    let text = lines(100);
    let first = lz4_block(&text[..BLOCK], false);
    let second = first.len();
    let mut flipped = lz4(&text);
    flipped[second + 17] ^= 1;
    let (all, error) = drain(decode(flipped), 100);
    assert_eq!(all, text[..BLOCK]);
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(
        error.to_string(),
        format!("the block at byte {second} of the compressed data is damaged: its checksum does not match")
    );
    let garbage = [first, b"something else altogether".to_vec()].concat();
    let (all, error) = drain(decode(garbage), 100);
    assert_eq!(all, text[..BLOCK]);
    assert_eq!(error.unwrap().kind(), ErrorKind::InvalidData);
}

#[test]
fn lengths_from_the_file_are_not_trusted() {
    let snappy_header = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
    for (bytes, kind) in [
        ([&b"LZ4Block\x2f"[..], &[0xff; 12]].concat(), ErrorKind::InvalidData),
        ([&b"LZ4Block\x2f"[..], &[0, 0, 0, 1, 0, 0, 0, 2, 9, 9, 9, 0]].concat(), ErrorKind::UnexpectedEof),
        ([&snappy_header[..], &[0x7f, 0xff, 0xff, 0xff, 1]].concat(), ErrorKind::InvalidData),
        (
            [&snappy_header[..], &[0, 0, 0, 6, 0xff, 0xff, 0xff, 0x0f, 0, b'x']].concat(),
            ErrorKind::InvalidData,
        ),
        (b"ZV\x01\xff\xff\xff\xff\0a".to_vec(), ErrorKind::UnexpectedEof),
        (b"ZV\x01\0\x02\0\x09\0a".to_vec(), ErrorKind::InvalidData),
    ] {
        let (all, error) = drain(decode(bytes.clone()), 100);
        assert!(all.is_empty());
        assert_eq!(error.unwrap().kind(), kind, "{}", bytes.escape_ascii());
    }
}

#[test]
fn one_run_is_the_same_in_every_codec() {
    let Some(folder) = elephant_testing::shared("runs/spark-3.5.9/one-run-every-codec") else { return };
    let plain = std::fs::read(folder.join("app-20261121090628-0000")).unwrap();
    for (suffix, codec) in [
        ("gz", Codec::Gzip),
        ("zstd", Codec::Zstd),
        ("lz4", Codec::Lz4),
        ("snappy", Codec::Snappy),
        ("lzf", Codec::Lzf),
    ] {
        let stream = codec::open(&folder.join(format!("app-20261121090628-0000.{suffix}"))).unwrap();
        assert_eq!(stream.codec(), codec);
        let (all, error) = drain(stream, 1 << 16);
        assert!(error.is_none(), "{suffix}: {error:?}");
        assert!(all == plain, "{suffix}");
    }
}

#[test]
fn real_files_of_every_codec_decode_to_complete_lines() {
    let Some(folder) = elephant_testing::shared("runs") else { return };
    let suffixes = ["lz4", "snappy", "lzf", "zstd"];
    let mut seen = 0;
    for path in elephant_testing::files_below(&folder) {
        if !path.extension().is_some_and(|suffix| suffixes.iter().any(|known| suffix == *known)) {
            continue;
        }
        let (all, error) = drain(codec::open(&path).unwrap(), 1 << 16);
        assert!(error.is_none(), "{}: {error:?}", path.display());
        assert!(all.starts_with(b"{\"Event\":") && all.ends_with(b"}\n"), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 5);
}

proptest! {
    #[test]
    fn decoding_does_not_depend_on_read_size(
        bytes in prop::collection::vec(any::<u8>(), 1..5000),
        portion in 1..3000usize,
    ) {
        // Data that happens to look compressed would be decoded again.
        let whole = [b"#".to_vec(), bytes].concat();
        for (_, pack) in PACKERS {
            let (all, error) = drain(decode(pack(&whole)), portion);
            prop_assert!(error.is_none());
            prop_assert_eq!(&all, &whole);
        }
    }

    #[test]
    fn damage_never_panics_and_keeps_preceding_data(
        at in 0..4000usize,
        flip in 1..=255u8,
        len in 0..4000usize,
    ) {
        let text = lines(80);
        for (_, pack) in PACKERS {
            let mut packed = pack(&text);
            packed.truncate(len.max(20));
            let at = 16 + at % packed.len().saturating_sub(16).max(1);
            if let Some(byte) = packed.get_mut(at) {
                *byte ^= flip;
            }
            drain(decode(packed), 500);
        }
    }

    #[test]
    fn decoder_never_panics(
        magic in prop::sample::select(vec![
            &b"LZ4Block\x25"[..], b"LZ4Block\x15\x05\0\0\0\x05\0\0\0", b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0",
            b"ZV\x01\0", b"ZV\0\0", b"\x04\x22\x4d\x18",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        drain(decode([magic, &bytes].concat()), 777);
    }
}
