//! Job histories of Hadoop 2 and 3 in JSON: `Avro-Json`, the schema, and an event on each line
//! (`org.apache.hadoop.mapreduce.jobhistory`).

use std::io::{self, Read, Write};

use super::Dropped;
use crate::json::{self, Context, Members};
use crate::mask::{Mask, Meaning};
use elephant_input::window::{ByteWindow, LineReader, NextLine};

/// Stands for a line that cannot be read.
const DAMAGED: &[u8] = b"{\"damaged\":";
const MAGIC: &[u8] = b"Avro-Json";

pub(super) fn history(
    mask: &mut Mask,
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    let mut lines = LineReader::new(ByteWindow::new(bytes), longest);
    let mut dropped = Dropped::default();
    let mut masked = String::new();
    let mut began = false;
    loop {
        let (line, terminated) = match lines.next_line() {
            Ok(NextLine::Line(line)) => (line.bytes, line.terminated),
            Ok(NextLine::TooLong { .. }) => {
                dropped.too_long += 1;
                out.write_all(DAMAGED)?;
                out.write_all(b"\n")?;
                continue;
            }
            Ok(NextLine::End) => return Ok(dropped),
            Err(_) => {
                dropped.broken_off = true;
                out.write_all(DAMAGED)?;
                return Ok(dropped);
            }
        };
        masked.clear();
        let plain = line.trim_ascii();
        if !began {
            // Comments before the first line are left out.
            if plain == MAGIC {
                began = true;
                out.write_all(b"Avro-Json\n")?;
            }
            continue;
        }
        if !plain.is_empty() {
            let text = std::str::from_utf8(line).ok();
            let top = Context::of(Meaning::Word);
            if text.is_some_and(|text| json::rewrite(mask, text, top, fields, &mut masked).is_ok()) {
                out.write_all(masked.as_bytes())?;
            } else {
                dropped.damaged += 1;
                out.write_all(DAMAGED)?;
            }
        }
        if terminated {
            out.write_all(b"\n")?;
        }
    }
}

const COUNTERS: Members = Members::Within("counters");

/// The meaning of a field of an event, and of the schema.
pub(super) fn fields(members: Members, key: &str) -> Option<Context> {
    if members == COUNTERS && matches!(key, "name" | "displayName") {
        return Some(Context::within(Meaning::Class, "counters"));
    }
    Some(match key {
        "submitTime" | "launchTime" | "startTime" | "finishTime" | "mapFinishTime" | "shuffleFinishTime"
        | "sortFinishTime" => Context::TIME,
        "counters" | "totalCounters" | "mapCounters" | "reduceCounters" | "groups" | "counts" => {
            Context::within(Meaning::Class, "counters")
        }
        "acls" | "jobACLs" => Context::SETTINGS,
        // Of the schema.
        "namespace" | "name" | "fields" | "symbols" | "items" | "values" | "protocol" => {
            Context::of(Meaning::Class)
        }
        _ => Context::of(text(key)?),
    })
}

fn text(key: &str) -> Option<Meaning> {
    Some(match key {
        "jobid"
        | "jobId"
        | "taskid"
        | "taskId"
        | "attemptId"
        | "attemptid"
        | "failedDueToAttempt"
        | "successfulAttemptId"
        | "successAttemptId"
        | "applicationAttemptId"
        | "containerId"
        | "workflowId"
        | "workflowNodeName"
        | "workflowAdjacencies" => Meaning::Id,
        "jobName" | "workflowName" => Meaning::Title,
        "userName" | "user" => Meaning::User,
        "jobQueueName" | "queueName" => Meaning::Queue,
        "hostname" | "hostName" | "nodeManagerHost" | "trackerName" | "splitLocations" => Meaning::Host,
        "rackname" | "rackName" => Meaning::Rack,
        "error" | "diagnostics" | "state" | "workflowTags" => Meaning::Message,
        "jobConfPath" => Meaning::Path,
        "type" | "taskType" | "status" | "taskStatus" | "jobStatus" | "locality" | "avataar" | "priority" => {
            Meaning::Word
        }
        _ => return None,
    })
}
