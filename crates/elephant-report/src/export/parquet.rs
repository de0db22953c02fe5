//! Rows as Parquet, compressed with zstd. Every column is optional, because unknown values are missing.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::Sink;
use elephant_store::{Column, Kind, Table, Value};

/// Rows that are held in memory, and written together.
const ROWS_A_GROUP: usize = 65_536;

pub(super) struct Parquet {
    table: &'static Table,
    writer: SerializedFileWriter<File>,
    /// One list for each column.
    held: Vec<Vec<Option<Value>>>,
}

impl Parquet {
    pub(super) fn new(table: &'static Table, file: File) -> io::Result<Self> {
        let columns = table.columns.iter().map(|column| Ok(Arc::new(schema_of(column)?)));
        let columns = columns.collect::<Result<Vec<_>, ParquetError>>().map_err(as_io)?;
        let schema = Type::group_type_builder(table.name).with_fields(columns).build().map_err(as_io)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("elephant-rs version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(as_io)?;
        Ok(Self { table, writer, held: empty(table) })
    }

    fn write_held(&mut self) -> Result<(), ParquetError> {
        let held = std::mem::replace(&mut self.held, empty(self.table));
        if held.first().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (column, values) in self.table.columns.iter().zip(held) {
            if let Some(mut writer) = group.next_column()? {
                write_column(column.kind, &values, &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }
}

impl Sink for Parquet {
    fn row(&mut self, row: Vec<Option<Value>>) -> io::Result<()> {
        self.held.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        if self.held.first().is_some_and(|column| column.len() >= ROWS_A_GROUP) {
            self.write_held().map_err(as_io)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write_held().and_then(|()| self.writer.finish()).map_err(as_io)?;
        self.writer.inner().sync_all()
    }
}

/// The error of the file system, if it is one: the library's text for it begins with "External: ".
fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}

fn empty(table: &Table) -> Vec<Vec<Option<Value>>> {
    table.columns.iter().map(|_| Vec::new()).collect()
}

fn schema_of(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Whole => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Truth => (Physical::BOOLEAN, None),
        Kind::Moment => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn write_column(
    kind: Kind,
    values: &[Option<Value>],
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let known = values.iter().flatten();
    let whole = |value: &Value| if let Value::Whole(value) = value { Some(*value) } else { None };
    match kind {
        Kind::Text => {
            let text = |value: &Value| match value {
                Value::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            };
            let values: Vec<ByteArray> = known.filter_map(text).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Whole | Kind::Moment => {
            let values: Vec<i64> = known.filter_map(whole).collect();
            writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Truth => {
            let values: Vec<bool> = known.filter_map(whole).map(|value| value != 0).collect();
            writer.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Number => {
            let number = |value: &Value| if let Value::Number(value) = value { Some(*value) } else { None };
            let values: Vec<f64> = known.filter_map(number).collect();
            writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_file_system_is_told_as_it_is() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let told = as_io(ParquetError::from(full()));
        assert_eq!((told.kind(), told.to_string()), (full().kind(), full().to_string()));
        assert!(as_io(ParquetError::General("odd".to_owned())).to_string().contains("odd"));
    }
}
