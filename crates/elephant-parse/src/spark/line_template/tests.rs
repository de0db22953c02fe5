//! A line that is read by a template yields the same event as on its own.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::spark::block::{Block, ItemKind, ReadOptions};
use crate::spark::strings::Local;

const OPTIONS: ReadOptions = ReadOptions { max_line_len: 1 << 20 };

/// The contents of a block, with names instead of string numbers.
fn contents(block: &Block) -> Vec<String> {
    let text = |name: Option<Local>| name.map(|name| block.strings.get(name).to_owned());
    let (mut starts, mut ends) = (block.starts.iter().cloned(), block.ends.iter().cloned());
    let content = |kind: &ItemKind| match kind {
        ItemKind::Start => {
            let mut start = starts.next().unwrap();
            // A start has no result yet; only the general parser reads this field, and nothing uses it.
            start.info.getting_result = None;
            start.info.finished = None;
            start.info.failed = None;
            start.info.killed = None;
            let names = (text(start.info.executor.take()), text(start.info.host.take()));
            format!("{start:?} {names:?}")
        }
        ItemKind::End => {
            let mut end = ends.next().unwrap();
            // Zero means an unknown time, and an absent flag is false.
            let info = &mut end.info;
            info.getting_result = info.getting_result.filter(|at| *at != 0);
            info.finished = info.finished.filter(|at| *at != 0);
            info.failed = info.failed.filter(|failed| *failed);
            info.killed = info.killed.filter(|killed| *killed);
            let names = [end.info.executor.take(), end.info.host.take(), end.message.take()].map(text);
            format!("{end:?} {names:?}")
        }
        other => format!("{other:?}"),
    };
    block.items.iter().map(|item| &item.kind).map(content).collect()
}

/// Number of lines that were read by a template, after checking that each yields the same event as on its
/// own.
fn recognised(lines: &[String]) -> usize {
    let mut together = Block::default();
    together.read((lines.concat()).as_bytes(), OPTIONS);
    let mut alone = Vec::new();
    for line in lines.concat().split_inclusive('\n') {
        let mut block = Block::default();
        block.read(line.as_bytes(), OPTIONS);
        alone.extend(contents(&block));
    }
    let together_contents = contents(&together);
    let differs = together_contents.iter().zip(&alone).position(|(one, other)| one != other);
    if let Some(place) = differs {
        assert_eq!(together_contents[place], alone[place]);
    }
    assert_eq!(together_contents.len(), alone.len());
    together.recognised()
}

/// A task in the format of Spark 3.5.
#[derive(Debug, Clone)]
struct Task {
    numbers: Vec<u64>,
    executor: String,
    locality: &'static str,
    speculative: bool,
}

impl Task {
    fn number(&self, place: usize) -> u64 {
        self.numbers[place % self.numbers.len()]
    }

    fn info(&self, ends: bool) -> String {
        let accumulables = if ends && !self.number(9).is_multiple_of(3) {
            format!(
                r#"[{{"ID":{},"Name":"internal.metrics.resultSize [x]","Update":{},"Value":[1,{{"a":"]}},\"b"}}]}}]"#,
                self.number(7),
                self.number(8)
            )
        } else {
            "[]".to_owned()
        };
        format!(
            r#"{{"Task ID":{},"Index":{},"Attempt":0,"Partition ID":{},"Launch Time":{},"Executor ID":"{}","Host":"node{}","Locality":"{}","Speculative":{},"Getting Result Time":0,"Finish Time":{},"Failed":false,"Killed":false,"Accumulables":{accumulables}}}"#,
            self.number(0),
            self.number(1),
            self.number(1),
            self.number(2),
            self.executor,
            self.number(3) % 4,
            self.locality,
            self.speculative,
            if ends { self.number(4) } else { 0 },
        )
    }

    fn start(&self) -> String {
        format!(
            "{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":{},\"Stage Attempt ID\":0,\"Task Info\":{}}}\n",
            self.number(5) % 3,
            self.info(false)
        )
    }

