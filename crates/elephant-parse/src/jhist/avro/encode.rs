//! A minimal writer of Avro's binary encoding for tests.

#[derive(Debug, Clone, Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    /// An `int`, a `long`, the index of a symbol or branch, or the item count of a block.
    pub(super) fn long(mut self, value: i64) -> Self {
        let mut rest = (value << 1 ^ value >> 63).cast_unsigned();
        while rest >= 0x80 {
            self.0.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push((rest & 0x7f) as u8);
        self
    }

    /// A `string` or `bytes`.
    pub(super) fn text(self, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.long(len(value)).raw(value)
    }

    /// Raw bytes.
    pub(super) fn raw(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    /// An array or map of encoded items; every other block includes its size.
    pub(super) fn blocks(mut self, items: &[Vec<u8>], block_len: usize) -> Self {
        for (number, block) in items.chunks(block_len).enumerate() {
            let bytes = block.concat();
            let count = len(block);
            self =
                if number.is_multiple_of(2) { self.long(count) } else { self.long(-count).long(len(&bytes)) };
            self = self.raw(bytes);
        }
        self.long(0)
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

fn len<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap()
}
