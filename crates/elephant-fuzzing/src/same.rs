//! A stream that returns small portions, and a comparison that shows the first difference.

use std::fmt::Debug;
use std::io::{self, Cursor, Read};

/// Maximum number of bytes read from a stream, because a few bytes can unpack to any amount.
const MAX_BYTES: usize = 4 << 20;

/// Returns a few bytes at a time, like a slow pipe.
pub struct Drip(pub Cursor<Vec<u8>>);

impl Drip {
    pub fn new(bytes: &[u8]) -> Self {
        Self(Cursor::new(bytes.to_vec()))
    }
}

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let portion = usize::try_from(1 + self.0.position() * 7 % 61).unwrap();
        let len = out.len().min(portion);
        self.0.read(&mut out[..len])
    }
}

/// The result of reading a stream.
#[derive(Debug)]
pub struct Drained {
    pub bytes: Vec<u8>,
    pub error: Option<io::Error>,
    /// Whether reading stopped before the end.
    pub stopped: bool,
}

/// Reads a stream in portions of this size, to its end or up to `MAX_BYTES`.
pub fn drain(mut stream: impl Read, portion: usize) -> Drained {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; portion]);
    while bytes.len() < MAX_BYTES {
        match stream.read(&mut buffer) {
            Ok(0) => return Drained { bytes, error: None, stopped: false },
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) => return Drained { bytes, error: Some(error), stopped: false },
        }
    }
    Drained { bytes, error: None, stopped: true }
}

/// Panics if `a` and `b` differ, and shows the text around the first difference.
pub fn assert_same(what: &str, a: &impl Debug, b: &impl Debug) {
    let (a, b) = (format!("{a:?}"), format!("{b:?}"));
    if a == b {
        return;
    }
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let near = text.as_bytes().get(at.saturating_sub(150)..).unwrap_or_default();
        String::from_utf8_lossy(near.get(..400).unwrap_or(near)).into_owned()
    };
    panic!("{what}:\n  {}\n  {}", around(&a), around(&b));
}