    fn end(&self) -> String {
        let mut metrics = String::new();
        for (place, key) in [
            "Executor Deserialize Time",
            "Executor Deserialize CPU Time",
            "Executor Run Time",
            "Executor CPU Time",
            "Peak Execution Memory",
            "Result Size",
            "JVM GC Time",
            "Result Serialization Time",
            "Memory Bytes Spilled",
            "Disk Bytes Spilled",
        ]
        .into_iter()
        .enumerate()
        {
            write!(metrics, "\"{key}\":{},", self.number(place + 10)).unwrap();
        }
        format!(
            "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":{},\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\
             \"Task End Reason\":{{\"Reason\":\"Success\"}},\"Task Info\":{},\"Task Executor Metrics\":\
             {{\"JVMHeapMemory\":{},\"JVMOffHeapMemory\":0,\"TotalGCTime\":{}}},\"Task Metrics\":{{{metrics}\
             \"Shuffle Read Metrics\":{{\"Remote Blocks Fetched\":{},\"Local Bytes Read\":{},\"Push Based Shuffle\":\
             {{\"Merged Local Blocks Fetched\":0}}}},\"Shuffle Write Metrics\":{{\"Shuffle Bytes Written\":{},\
             \"Shuffle Write Time\":{}}},\"Input Metrics\":{{\"Bytes Read\":{},\"Records Read\":7}},\"Output Metrics\":\
             {{\"Bytes Written\":0,\"Records Written\":0}},\"Updated Blocks\":[]}}}}\n",
            self.number(5) % 3,
            self.info(true),
            self.number(6),
            self.number(20),
            self.number(21),
            self.number(22),
            self.number(23),
            self.number(24),
            self.number(25),
        )
    }
}

fn task() -> impl Strategy<Value = Task> {
    let number = prop_oneof![
        3 => Just(0),
        3 => 0..100u64,
        3 => 1_700_000_000_000..1_800_000_000_000u64,
        1 => any::<u64>(),
    ];
    let locality = prop::sample::select(vec!["PROCESS_LOCAL", "NODE_LOCAL", "ANY", "SOMEWHERE"]);
    let executor = prop_oneof![4 => "[0-9]", 1 => "\\PC{0,4}".prop_map(|text| text.replace(['"', '\\'], ""))];
    (prop::collection::vec(number, 26), executor, locality, any::<bool>()).prop_map(
        |(numbers, executor, locality, speculative)| Task { numbers, executor, locality, speculative },
    )
}

