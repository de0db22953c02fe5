//! Decompression by content: whatever the file name, read size or damage, no decodable byte is lost.
use std::io::{self, Cursor, ErrorKind, Read, Write};

use elephant_input::codec::{self, Codec, Decoded};
use proptest::prelude::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn decode(bytes: impl Into<Vec<u8>>) -> Decoded {
    codec::decode(Box::new(Cursor::new(bytes.into())))
}

/// All decoded bytes, and the error if decoding fails.
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

fn decoded(bytes: impl Into<Vec<u8>>) -> Vec<u8> {
    let (all, error) = drain(decode(bytes), 1 << 16);
    assert!(error.is_none(), "{error:?}");
    all
}

/// Lines that compress about as well as a history.
fn lines(count: u32) -> Vec<u8> {
    let line = |i: u32| {
        let noise = i.wrapping_mul(2_654_435_761);
        format!(
            "{{\"type\":\"TASK_STARTED\",\"event\":{{\"taskid\":\"task_1_1_m_{i:06}\",\"startTime\":{noise}}}}}\n"
        )
    };
    (0..count).flat_map(|i| line(i).into_bytes()).collect()
}

/// Returns its bytes in portions of one size.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(self.1);
        self.0.read(&mut out[..len])
    }
}

#[test]
fn all_members_of_a_gzip_stream_are_read() {
    let stream = [gzip(b"one "), gzip(b""), gzip(b"two "), gzip(b"three")].concat();
    assert_eq!(decoded(stream), b"one two three");
}

#[test]
fn all_frames_of_a_zstd_stream_are_read() {
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let stream = [skippable.clone(), zstd(b"one "), zstd(b""), skippable, zstd(b"two")].concat();
    let stream = decode(stream);
    assert_eq!(stream.codec(), Codec::Zstd);
    assert_eq!(drain(stream, 100).0, b"one two");
}

#[test]
fn nested_compression_is_decoded() {
    let stream = decode(gzip(&zstd(&gzip(b"core"))));
    assert_eq!(stream.codec(), Codec::Gzip);
    assert_eq!(drain(stream, 100).0, b"core");
    let mut nested = b"core".to_vec();
    for _ in 0..10 {
        nested = gzip(&nested);
    }
    assert_eq!(Codec::from_magic(&decoded(nested)), Codec::Gzip, "the depth is bounded");
}

#[test]
fn short_streams_are_returned_unchanged() {
    for bytes in [&b""[..], b"\x1f", b"\x28\xb5\x2f", b"plain"] {
        let stream = decode(bytes);
        assert_eq!(stream.codec(), Codec::Plain);
        assert_eq!(drain(stream, 2).0, bytes);
    }
}

#[test]
fn trailing_data_after_the_last_member_is_harmless() {
    let behind_zeros = [&[0; 5000][..], b"garbage"].concat();
    for tail in [&b"\0"[..], &[0; 5000], b"garbage", &behind_zeros] {
        for packed in [gzip(b"data"), zstd(b"data")] {
            let mut stream = decode([&packed, tail].concat());
            assert!(!stream.tail().is_there());
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            assert_eq!(all, b"data");
            assert!(stream.tail().is_there());
            assert_eq!(stream.tail().is_foreign(), tail.ends_with(b"garbage"));
        }
    }
    let mut whole = decode(gzip(b"data"));
    io::copy(&mut whole, &mut io::sink()).unwrap();
    assert!(!whole.tail().is_there());
}

#[test]
fn truncated_stream_gives_the_data_before_the_cut() {
    let text = lines(20_000);
    for (packed, at_most_lost) in [(gzip(&text), 1 << 16), (zstd(&text), 1 << 18)] {
        let (all, error) = drain(decode(&packed[..packed.len() * 3 / 4]), 1 << 18);
        assert_eq!(error.unwrap().kind(), ErrorKind::UnexpectedEof);
        assert!(text.starts_with(&all));
        assert!(all.len() + at_most_lost > text.len() * 3 / 4, "{} of {}", all.len(), text.len());
    }
}

