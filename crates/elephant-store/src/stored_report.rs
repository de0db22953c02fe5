//! The whole report on an application, as compressed JSON: it is there when the history is gone.

use std::io::{self, Read as _};

use super::StoreError;
use super::database::{Database, values};
use elephant_engine::results::ApplicationReport;

/// Writes the report on an application as JSON. The format is that of the reports, which know this crate.
pub type AsJson = fn(&ApplicationReport) -> io::Result<Vec<u8>>;

/// Higher levels save a twentieth and take several times as long.
const LEVEL: i32 = 3;
/// Larger reports are not stored, and no more of one is decoded.
const MOST_BYTES: usize = 8 << 20;

/// A report as the store has it; `None` if it is too large.
pub(super) fn packed(json: &[u8]) -> Option<Vec<u8>> {
    (json.len() <= MOST_BYTES).then(|| zstd::bulk::compress(json, LEVEL).ok()).flatten()
}

/// The JSON of a stored report; `None` if it is not one, so that the rest of a record can be read.
pub(super) fn unpacked(packed: &[u8]) -> Option<String> {
    let mut json = String::new();
    let decoder = zstd::stream::Decoder::new(packed).ok()?;
    decoder.take(MOST_BYTES as u64).read_to_string(&mut json).ok()?;
    Some(json)
}

/// Stores the report on the application at a new place.
pub(super) fn write(database: &Database, place: i64, packed: &[u8]) -> Result<(), StoreError> {
    database.send("INSERT INTO report (application, json) VALUES (?1, ?2)", &values![place, packed])
}

/// The report on the application at this place, if it has one.
pub(super) fn read(database: &Database, place: i64) -> Result<Option<String>, StoreError> {
    let query = "SELECT json FROM report WHERE application = ?1";
    let packed = database.first(query, &values![place], |row| row.get::<Vec<u8>>(0))?;
    Ok(packed.and_then(|packed| unpacked(&packed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;
    use crate::testing::with_stores;

    #[test]
    fn a_report_comes_back_and_goes_with_its_application() {
        let app = ApplicationReport::blank("app_1");
        with_stores(&[app], |store| {
            let place = store.database.ids("SELECT application FROM application", &[]).unwrap()[0];
            assert_eq!(read(&store.database, place).unwrap(), None);
            let json = "{\"id\":\"app_1\"}".repeat(1000);
            write(&store.database, place, &packed(json.as_bytes()).unwrap()).unwrap();
            assert_eq!(read(&store.database, place).unwrap(), Some(json));
            let size = store.database.count("SELECT max(length(json)) FROM report", &[]).unwrap();
            assert!(size < 200, "{size} bytes");
            record::remove(&store.database, "TRUE", &[]).unwrap();
            assert_eq!(store.database.count("SELECT count(*) FROM report", &[]).unwrap(), 0);
        });
    }

    #[test]
    fn damaged_and_endless_reports_are_none_and_large_ones_are_not_stored() {
        assert_eq!(unpacked(b"not compressed"), None);
        let whole = packed(b"{}").unwrap();
        assert_eq!(unpacked(&whole[..whole.len() - 1]), None);
        assert!(packed(&vec![b' '; MOST_BYTES + 1]).is_none());
        let endless = zstd::bulk::compress(&vec![b' '; MOST_BYTES * 2], LEVEL).unwrap();
        assert_eq!(unpacked(&endless).unwrap().len(), MOST_BYTES);
    }
}
