//! Repeats the jobs of a recorded event log, to measure on lines that Spark wrote.
//!
//! Each repetition has new ids of jobs, stages, tasks, RDDs, accumulators and SQL executions, and later times, so
//! that the result is the complete log of one longer application. Executors start once and stay. Recordings with
//! cached RDDs or lost executors cannot be repeated: block names and executor ids stay as they are.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use serde_json::Value;

/// The kinds of ids that each repetition shifts, and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shift {
    Job,
    Stage,
    Task,
    Rdd,
    Accumulator,
    Execution,
    Time,
}

const KINDS: usize = 7;

/// Times are milliseconds since 1970; smaller values under the same keys are unset.
const FIRST_TIME: i64 = 100_000_000_000;

/// Idle time between repetitions, in milliseconds.
const PAUSE: i64 = 1_000;

/// A recording that can be repeated.
pub(super) struct Recording {
    /// Lines up to the first job.
    head: Vec<u8>,
    /// Lines that are repeated.
    body: Body,
    /// Starts of executors after the first job.
    late: Vec<u8>,
    /// The end of the application.
    tail: Body,
    /// How far each kind of id moves from one repetition to the next.
    spans: [i64; KINDS],
}

/// Lines with the numbers to shift.
#[derive(Default)]
struct Body {
    text: Vec<u8>,
    numbers: Vec<Number>,
}

struct Number {
    place: Range<usize>,
    value: i64,
    shift: Shift,
}

impl Recording {
    /// Reads the uncompressed lines of a finished event log.
    pub(super) fn read(log: &mut dyn BufRead) -> io::Result<Self> {
        let (mut head, mut late) = (Vec::new(), Vec::new());
        let (mut body, mut tail) = (Body::default(), Body::default());
        for line in log.lines() {
            let event: Value = serde_json::from_str(&line?)?;
            let name = event.get("Event").and_then(Value::as_str).unwrap_or_default();
            let starts_executor =
                matches!(name, "SparkListenerExecutorAdded" | "SparkListenerBlockManagerAdded");
            let name_of_job = "SparkListenerJobStart";
            let lines = if name == "SparkListenerApplicationEnd" {
                &mut tail
            } else if body.text.is_empty() && !name.contains("SQLExecution") && name != name_of_job {
                serde_json::to_writer(&mut head, &event)?;
                head.push(b'\n');
                continue;
            } else if starts_executor {
                serde_json::to_writer(&mut late, &event)?;
                late.push(b'\n');
                continue;
            } else {
                &mut body
            };
            lines.value(&event, &["", ""])?;
            lines.text.push(b'\n');
        }
        if body.numbers.is_empty() || tail.text.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a finished event log with jobs"));
        }
        let spans = body.spans();
        Ok(Self { head, body, late, tail, spans })
    }

    /// Writes a log that runs the recorded jobs this many times.
    pub(super) fn write(&self, times: u32, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        out.write_all(&self.late)?;
        for repetition in 0..times {
            self.body.write(&self.spans.map(|span| span * i64::from(repetition)), out)?;
        }
        self.tail.write(&self.spans.map(|span| span * i64::from(times.max(1) - 1)), out)
    }
}

impl Body {
    /// Appends a value under a key, which is inside the value of the key before it.
    fn value(&mut self, value: &Value, keys: &[&str; 2]) -> io::Result<()> {
        let shift = value.as_i64().and_then(|number| Some((number, shift(number, keys)?)));
        match (value, shift) {
            (_, Some((value, shift))) => self.number(value, shift),
            (Value::Object(members), _) => {
                for (place, (key, value)) in members.iter().enumerate() {
                    self.text.push(if place == 0 { b'{' } else { b',' });
                    serde_json::to_writer(&mut self.text, key)?;
                    self.text.push(b':');
                    self.value(value, &[keys[1], key])?;
                }
                self.text.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
            }
            (Value::Array(elements), _) => {
                for (place, value) in elements.iter().enumerate() {
                    self.text.push(if place == 0 { b'[' } else { b',' });
                    // A pair of `accumUpdates` is an id and a value.
                    let keys = if keys == &["accumUpdates", "id"] && place == 1 { &["", ""] } else { keys };
                    let inner = if keys[1] == "accumUpdates" { &["accumUpdates", "id"] } else { keys };
                    self.value(value, inner)?;
                }
                self.text.extend_from_slice(if elements.is_empty() { b"[]" } else { b"]" });
            }
            (Value::String(id), _)
                if keys[1].starts_with("spark.sql.execution.") && id.parse::<i64>().is_ok() =>
            {
                self.text.push(b'"');
                self.number(id.parse().map_err(io::Error::other)?, Shift::Execution);
                self.text.push(b'"');
            }
            _ => serde_json::to_writer(&mut self.text, value)?,
        }
        Ok(())
    }

    fn number(&mut self, value: i64, shift: Shift) {
        let start = self.text.len();
        self.text.extend_from_slice(value.to_string().as_bytes());
        self.numbers.push(Number { place: start..self.text.len(), value, shift });
    }

    /// How far each kind must move so that no id is used twice.
    fn spans(&self) -> [i64; KINDS] {
        let mut spans = [0; KINDS];
        for number in &self.numbers {
            if let Some(span) = spans.get_mut(number.shift as usize) {
                *span = number.value.max(*span - 1) + 1;
            }
        }
        let times = || self.numbers.iter().filter(|number| number.shift == Shift::Time);
        let first = times().map(|number| number.value).min().unwrap_or_default();
        if let Some(span) = spans.get_mut(Shift::Time as usize) {
            *span += PAUSE - first;
        }
        spans
    }

    fn write(&self, shifts: &[i64; KINDS], out: &mut dyn Write) -> io::Result<()> {
        let mut from = 0;
        for number in &self.numbers {
            out.write_all(self.text.get(from..number.place.start).unwrap_or_default())?;
            let shift = shifts.get(number.shift as usize).copied().unwrap_or_default();
            write!(out, "{}", number.value + shift)?;
            from = number.place.end;
        }
        out.write_all(self.text.get(from..).unwrap_or_default())
    }
}

/// What an integer counts, by its key and the key of the object or array around it.
fn shift(value: i64, keys: &[&str; 2]) -> Option<Shift> {
    match *keys {
        [_, "Job ID"] => Some(Shift::Job),
        [_, "Task ID"] => Some(Shift::Task),
        ["RDD Info", "Parent IDs"] | [_, "RDD ID"] => Some(Shift::Rdd),
        [_, "Stage ID" | "Stage IDs" | "Parent IDs"] => Some(Shift::Stage),
        [_, "accumulatorId"] | ["Accumulables", "ID"] | ["accumUpdates", "id"] => Some(Shift::Accumulator),
        [_, "executionId" | "rootExecutionId"] => Some(Shift::Execution),
        [
            _,
            "Submission Time"
            | "Completion Time"
            | "Launch Time"
            | "Finish Time"
            | "Getting Result Time"
            | "Timestamp"
            | "time",
        ] if value >= FIRST_TIME => Some(Shift::Time),
        _ => None,
    }
}