/// Changes a line in a way that no writer would.
fn damaged(line: &str, how: usize, at: prop::sample::Index) -> String {
    let text = line.trim_end();
    let cut = text.char_indices().map(|(place, _)| place).collect::<Vec<_>>()[at.index(text.chars().count())];
    match how {
        0 => format!("{}\n", &text[..cut]),
        1 => format!("{}\n{}\n", &text[..cut], &text[cut..]),
        2 => format!("{} {}\n", &text[..cut], &text[cut..]),
        3 => format!("{}{}\n", &text[..cut], text[cut..].chars().skip(1).collect::<String>()),
        4 => text.replacen(":0", ":-1", 1) + "\n",
        5 => text.replacen(":0", ":0.5", 1) + "\n",
        6 => text.replacen(":0", ":\"0\"", 1) + "\n",
        7 => text.replacen(":0", ":null", 1) + "\n",
        8 => text.replacen("\"Success\"", "\"TaskKilled\",\"Kill Reason\":\"x\"", 1) + "\n",
        9 => text.replacen("\"Index\":", "\"Index\":5,\"Index\":", 1) + "\n",
        10 => {
            text.replacen(
                "\"Updated Blocks\":[]",
                "\"Updated Blocks\":[{\"Block ID\":\"rdd_1_2\",\"Status\":{\"Memory Size\":5}}]",
                1,
            ) + "\n"
        }
        11 => text.replacen("\"Result Size\":", "\"Result  Size\":", 1) + "\n",
        12 => format!("{text}\r\n"),
        13 => text.replacen("\"Host\":\"", "\"Host\":\"\\u0041", 1) + "\n",
        _ => text.replacen("\"Task Metrics\":{", "\"Task Metrics\":{\"New\":{\"Deep\":[1,2]},", 1) + "\n",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_line_read_by_a_template_yields_the_same_event(
        tasks in prop::collection::vec((task(), any::<bool>(), 0..60usize, any::<prop::sample::Index>()), 1..40),
    ) {
        let lines: Vec<String> = tasks
            .iter()
            .map(|(task, ends, how, at)| {
                let line = if *ends { task.end() } else { task.start() };
                if *how < 15 { damaged(&line, *how, *at) } else { line }
            })
            .collect();
        recognised(&lines);
    }
}

fn numbered(number: u64) -> Task {
    let numbers = (0..26).map(|place| if place < 9 { number * place } else { 0 }).collect();
    Task { numbers, executor: (number % 7).to_string(), locality: "ANY", speculative: false }
}

#[test]
fn lines_like_the_first_are_recognised() {
    let lines: Vec<String> =
        (0..200).flat_map(|number| [numbered(number).start(), numbered(number).end()]).collect();
    assert!(recognised(&lines) > 390, "{}", recognised(&lines));
}

#[test]
fn templates_that_never_match_are_dropped() {
    // A valid line, and many that break off after the part they share with it.
    let good = numbered(5).end();
    let broken = format!("{}\n", &good[..good.len() - 40]);
    let lines: Vec<String> = std::iter::once(good).chain(std::iter::repeat_n(broken, 500)).collect();
    let mut block = Block::default();
    block.read(lines.concat().as_bytes(), OPTIONS);
    assert_eq!(block.template_count(), 0);
    assert_eq!(block.items.len(), 501);
}

#[test]
fn three_alternating_templates_keep_their_credit() {
    // The third template stands between the other two and is tried for each line.
    let with =
        |key: &str| numbered(3).end().replace("\"Result Size\":", &format!("\"{key}\":1,\"Result Size\":"));
    let [first, second, third] = ["A", "B", "C"].map(with);
    let start = [first.clone(), third, second.clone()];
    let turns = (0..300).map(|turn| if turn % 2 == 0 { first.clone() } else { second.clone() });
    let lines: Vec<String> = start.into_iter().chain(turns).collect();
    assert!(recognised(&lines) > 250, "{}", recognised(&lines));
}

#[test]
fn duplicate_keys_are_left_to_the_general_parser() {
    for twice in ["\"Locality\":\"ANY\",\"Locality\":null", "\"Locality\":\"ANY\",\"Locality\":\"ELSEWHERE\""]
    {
        let odd = |locality: &str| {
            let line = numbered(3).end().replace("\"Locality\":\"ANY\"", twice);
            line.replacen("\"ANY\"", locality, 1)
        };
        assert_eq!(recognised(&[odd("\"SOMEWHERE\""), odd("\"ANY\""), odd("\"NO_PREF\"")]), 0);
    }
    let outside = |locality: &str| {
        let line = numbered(3).end().replace("\"Locality\":\"ANY\",", "");
        line.replace("\"Stage ID\":", &format!("\"Task Info/Locality\":\"{locality}\",\"Stage ID\":"))
    };
    recognised(&[outside("SOMEWHERE"), outside("ANY"), outside("NO_PREF")]);
}

#[test]
fn a_truncated_line_does_not_swallow_the_next() {
    let line = numbered(11).end();
    let cut = line.find("\"Accumulables\":[").unwrap() + 18;
    let lines = [line.clone(), format!("{}\n", &line[..cut]), line.clone(), line];
    assert_eq!(recognised(&lines), 2);
}

#[test]
fn a_line_feed_at_any_place_ends_the_line() {
    let line = numbered(11).end();
    for at in 0..line.len() - 1 {
        let broken = format!("{}\n{}", &line[..at], &line[at..]);
        // An escaped line feed is not a line feed.
        let escaped = format!("{}\\n{}", &line[..at], &line[at..]);
        assert!(recognised(&[line.clone(), escaped, broken, line.clone()]) <= 2, "{at}");
    }
}