#[test]
fn cut_in_a_later_member_gives_the_members_before_it() {
    for (first, second) in [(gzip(b"first"), gzip(&lines(50))), (zstd(b"first"), zstd(&lines(50)))] {
        for kept in [6, second.len() / 2, second.len() - 1] {
            let (all, error) = drain(decode([&first, &second[..kept]].concat()), 1 << 16);
            assert!(all.starts_with(b"first"));
            assert_eq!(error.unwrap().kind(), ErrorKind::UnexpectedEof, "{kept}");
        }
    }
}

#[test]
fn damage_in_the_middle_gives_the_data_before_it() {
    let text = lines(20_000);
    // Zstandard decodes blocks of 128 KiB, gzip single bytes.
    for (mut packed, at_most_lost) in [(gzip(&text), 1 << 14), (zstd(&text), 1 << 17)] {
        let middle = packed.len() / 2;
        let (before, _) = drain(decode(&packed[..middle]), 1 << 16);
        packed[middle..middle + 64].fill(0xff);
        // One huge read must not discard the bytes decoded before the error.
        let (all, error) = drain(decode(packed), 1 << 22);
        assert!(error.is_some());
        let intact = all.iter().zip(&text).take_while(|(a, b)| a == b).count();
        assert!(intact + at_most_lost > before.len(), "{intact} of {}", before.len());
    }
}

#[test]
fn error_is_returned_once_after_the_peeked_bytes() {
    let packed = gzip(&lines(100));
    let mut stream = decode(&packed[..packed.len() / 2]);
    let seen = stream.peek(1 << 20);
    assert!(seen.complete);
    let seen = seen.bytes.to_vec();
    assert!(!seen.is_empty());
    let (all, error) = drain(&mut stream, 64);
    assert_eq!(all, seen);
    assert!(error.is_some());
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn peek_returns_at_most_the_requested_bytes() {
    let mut stream = decode("0123456789");
    assert_eq!(stream.peek(4).bytes, b"0123");
    assert!(!stream.peek(4).complete);
    assert_eq!(stream.read(&mut [0; 3]).unwrap(), 3);
    assert_eq!(stream.peek(100).bytes, b"3456789");
    assert!(stream.peek(100).complete);
    assert!(stream.peek(7).complete);
    assert_eq!(drain(stream, 100).0, b"3456789");
}

#[test]
fn file_names_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, codec) in [
        ("really.gz", zstd(b"x"), Codec::Zstd),
        ("really.zst", gzip(b"x"), Codec::Gzip),
        ("really.jhist.gz", b"x".to_vec(), Codec::Plain),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let stream = codec::open(&path).unwrap();
        assert_eq!(stream.codec(), codec);
        assert_eq!(drain(stream, 10).0, b"x");
    }
    let missing = codec::open(&folder.path().join("missing")).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
}

proptest! {
    #[test]
    fn decoding_does_not_depend_on_how_bytes_arrive(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..5),
        use_zstd in any::<bool>(),
        arrive in 1..5000usize,
        leave in 1..5000usize,
        peek in 0..70_000usize,
    ) {
        let pack = if use_zstd { zstd } else { gzip };
        let packed: Vec<u8> = parts.iter().flat_map(|part| pack(part)).collect();
        // Data that happens to look compressed would be decoded again.
        let whole = [b"#".to_vec(), parts.concat()].concat();
        let packed = [pack(b"#"), packed].concat();
        let mut stream = codec::decode(Box::new(Drip(Cursor::new(packed), arrive)));
        prop_assert_eq!(stream.peek(peek).bytes, &whole[..peek.min(whole.len())]);
        let (all, error) = drain(stream, leave);
        prop_assert!(error.is_none());
        prop_assert_eq!(all, whole);
    }

    #[test]
    fn decoder_never_panics(
        magic in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"]),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        drain(decode([magic, &bytes].concat()), 777);
    }
}
