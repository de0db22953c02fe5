//! Rows as CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::Sink;
use crate::document::csv::{number, quoted};
use elephant_base::units::Timestamp;
use elephant_store::{Kind, Table, Value};

pub(super) struct Csv {
    table: &'static Table,
    out: BufWriter<File>,
}

impl Csv {
    pub(super) fn new(table: &'static Table, file: File) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self { table, out })
    }
}

impl Sink for Csv {
    fn row(&mut self, row: Vec<Option<Value>>) -> io::Result<()> {
        let cells =
            row.into_iter().zip(self.table.columns).map(|(value, column)| match (value, column.kind) {
                (None, _) => String::new(),
                (Some(Value::Text(text)), _) => quoted(&text),
                (Some(Value::Whole(value)), Kind::Truth) => (value != 0).to_string(),
                (Some(Value::Whole(value)), Kind::Moment) => {
                    Timestamp::from_millis(value).to_rfc3339().unwrap_or_default()
                }
                (Some(Value::Whole(value)), _) => value.to_string(),
                (Some(Value::Number(value)), _) => number(Some(value)),
            });
        writeln!(self.out, "{}", cells.collect::<Vec<_>>().join(","))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}
