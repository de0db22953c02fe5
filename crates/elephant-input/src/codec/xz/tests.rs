use std::io::{Cursor, ErrorKind, Read, Write};

use lzma_rust2::{CheckType, XzOptions, XzWriter};

use crate::codec::{Codec, decode};

fn xz(bytes: &[u8], check: CheckType) -> Vec<u8> {
    let mut options = XzOptions::with_preset(1);
    options.set_check_sum_type(check);
    let mut writer = XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let mut stream = decode(Box::new(Cursor::new(packed.to_vec())));
    assert_eq!(stream.codec(), Codec::Xz);
    let mut all = Vec::new();
    stream.read_to_end(&mut all).map(|_| all).map_err(|error| error.kind())
}

#[test]
fn every_common_checksum_is_verified() {
    let text = b"one line of a log\n".repeat(3000);
    for check in [CheckType::None, CheckType::Crc32, CheckType::Crc64] {
        assert_eq!(unpacked(&xz(&text, check)).unwrap(), text, "{check:?}");
    }
    assert_eq!(unpacked(&xz(b"", CheckType::Crc64)).unwrap(), b"");
    assert_eq!(unpacked(&xz(&text, CheckType::Sha256)), Err(ErrorKind::Unsupported));
}

#[test]
fn streams_and_padding_follow_each_other() {
    let streams =
        [xz(b"one ", CheckType::Crc32), xz(b"", CheckType::Crc64), xz(b"two", CheckType::Crc64)].concat();
    assert_eq!(unpacked(&streams).unwrap(), b"one two");
    assert_eq!(unpacked(&[&streams[..], &[0; 8]].concat()).unwrap(), b"one two");
}

#[test]
fn any_changed_or_missing_byte_is_an_error() {
    let text = b"one line of a log\n".repeat(20);
    let packed = xz(&text, CheckType::Crc64);
    for at in 6..packed.len() {
        let mut changed = packed.clone();
        changed[at] ^= 0x10;
        assert!(unpacked(&changed).is_err(), "{at}");
        assert_eq!(unpacked(&packed[..at]), Err(ErrorKind::UnexpectedEof), "{at}");
    }
}
