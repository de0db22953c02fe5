//! Job histories of Hadoop 2 and 3 in JSON: `Avro-Json`, the schema, and an event on each line
//! (`org.apache.hadoop.mapreduce.jobhistory`).

use std::io::{self, Read, Write};

use super::Dropped;
use super::json_lines::{self, Line};
use crate::json::{self, Context, Members};
use crate::mask::{Mask, Meaning};

const MAGIC: &str = "Avro-Json";

pub(super) fn history(
    mask: &mut Mask,
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    let mut began = false;
    json_lines::copy(bytes, longest, out, |line, masked| {
        let plain = line.trim_ascii();
        if !began {
            // Comments before the first line are left out.
            began = plain == MAGIC.as_bytes();
            masked.push_str(MAGIC);
            return if began { Line::Masked } else { Line::LeftOut };
        }
        if plain.is_empty() {
            return Line::Blank;
        }
        let top = Context::of(Meaning::Word);
        let is_read = |text: &str| json::rewrite(mask, text, top, fields, masked).is_ok();
        if std::str::from_utf8(line).is_ok_and(is_read) { Line::Masked } else { Line::Damaged }
    })
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
