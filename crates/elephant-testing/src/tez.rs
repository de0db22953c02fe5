//! Writes small histories of Tez, for tests and for `testdata/heuristics`: in all three forms, after Tez's schema.
//!
//! Source: `HistoryEventTimelineConversion`, `HistoryEventJsonConversion`, `HistoryEventProtoConverter` and
//! `HistoryLogger.proto` of Apache Tez, `SequenceFile` of Hadoop.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use serde_json::{Map, Value, json};

/// When all DAGs are submitted.
pub const EPOCH: i64 = 1_500_000_000_000;

/// A DAG whose tasks come in groups of equal tasks, in the format of the oracle: `[{"role": "map", "count": 3, "time":
/// {"total_ms": 5}, "counters": {…}}]`. The roles are map, reduce and scope; each is one vertex, unless a group names its
/// `vertex`. The tasks of a group without time and counters have no attempt.
#[derive(Debug, Clone)]
pub struct Dag {
    groups: Value,
    config: Map<String, Value>,
    serial: u32,
    status: &'static str,
}

/// An entity, with its events in the order in which they happened and the facts that come with each.
struct Entity {
    id: String,
    kind: &'static str,
    steps: Vec<(&'static str, i64, Value)>,
}

impl Dag {
    /// A DAG that succeeded.
    pub fn of(groups: &Value) -> Self {
        Self { groups: groups.clone(), config: Map::new(), serial: 1, status: "SUCCEEDED" }
    }

    /// Sets the number of the application.
    #[must_use]
    pub fn numbered(self, serial: u32) -> Self {
        Self { serial, ..self }
    }

    /// Sets the final status: FAILED or KILLED.
    #[must_use]
    pub fn ended(self, status: &'static str) -> Self {
        Self { status, ..self }
    }

    /// Sets settings.
    #[must_use]
    pub fn config(self, settings: &[(&str, &str)]) -> Self {
        let config = settings.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        Self { config, ..self }
    }

    /// The id of the DAG.
    pub fn id(&self) -> String {
        format!("dag_{EPOCH}_{:04}_1", self.serial)
    }

    /// As the timeline server answers: the facts of each entity together, newest first.
    pub fn timeline(&self) -> String {
        let entity = |Entity { id, kind, steps }: Entity| {
            let mut info = Map::new();
            for (_, _, facts) in &steps {
                info.extend(facts.as_object().cloned().unwrap_or_default());
            }
            let event = |(kind, at, _): &(&str, i64, Value)| json!({"eventtype": kind, "timestamp": at, "eventinfo": {}});
            let events: Vec<Value> = steps.iter().rev().map(event).collect();
            json!({"entity": id, "entitytype": kind, "events": events, "otherinfo": info})
        };
        let entities: Vec<Value> = self.entities().into_iter().rev().map(entity).collect();
        serde_json::to_string_pretty(&json!({"entities": entities})).unwrap()
    }

    /// As the simple history service writes: a record per event.
    pub fn simple(&self) -> String {
        let mut text = String::new();
        for Entity { id, kind, steps } in self.entities() {
            for (event, at, facts) in steps {
                let record = json!({"entityId": id, "entityType": kind, "otherInfo": facts,
                    "events": [{"eventType": event, "ts": at}]});
                text.push_str(&record.to_string());
                text.push_str("\u{1}\n");
            }
        }
        text
    }

