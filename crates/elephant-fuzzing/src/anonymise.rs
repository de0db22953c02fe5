//! The target for histories to give away: no planted secret survives, and the result is a history.

use elephant_anonymise::{Key, rewritten};
use elephant_input::kind::SourceKind;
use elephant_parse::identify;

/// In every secret that is planted; no pseudonym contains it, because those have no vowels.
const MARK: &str = "xqa";

/// The same bytes give the same result, of the same kind, and words with the mark are not in it.
pub fn anonymise(bytes: &[u8]) {
    let key = Key::of_text(b"fuzz");
    let Some(result) = rewritten(&key, bytes) else { return };
    assert_eq!(Some(&result), rewritten(&key, bytes).as_ref(), "two runs differ");
    let text = String::from_utf8_lossy(&result);
    assert!(!text.contains(MARK), "a secret survives: {text}");
    // Of a history that was read whole, the result is read whole.
    if identify(bytes, true) == Some(SourceKind::JobConf) && !result.is_empty() {
        assert_eq!(identify(&result, true), Some(SourceKind::JobConf));
    }
}
