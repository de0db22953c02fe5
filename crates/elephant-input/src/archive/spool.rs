//! Copies a stream to a temporary file, for input that needs random access.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

use elephant_base::limits::{LimitReached, behind};

const COPY_SIZE: usize = 256 * 1024;

/// A stream copied to an unnamed file.
pub(super) struct Spooled {
    pub(super) file: Arc<File>,
    /// Whether the stream broke off; the file holds what came before.
    pub(super) truncated: bool,
    /// The limit that ended it, if one did.
    pub(super) reached: Option<LimitReached>,
}

/// Copies a stream to an unnamed file.
pub(super) fn write(mut stream: impl Read) -> Result<Spooled, String> {
    let mut file = tempfile::tempfile()
        .map_err(|error| format!("it needs a temporary file, which cannot be created ({error})"))?;
    let mut buffer = vec![0; COPY_SIZE];
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok(Spooled { file: Arc::new(file), truncated: false, reached: None }),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                return Ok(Spooled { file: Arc::new(file), truncated: true, reached: behind(&error) });
            }
        };
        file.write_all(buffer.get(..count).unwrap_or_default())
            .map_err(|error| format!("its contents cannot be written to the temporary folder ({error})"))?;
    }
}
