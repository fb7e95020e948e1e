//! Submissions in JSON Lines: one object a line. A broken line is told and the next one read.

use std::io::{BufRead, Read as _};

use serde_json::Value as Json;

use super::ImportError;
use super::row::Refusal;

/// Takes a line's number and object, or why it is none; an error ends the reading.
pub type Each<'a> = dyn FnMut(u64, Result<Json, Refusal>) -> Result<(), ImportError> + 'a;

/// Gives every line that is not empty to `each`; one of more than `most` bytes is refused.
pub fn read(mut input: impl BufRead, most: u64, each: &mut Each<'_>) -> Result<(), ImportError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut input).take(most).read_until(b'\n', &mut line).map_err(ImportError::Read)?;
        if read == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n") || u64::try_from(read).unwrap_or(u64::MAX) < most;
        if !is_whole {
            input.skip_until(b'\n').map_err(ImportError::Read)?;
            each(number, Err(Refusal::TooLarge))?;
        } else if !line.trim_ascii().is_empty() {
            each(number, serde_json::from_slice(&line).map_err(|_| Refusal::NoJson))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_stands_for_itself() {
        let text = format!("{{\"a\":1}}\n\nno json\n{{\"a\":\"{}\"}}\n{{\"a\":2}}", "x".repeat(40));
        let mut seen = Vec::new();
        read(text.as_bytes(), 30, &mut |number, read| {
            seen.push((number, read.map(|json| json["a"].clone())));
            Ok(())
        })
        .unwrap();
        let expected = [
            (1, Ok(serde_json::json!(1))),
            (3, Err(Refusal::NoJson)),
            (4, Err(Refusal::TooLarge)),
            (5, Ok(serde_json::json!(2))),
        ];
        assert_eq!(seen, expected);
    }
}
