//! Keeps what cannot be read by position in a temporary file.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

/// An archive that unpacks to more is a trap.
const MAX_LEN: u64 = 64 << 30;
const COPY_SIZE: usize = 256 * 1024;

/// Writes a stream to a file without a name; `true` if the stream broke, with what came before in the file.
pub(super) fn write(mut stream: impl Read) -> Result<(Arc<File>, bool), String> {
    let mut file = tempfile::tempfile()
        .map_err(|error| format!("its contents need a temporary file, which cannot be made ({error})"))?;
    let mut buffer = vec![0; COPY_SIZE];
    let mut len = 0;
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok((Arc::new(file), false)),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Ok((Arc::new(file), true)),
        };
        len += count as u64;
        if len > MAX_LEN {
            return Err(format!("it unpacks to more than {} GiB", MAX_LEN >> 30));
        }
        file.write_all(buffer.get(..count).unwrap_or_default())
            .map_err(|error| format!("its contents do not fit into the temporary folder ({error})"))?;
    }
}
