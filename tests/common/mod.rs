//! What integration tests share.

use std::path::{Path, PathBuf};

/// A folder of shared recordings: below `$ELEPHANT_SHARED`, else next to the repository.
///
/// Says so and returns `None` where there is none; with `CI=true` that fails the test.
pub fn shared(sub: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ELEPHANT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(sub);
    if path.exists() {
        return Some(path);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{} is missing", path.display());
    println!("skipped: {} is missing", path.display());
    None
}
