//! Whole numbers of doubles.

/// Converts a double to a whole number, towards zero. A value beyond the range of the type becomes the end of the range, and
/// what is no number becomes 0, as Rust defines these casts. Named methods say that this is meant; a bare cast is a warning.
#[expect(
    clippy::wrong_self_convention,
    reason = "named like the operator that they replace; numbers are copied"
)]
pub trait Whole {
    /// As a `u32`.
    fn as_u32(self) -> u32;
    /// As a `u64`.
    fn as_u64(self) -> u64;
    /// As a `u128`.
    fn as_u128(self) -> u128;
    /// As a `usize`.
    fn as_usize(self) -> usize;
    /// As an `i32`.
    fn as_i32(self) -> i32;
    /// As an `i64`.
    fn as_i64(self) -> i64;
    /// As an `i128`.
    fn as_i128(self) -> i128;
}

macro_rules! cast {
    ($($name:ident $target:ty),*) => {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // they saturate: see `Whole`
        impl Whole for f64 {
            $(
                #[inline]
                fn $name(self) -> $target {
                    self as $target
                }
            )*
        }
    };
}

cast!(as_u32 u32, as_u64 u64, as_u128 u128, as_usize usize, as_i32 i32, as_i64 i64, as_i128 i128);

#[cfg(test)]
mod tests {
    use super::Whole;

    #[test]
    fn casts_saturate() {
        assert_eq!((2.9_f64.as_u64(), (-2.9_f64).as_i64(), (-1.0_f64).as_usize()), (2, -2, 0));
        assert_eq!((f64::INFINITY.as_u32(), f64::NEG_INFINITY.as_i64()), (u32::MAX, i64::MIN));
        assert_eq!((f64::NAN.as_u64(), f64::NAN.as_i128()), (0, 0));
        assert_eq!((1e40_f64.as_u128(), 1e300_f64.as_i32()), (u128::MAX, i32::MAX));
    }
}
