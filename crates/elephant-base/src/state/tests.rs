use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::{Reader, State};

#[derive(Debug, Clone, PartialEq, State)]
struct Named {
    name: String,
    place: Option<u32>,
    #[state(skip = 7)]
    forgotten: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, State)]
struct Wrapped(u128);

#[derive(Debug, Clone, PartialEq, State)]
enum Kind {
    Nothing,
    Pair(u64, bool),
    Fields { text: Box<str>, values: Vec<f64> },
}

const NAMES: [&str; 2] = ["map", "reduce"];

#[derive(Debug, Clone, PartialEq, State)]
struct Rows<'a, T> {
    #[state(known = NAMES)]
    of: &'static str,
    shown: Cow<'a, Path>,
    values: Vec<T>,
}

fn written<T: State>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

/// Reads back what was written; every shorter text is no such value.
fn back<T: State>(value: &T) -> T {
    let bytes = written(value);
    for len in 0..bytes.len() {
        assert!(T::take(&mut Reader::new(&bytes[..len])).is_none());
    }
    let mut reader = Reader::new(&bytes);
    let value = T::take(&mut reader).unwrap();
    assert_eq!(reader.left(), 0);
    value
}

#[test]
fn structs_and_enums_come_back() {
    let named = Named { name: "ä\0".to_owned(), place: Some(300), forgotten: 1 };
    assert_eq!(back(&named), Named { forgotten: 7, ..named.clone() });
    assert_eq!(back(&Wrapped(u128::MAX)), Wrapped(u128::MAX));
    let all =
        [Kind::Nothing, Kind::Pair(u64::MAX, true), Kind::Fields { text: "a".into(), values: vec![0.1] }];
    assert_eq!(back(&all.to_vec()), all);
    assert!(Kind::take(&mut Reader::new(&[3])).is_none() && bool::take(&mut Reader::new(&[2])).is_none());
}

#[test]
fn known_names_are_those_of_the_program() {
    let values = |of| Rows { of, shown: Path::new("a").into(), values: vec![1u32, 300] };
    assert_eq!(back(&values("reduce")), values("reduce"));
    assert!(Rows::<u32>::take(&mut Reader::new(&written(&values("other")))).is_none());
}

/// Values that take no byte would count without an end.
#[test]
fn no_list_is_longer_than_its_bytes() {
    assert!(Vec::<()>::take(&mut Reader::new(&written(&u64::MAX))).is_none());
    assert!(Vec::<Wrapped>::take(&mut Reader::new(&[200, 1, 0])).is_none());
}

#[test]
fn floats_come_back_bit_by_bit() {
    for bits in [0, 1, 1 << 63, f64::NAN.to_bits() | 1, f64::INFINITY.to_bits(), 0.1f64.to_bits()] {
        assert_eq!(back(&f64::from_bits(bits)).to_bits(), bits);
    }
}

#[test]
fn numbers_that_do_not_fit_and_absurd_lengths_are_refused() {
    let many = written(&u64::MAX);
    assert!(u32::take(&mut Reader::new(&many)).is_none() && u16::take(&mut Reader::new(&many)).is_none());
    assert!(u64::take(&mut Reader::new(&[0xff; 40])).is_none());
    assert!(Vec::<u64>::take(&mut Reader::new(&many)).is_none());
    assert!(String::take(&mut Reader::new(&many)).is_none());
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff/b"));
    assert_eq!(back(&path.to_path_buf()), path);
    assert_eq!(back(&Cow::Borrowed(path)).into_owned(), path);
}

proptest! {
    #[test]
    fn numbers_and_texts_come_back(small in any::<u16>(), large in any::<u128>(), signed in any::<i64>(), text in ".*") {
        let map: BTreeMap<String, (u16, i64)> = [(text.clone(), (small, signed))].into();
        prop_assert_eq!(back(&map), map);
        prop_assert_eq!(back(&large), large);
        let name: Cow<'static, str> = text.into();
        prop_assert_eq!(back(&name), name);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Vec::<Kind>::take(&mut Reader::new(&bytes));
        let _ = Rows::<Named>::take(&mut Reader::new(&bytes));
        let _ = BTreeMap::<String, Vec<()>>::take(&mut Reader::new(&bytes));
    }
}
