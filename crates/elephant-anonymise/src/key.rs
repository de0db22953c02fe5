//! The secret from which all pseudonyms and the shift of times are derived.

use sha2::{Digest, Sha256};

use super::AnonymiseError;

/// See the module. It is never printed.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// The key of a passphrase, or of the bytes of a file.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Self {
        let mut digest = Sha256::new_with_prefix(b"elephant-rs anonymise 1\0");
        digest.update(text);
        Self(digest.finalize().into())
    }

    /// A random key that is kept nowhere, so no second run gives the same pseudonyms.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random() -> Result<Self, AnonymiseError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| AnonymiseError::NoRandomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// HMAC-SHA-256 (RFC 2104) of a text. Without the key, the text cannot be found by trying likely ones.
    pub(crate) fn mac(&self, purpose: &str, text: &[u8]) -> [u8; 32] {
        let mut inner = Sha256::new_with_prefix(self.padded(0x36));
        inner.update(purpose.as_bytes());
        inner.update(b"\0");
        inner.update(text);
        let mut outer = Sha256::new_with_prefix(self.padded(0x5c));
        outer.update(inner.finalize());
        outer.finalize().into()
    }

    /// The key, with zeros up to the length of a block of SHA-256, each byte combined with another.
    fn padded(&self, with: u8) -> [u8; 64] {
        let mut block = [with; 64];
        for (byte, of_key) in block.iter_mut().zip(self.0) {
            *byte ^= of_key;
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_do_not_show_themselves() {
        let (a, b) = (Key::of_text(b"a"), Key::of_text(b"b"));
        assert_eq!(a.mac("x", b"y"), Key::of_text(b"a").mac("x", b"y"));
        assert_ne!(a.mac("x", b"y"), b.mac("x", b"y"));
        assert_ne!(a.mac("x", b"y"), a.mac("xy", b""));
        assert_ne!(Key::random().unwrap().mac("x", b"y"), Key::random().unwrap().mac("x", b"y"));
        assert_eq!(format!("{a:?}"), "Key(…)");
    }

    /// Computed with Python: `hmac.new(sha256(b"elephant-rs anonymise 1\0a").digest(), b"x\0y", "sha256")`.
    #[test]
    fn it_is_the_standard_function() {
        let mac = Key::of_text(b"a").mac("x", b"y");
        let hex = mac.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hex, "5de4cd2878973dfebb13d5638d5c1b62771031353144a6a8b98b3337225eea85");
    }
}
