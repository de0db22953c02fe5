//! `State` for types of the standard library.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{Datelike, NaiveDate};

use super::{Reader, State};

/// Bits of a number in one byte; the highest bit says that more follow.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

macro_rules! unsigned {
    ($($kind:ty),+) => {$(
        /// Small numbers take one byte.
        impl State for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                let mut rest = *self;
                while rest >= <$kind>::from(MORE) {
                    to.push(rest.to_le_bytes()[0] | MORE);
                    rest >>= BITS;
                }
                to.push(rest.to_le_bytes()[0]);
            }

            fn take(from: &mut Reader<'_>) -> Option<Self> {
                let mut number: $kind = 0;
                let mut shift = 0;
                loop {
                    let byte = u8::take(from)?;
                    let part = <$kind>::from(byte & !MORE);
                    let shifted = part.checked_shl(shift).filter(|shifted| shifted >> shift == part)?;
                    number |= shifted;
                    if byte & MORE == 0 {
                        return Some(number);
                    }
                    shift += BITS;
                }
            }
        }
    )+};
}

unsigned!(u16, u32, u64, u128);

impl State for u8 {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(*self);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        from.bytes(1)?.first().copied()
    }
}

impl State for usize {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u64).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Self::try_from(u64::take(from)?).ok()
    }
}

macro_rules! fixed {
    ($($kind:ty: $len:literal),+) => {$(
        impl State for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut Reader<'_>) -> Option<Self> {
                Some(Self::from_le_bytes(from.bytes($len)?.try_into().ok()?))
            }
        }
    )+};
}

fixed!(i32: 4, i64: 8, f64: 8);

impl State for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// Nothing, for values that consist of one part only.
impl State for () {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut Reader<'_>) -> Option<Self> {
        Some(())
    }
}

impl State for NonZeroU16 {
    fn put(&self, to: &mut Vec<u8>) {
        self.get().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Self::new(u16::take(from)?)
    }
}

impl State for NaiveDate {
    fn put(&self, to: &mut Vec<u8>) {
        self.num_days_from_ce().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Self::from_num_days_from_ce_opt(i32::take(from)?)
    }
}

impl<T: State> State for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        if bool::take(from)? { Some(Some(T::take(from)?)) } else { Some(None) }
    }
}

impl<T: State> State for Reverse<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        T::take(from).map(Reverse)
    }
}

impl<T: State> State for Box<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.as_ref().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        T::take(from).map(Self::new)
    }
}

fn put_all<T: State>(values: &[T], to: &mut Vec<u8>) {
    values.len().put(to);
    for value in values {
        value.put(to);
    }
}

impl<T: State> State for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        put_all(self, to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let len = usize::take(from)?;
        // Each value takes a byte at least, so a wrong length cannot fill the memory, or count without an end.
        let most = (len <= from.left()).then(|| from.left() / size_of::<T>().max(1))?;
        let mut values = Self::with_capacity(len.min(most));
        for _ in 0..len {
            values.push(T::take(from)?);
        }
        Some(values)
    }
}

impl<T: State> State for Arc<[T]> {
    fn put(&self, to: &mut Vec<u8>) {
        put_all(self, to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Vec::take(from).map(Into::into)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn put(&self, to: &mut Vec<u8>) {
        for value in self {
            value.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::take(from)).collect();
        values?.try_into().ok()
    }
}

impl<K: State + Ord, V: State> State for BTreeMap<K, V> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let len = usize::take(from)?;
        (0..len).map(|_| Some((K::take(from)?, V::take(from)?))).collect()
    }
}

macro_rules! tuple {
    ($($name:ident $place:tt),+) => {
        impl<$($name: State),+> State for ($($name,)+) {
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$place.put(to);)+
            }

            fn take(from: &mut Reader<'_>) -> Option<Self> {
                Some(($($name::take(from)?,)+))
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

impl State for PathBuf {
    fn put(&self, to: &mut Vec<u8>) {
        Cow::<Path>::Borrowed(self).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Cow::<Path>::take(from).map(Cow::into_owned)
    }
}

impl State for Cow<'_, Path> {
    fn put(&self, to: &mut Vec<u8>) {
        let bytes = self.as_os_str().as_encoded_bytes();
        bytes.len().put(to);
        to.extend_from_slice(bytes);
    }

    #[cfg(unix)]
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt;
        let len = usize::take(from)?;
        let bytes = from.bytes(len)?.to_vec();
        Some(Self::Owned(std::ffi::OsString::from_vec(bytes).into()))
    }

    #[cfg(not(unix))]
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        String::take(from).map(|path| Self::Owned(path.into()))
    }
}
