//! Rows as lines of JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use serde_json::{Map, Number, Value as Json};

use super::Sink;
use elephant_base::units::Timestamp;
use elephant_store::{Kind, Table, Value};

pub(super) struct Ndjson {
    table: &'static Table,
    out: BufWriter<File>,
}

impl Ndjson {
    pub(super) fn new(table: &'static Table, file: File) -> Self {
        Self { table, out: BufWriter::new(file) }
    }
}

impl Sink for Ndjson {
    fn row(&mut self, row: Vec<Option<Value>>) -> io::Result<()> {
        let cells = row.into_iter().zip(self.table.columns).map(|(value, column)| {
            let value = match (value, column.kind) {
                (None, _) => Json::Null,
                (Some(Value::Text(text)), _) => Json::String(text),
                (Some(Value::Whole(value)), Kind::Truth) => Json::Bool(value != 0),
                (Some(Value::Whole(value)), Kind::Moment) => {
                    Timestamp::from_millis(value).to_rfc3339().map_or(Json::Null, Json::String)
                }
                (Some(Value::Whole(value)), _) => Json::Number(value.into()),
                (Some(Value::Number(value)), _) => Number::from_f64(value).map_or(Json::Null, Json::Number),
            };
            (column.name.to_owned(), value)
        });
        serde_json::to_writer(&mut self.out, &cells.collect::<Map<_, _>>())?;
        writeln!(self.out)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}
