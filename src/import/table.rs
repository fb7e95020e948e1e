//! Submissions in CSV: the first record names the columns, each further one is a submission.

use std::io::BufRead;

use super::ImportError;
use super::csv::{Record, Records};
use super::row::{Column, Place, Refusal, Row};
use super::text::Encoding;
use crate::domain::charset::Charset;
use crate::domain::submission::Value;

/// Takes a submission or why it is none; an error ends the reading.
pub type Each<'a> = dyn FnMut(Place, Result<Row, Refusal>) -> Result<(), ImportError> + 'a;

/// Gives every submission to `each`.
pub fn read(
    input: impl BufRead,
    encoding: Encoding,
    most: usize,
    meaning: fn(&str) -> Column,
    each: &mut Each<'_>,
) -> Result<(), ImportError> {
    let mut records = Records::new(input, most).map_err(ImportError::Read)?;
    let header = match records.next().map_err(ImportError::Read)? {
        Some((_, Record::Cells(cells))) => {
            decoded(cells, encoding).ok_or(ImportError::Unfit("its header is no text"))?
        }
        Some(_) => return Err(ImportError::Unfit("its first line is no header of columns")),
        None => return Err(ImportError::Unfit("it is empty")),
    };
    let names: Vec<String> = (1..).zip(header).map(|(number, name)| column_name(number, &name)).collect();
    while let Some((line, record)) = records.next().map_err(ImportError::Read)? {
        if is_blank(&record) {
            continue;
        }
        each(Place::Line(line), row(record, &names, encoding, meaning))?;
    }
    Ok(())
}

/// Whether nothing stands in a record: spreadsheets leave such rows at the end, `,,,`.
fn is_blank(record: &Record) -> bool {
    matches!(record, Record::Cells(cells) if cells.iter().all(|cell| cell.trim_ascii().is_empty()))
}

/// What a column is called; one without a name by its place.
fn column_name(number: usize, name: &str) -> String {
    let name = name.trim();
    if name.is_empty() { format!("column_{number}") } else { name.to_owned() }
}

/// The submission of a record.
fn row(record: Record, names: &[String], encoding: Encoding, meaning: fn(&str) -> Column) -> Result<Row, Refusal> {
    let cells = match record {
        Record::Cells(cells) => cells,
        Record::TooLarge => return Err(Refusal::TooLarge),
        Record::OpenQuote => return Err(Refusal::OpenQuote),
    };
    if cells.len() != names.len() {
        return Err(Refusal::Cells { found: cells.len(), header: names.len() });
    }
    let cells = decoded(cells, encoding).ok_or(Refusal::NoText)?;
    let is_unnamed_and_empty = |(name, cell): &(&String, String)| cell.is_empty() && name.starts_with("column_");
    let cells = names.iter().zip(cells).filter(|cell| !is_unnamed_and_empty(cell));
    Ok(Row::of_columns(cells.map(|(name, cell)| (name.clone(), Value::Text(cell))), meaning))
}

/// Cells as texts; `None` where one is no text.
fn decoded(cells: Vec<Vec<u8>>, encoding: Encoding) -> Option<Vec<String>> {
    let decode = |cell: Vec<u8>| match encoding {
        Encoding::Utf8 => String::from_utf8(cell).ok(),
        Encoding::Windows1252 => Charset::parse("windows-1252").ok()?.decode(&cell).ok(),
    };
    cells.into_iter().map(decode).collect()
}
