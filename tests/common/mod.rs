//! What the integration tests share.

use std::path::{Path, PathBuf};

/// A folder or file of the material that lies beside the project, `None` (and a line that says so) if it is
/// not there. Under `CI=true` it has to be.
#[allow(unreachable_pub, clippy::print_stderr)]
pub fn shared(sub: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ELEPHANT_SHARED").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).to_path_buf(),
        PathBuf::from,
    );
    let path = root.join(sub);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{} is not there; set ELEPHANT_SHARED to the folder that has {sub}",
        path.display()
    );
    eprintln!("skipped: {} is not there (set ELEPHANT_SHARED to its root)", path.display());
    None
}
