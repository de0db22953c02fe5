//! The JSON forms: documents of the timeline server, and simple histories.

use serde::Deserializer;
use serde::de::DeserializeSeed;

use super::entity::Document;
use super::record::Record;
use crate::json_records::{Documents, Progress};

/// Passes the records of documents on, until `sink` returns false.
pub(super) struct Entities<S> {
    sink: S,
    goes_on: bool,
}

impl<S: FnMut(Record) -> bool> Entities<S> {
    pub(super) const fn into(sink: S) -> Self {
        Self { sink, goes_on: true }
    }
}

impl<S: FnMut(Record) -> bool> Documents for Entities<S> {
    fn document<'de, D: Deserializer<'de>>(
        &mut self,
        document: D,
        progress: &Progress,
    ) -> Result<(), D::Error> {
        let Self { sink, goes_on } = self;
        let mut sink = |record| *goes_on = sink(record) && *goes_on;
        Document { sink: &mut sink, progress }.deserialize(document)
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_records::{self, Outcome};
    use crate::problem::Problems;
    use crate::tez::record::Subject;
    use elephant_base::limits;
    use elephant_input::window::ByteWindow;

    fn ids(text: &str) -> (Vec<String>, Outcome, Problems) {
        let (mut ids, mut problems) = (Vec::new(), Problems::default());
        let mut documents = Entities::into(|record| {
            ids.push(match record.subject {
                Subject::Tez(id) => format!("{:?}", id.dag().map(|dag| dag.to_string())),
                Subject::Query(id) => id,
            });
            true
        });
        let read =
            json_records::read(ByteWindow::new(text.as_bytes()), 1 << 20, &mut problems, &mut documents);
        (ids, read, problems)
    }

    #[test]
    fn documents_hold_one_entity_or_several() {
        let entity =
            |number: u32| format!("{{\"entity\": \"dag_1_0001_{number}\", \"entitytype\": \"TEZ_DAG_ID\"}}");
        let (one, two) = (entity(1), entity(2));
        for text in [
            format!("{one}\n{two}\n"),
            format!("{{\"entities\": [{one}, {two}]}}"),
            format!("\u{feff}[{one},\n{two}]"),
            format!("{one}\u{1}\n{two}\u{1}\n"),
        ] {
            let (ids, read, problems) = ids(&text);
            assert_eq!(ids.len(), 2, "{text:?} {problems:?}");
            assert!(read.stopped.is_none() && problems.is_empty(), "{text:?} {problems:?}");
        }
    }

    #[test]
    fn a_damaged_record_costs_only_itself() {
        let text = "{\"entityId\":\"dag_1_0001_1\",\"entityType\":\"TEZ_DAG_ID\"}\u{1}\n{\"entityId\":\u{1}\n\
                    {\"entityId\":\"q\",\"entityType\":\"HIVE_QUERY_ID\"}\u{1}\n";
        let (ids, read, problems) = ids(text);
        assert_eq!((ids.len(), read.lost, problems.into_vec().len()), (2, 1, 1));
    }

    #[test]
    fn a_long_record_is_skipped() {
        let text = format!(
            "{{\"otherinfo\":{{\"x\":\"{}\"}}}}\u{1}\n{{\"entity\":\"q\",\"entitytype\":\"HIVE_QUERY_ID\"}}\u{1}\n",
            "x".repeat(2 << 20)
        );
        let (ids, read, problems) = ids(&text);
        assert_eq!((ids, read.lost), (vec!["q".to_owned()], 1));
        assert_eq!(problems.into_vec()[0].code, limits::REACHED);
    }
}
