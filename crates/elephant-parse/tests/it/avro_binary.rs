//! Binary histories written by Hadoop, compared with the same histories in Avro's JSON encoding.

use std::fs;
use std::path::{Path, PathBuf};

use elephant_input::window::ByteWindow;
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;
use elephant_parse::counter_names::CounterNames;
use elephant_parse::event::{EventFields, EventPayload};
use elephant_parse::jhist::avro::{DecodeError, Plan, decode_event, looks_like_binary_history, parse};
use elephant_parse::jhist::fields;
use serde_json::Value;

/// All data kept of an event, in a comparable form.
fn event_text(name: &str, fields: &EventFields<'_>, payload: &EventPayload, strings: &Interner) -> String {
    let set = |set: &CounterSet| {
        let others = set.others.iter().map(|c| (strings.get(c.group), strings.get(c.name), c.value));
        format!("{:?} {:?}", set.iter().collect::<Vec<_>>(), others.collect::<Vec<_>>())
    };
    let sets = [&payload.counters, &payload.map_counters, &payload.reduce_counters].map(set);
    format!("{name} {fields:?} {sets:?} {:?}", payload.progress)
}

/// The schema of a binary history, and its events.
fn split(history: &[u8]) -> (Plan, &[u8]) {
    assert!(looks_like_binary_history(history));
    let mut lines = history.splitn(3, |&byte| byte == b'\n').skip(1);
    let schema = serde_json::from_slice(lines.next().unwrap()).unwrap();
    (Plan::compile(&schema).unwrap(), lines.next().unwrap())
}