    /// As the protobuf service writes: a message per event, in a sequence file.
    pub fn protobuf(&self) -> Vec<u8> {
        let mut values = Vec::new();
        for Entity { id, kind, steps } in self.entities() {
            let field = match kind {
                "TEZ_APPLICATION" => 4,
                "TEZ_DAG_ID" => 6,
                "TEZ_VERTEX_ID" => 7,
                "TEZ_TASK_ID" => 8,
                _ => 9,
            };
            for (event, at, facts) in steps {
                let mut message = bytes(1, event.as_bytes());
                message.extend(varint(2 << 3));
                message.extend(varint(u64::try_from(at).unwrap()));
                message.extend(bytes(field, id.strip_prefix("tez_").unwrap_or(&id).as_bytes()));
                for (key, value) in facts.as_object().into_iter().flatten() {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    message
                        .extend(bytes(10, &[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat()));
                }
                values.push([varint(message.len() as u64), message].concat());
            }
        }
        sequence_file(&values)
    }

    fn entities(&self) -> Vec<Entity> {
        let app = format!("{EPOCH}_{:04}", self.serial);
        let config = json!({"config": self.config});
        let mut entities = vec![Entity {
            id: format!("tez_application_{app}"),
            kind: "TEZ_APPLICATION",
            steps: vec![("APP_LAUNCHED", EPOCH - 1000, config)],
        }];
        let (mut vertices, mut end) = (Vec::new(), EPOCH + 3000);
        for group in self.groups.as_array().unwrap() {
            let role = group["role"].as_str().unwrap();
            let name = group["vertex"].as_str().unwrap_or(role).to_owned();
            if !vertices.iter().any(|(known, _, _): &(String, &str, Vec<&Value>)| *known == name) {
                vertices.push((name.clone(), role, Vec::new()));
            }
            vertices.iter_mut().find(|(known, ..)| *known == name).unwrap().2.push(group);
        }
        for (number, (name, role, groups)) in vertices.iter().enumerate() {
            end = end.max(of_vertex(&mut entities, (&app, number), (name, role), groups));
        }
        let dag = vec![
            ("DAG_SUBMITTED", EPOCH, json!({"dagName": "oracle:1", "user": "alice"})),
            ("DAG_STARTED", EPOCH + 1000, json!({"status": "RUNNING"})),
            ("DAG_FINISHED", end, json!({"startTime": EPOCH + 1000, "endTime": end, "status": self.status})),
        ];
        entities.push(Entity { id: self.id(), kind: "TEZ_DAG_ID", steps: dag });
        entities
    }
}

/// Adds the entities of a vertex, and returns its end.
fn of_vertex(
    entities: &mut Vec<Entity>,
    (app, number): (&str, usize),
    (name, role): (&str, &str),
    groups: &[&Value],
) -> i64 {
    let processor = match role {
        "map" => "org.apache.hadoop.hive.ql.exec.tez.MapTezProcessor",
        "reduce" => "org.apache.hadoop.hive.ql.exec.tez.ReduceTezProcessor",
        _ => "org.apache.pig.backend.hadoop.executionengine.tez.runtime.PigProcessor",
    };
    let (mut task, mut end) = (0, EPOCH + 3000);
    for group in groups {
        for _ in 0..group["count"].as_u64().unwrap() {
            let id = format!("{app}_1_{number:02}_{task:06}");
            let attempt = format!("attempt_{id}_0");
            let start = EPOCH + 2000;
            let finish = start + group["time"]["total_ms"].as_i64().unwrap_or_default();
            let mut facts = json!({"status": "SUCCEEDED", "endTime": finish});
            let has_data = !group["time"].is_null() || !group["counters"].is_null();
            if has_data {
                facts["successfulAttemptId"] = json!(attempt);
                let mut own = json!({"status": "SUCCEEDED", "creationTime": start - 500, "startTime": start,
                    "endTime": finish, "nodeId": format!("node{}:45454", task % 4)});
                if !group["counters"].is_null() {
                    own["counters"] = counters(&group["counters"]);
                }
                let steps =
                    vec![("TASK_ATTEMPT_STARTED", start, json!({})), ("TASK_ATTEMPT_FINISHED", finish, own)];
                entities.push(Entity { id: attempt, kind: "TEZ_TASK_ATTEMPT_ID", steps });
            }
            let steps =
                vec![("TASK_STARTED", start, json!({"status": "RUNNING"})), ("TASK_FINISHED", finish, facts)];
            entities.push(Entity { id: format!("task_{id}"), kind: "TEZ_TASK_ID", steps });
            (task, end) = (task + 1, end.max(finish));
        }
    }
    let steps = vec![
        (
            "VERTEX_INITIALIZED",
            EPOCH + 1200,
            json!({"vertexName": name, "numTasks": task, "processorClassName": processor, "initTime": EPOCH + 1200}),
        ),
        ("VERTEX_STARTED", EPOCH + 1500, json!({"startTime": EPOCH + 1500, "status": "RUNNING"})),
        ("VERTEX_FINISHED", end, json!({"endTime": end, "status": "SUCCEEDED"})),
    ];
    entities.push(Entity { id: format!("vertex_{app}_1_{number:02}"), kind: "TEZ_VERTEX_ID", steps });
    end
}

/// Counters by name, in the groups of Tez.
fn counters(values: &Value) -> Value {
    let (mut files, mut tasks) = (Vec::new(), Vec::new());
    for (name, value) in values.as_object().into_iter().flatten() {
        let list = if name.ends_with("_BYTES_READ") { &mut files } else { &mut tasks };
        list.push(json!({"counterName": name, "counterDisplayName": name, "counterValue": value}));
    }
    let group = |name: &str, counters: Vec<Value>| json!({"counterGroupName": format!("org.apache.tez.common.counters.{name}"), "counters": counters});
    json!({"counterGroups": [group("FileSystemCounter", files), group("TaskCounter", tasks)]})
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A field of a message with a length.
fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A sequence file with compressed records, and a mark before every tenth.
fn sequence_file(values: &[Vec<u8>]) -> Vec<u8> {
    const MARK: &[u8; 16] = b"0123456789abcdef";
    let text = |text: &str| [varint(text.len() as u64), text.as_bytes().to_vec()].concat();
    let mut file = b"SEQ\x06".to_vec();
    file.extend(text("org.apache.hadoop.io.NullWritable"));
    file.extend(text("org.apache.tez.dag.history.logging.proto.ProtoMessageWritable"));
    file.extend([1, 0]);
    file.extend(text("org.apache.hadoop.io.compress.DefaultCodec"));
    file.extend(0_i32.to_be_bytes());
    file.extend(MARK);
    for (place, value) in values.iter().enumerate() {
        if place % 10 == 9 {
            file.extend((-1_i32).to_be_bytes());
            file.extend(MARK);
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(value).unwrap();
        let stored = encoder.finish().unwrap();
        file.extend(i32::try_from(stored.len()).unwrap().to_be_bytes());
        file.extend(0_i32.to_be_bytes());
        file.extend(stored);
    }
    file
}
