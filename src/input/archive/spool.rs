//! Keeps what cannot be read by position in a temporary file.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

use crate::limits::{LimitReached, behind};

const COPY_SIZE: usize = 256 * 1024;

/// A stream in a file without a name.
pub(super) struct Spooled {
    pub(super) file: Arc<File>,
    /// Whether the stream broke, with what came before in the file.
    pub(super) cut: bool,
    /// The limit that it broke at.
    pub(super) reached: Option<LimitReached>,
}

/// Writes a stream to a file without a name.
pub(super) fn write(mut stream: impl Read) -> Result<Spooled, String> {
    let mut file = tempfile::tempfile()
        .map_err(|error| format!("its contents need a temporary file, which cannot be made ({error})"))?;
    let mut buffer = vec![0; COPY_SIZE];
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok(Spooled { file: Arc::new(file), cut: false, reached: None }),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Spooled { file: Arc::new(file), cut: true, reached: behind(&error) }),
        };
        file.write_all(buffer.get(..count).unwrap_or_default())
            .map_err(|error| format!("its contents do not fit into the temporary folder ({error})"))?;
    }
}