/// The sizes of the events.
fn lengths(plan: &Plan, mut bytes: &[u8]) -> (Vec<usize>, Option<DecodeError>) {
    let (mut names, mut strings) = (CounterNames::default(), Interner::default());
    let mut payload = EventPayload::default();
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let mut fields = EventFields::default();
        match decode_event(plan, bytes, &mut fields, &mut payload, &mut names, &mut strings) {
            Ok(event) => {
                events.push(event.len);
                bytes = &bytes[event.len..];
            }
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

fn binary_events(plan: &Plan, mut bytes: &[u8]) -> (Vec<String>, Option<DecodeError>) {
    let (mut names, mut strings) = (CounterNames::default(), Interner::default());
    let mut payload = EventPayload::default();
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let mut fields = EventFields::default();
        match decode_event(plan, bytes, &mut fields, &mut payload, &mut names, &mut strings) {
            Ok(event) => {
                assert!(event.kind.is_some(), "{}", event.type_name);
                events.push(event_text(event.type_name, &fields, &payload, &strings));
                bytes = &bytes[event.len..];
            }
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

fn json_events(text: &str) -> Vec<String> {
    let (mut names, mut strings) = (CounterNames::default(), Interner::default());
    let mut events = Vec::new();
    for line in text.lines().skip(2).filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_str(line).unwrap();
        let body = event["event"].as_object().unwrap().values().next().unwrap();
        let (mut fields, mut payload) = (EventFields::default(), EventPayload::default());
        for (name, value) in body.as_object().unwrap() {
            let Some(slot) = fields::slot(name) else { continue };
            // A branch of a union is an object with the branch's type as its only key.
            let value = match value {
                Value::Object(branch) if branch.len() == 1 => branch.values().next().unwrap(),
                value => value,
            };
            if let Some(set) = fields::counters(&mut payload, slot) {
                for group in value["groups"].as_array().into_iter().flatten() {
                    let index = names.group(group["name"].as_str().unwrap());
                    for count in group["counts"].as_array().unwrap() {
                        let (name, value) =
                            (count["name"].as_str().unwrap(), count["value"].as_i64().unwrap());
                        names.record(index, name, value, set, &mut strings);
                    }
                }
            } else if let Some(array) = fields::splits(&mut payload, slot) {
                array.extend(
                    value.as_array().unwrap().iter().map(|v| i32::try_from(v.as_i64().unwrap()).unwrap()),
                );
            } else {
                let taken = match value {
                    Value::String(text) => fields::set_text(&mut fields, slot, text.clone().into()),
                    Value::Number(number) => fields::set_integer(&mut fields, slot, number.as_i64().unwrap()),
                    Value::Bool(flag) => fields::set_flag(&mut fields, slot, *flag),
                    _ => value.is_null(),
                };
                assert!(taken, "{name}: {value}");
            }
        }
        events.push(event_text(event["type"].as_str().unwrap(), &fields, &payload, &strings));
    }
    events
}

fn histories(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for run in fs::read_dir(folder).unwrap() {
        let files = fs::read_dir(run.unwrap().path()).unwrap().map(|file| file.unwrap().path());
        found.extend(files.filter(|file| file.extension().is_some_and(|end| end == "jhist")));
    }
    found.sort();
    assert!(!found.is_empty(), "no histories in {}", folder.display());
    found
}

#[test]
fn both_avro_encodings_have_the_same_events() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let mut compared = 0;
    for file in histories(&runs.join("hadoop-2.7.3-avro-binary")) {
        let twin =
            runs.join("hadoop-2.7.3").join(file.strip_prefix(runs.join("hadoop-2.7.3-avro-binary")).unwrap());
        let history = fs::read(&file).unwrap();
        let (plan, bytes) = split(&history);
        let (events, error) = binary_events(&plan, bytes);
        assert_eq!(error, None, "{}", file.display());
        let expected = json_events(&fs::read_to_string(twin).unwrap());
        assert_eq!(events, expected, "{}", file.display());
        compared += events.len();
    }
    assert!(compared > 300, "{compared}");
}

/// The recordings of synthetic values differ only in the job id, which is in every other field.
#[test]
fn synthetic_histories_have_the_same_events_except_the_job_id() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let json = histories(&runs.join("hadoop-synthetic-avro-json"));
    for file in histories(&runs.join("hadoop-synthetic-avro-binary")) {
        let twin =
            json.iter().find(|twin| twin.parent().unwrap().file_name() == file.parent().unwrap().file_name());
        let (job, twin_job) = (job_number(&file), job_number(twin.unwrap()));
        let text = fs::read_to_string(twin.unwrap()).unwrap().replace(&twin_job, &job);
        let history = fs::read(&file).unwrap();
        let (plan, bytes) = split(&history);
        assert_eq!(binary_events(&plan, bytes), (json_events(&text), None), "{}", file.display());
    }
}

/// `<cluster start>_<number>` in the file name of a history.
fn job_number(file: &Path) -> String {
    file.file_name().unwrap().to_str().unwrap()["job_".len()..].split('-').next().unwrap().to_owned()
}

#[test]
fn truncated_history_keeps_its_first_events() {
    let Some(runs) = elephant_testing::shared("runs/hadoop-2.7.3-avro-binary") else { return };
    let file = histories(&runs).into_iter().find(|file| file.to_string_lossy().contains("tiny")).unwrap();
    let history = fs::read(file).unwrap();
    let (plan, bytes) = split(&history);
    let (all, _) = lengths(&plan, bytes);
    let mut whole = 0;
    for cut in 0..bytes.len() {
        let (events, error) = lengths(&plan, &bytes[..cut]);
        whole += usize::from(events.len() > whole);
        assert_eq!(events, all[..whole], "{cut}");
        let complete = all[..whole].iter().sum::<usize>() == cut;
        assert_eq!(error, (!complete).then_some(DecodeError::Incomplete), "{cut}");
    }
    assert_eq!(whole, all.len() - 1);
    // In larger steps, because the schema is read again each time.
    for cut in (0..history.len()).step_by(13) {
        let parsed = parse(ByteWindow::new(&history[..cut]));
        let header = history.len() - bytes.len();
        assert_eq!(parsed.applications.len(), usize::from(cut >= header - 1), "{cut}");
    }
}
