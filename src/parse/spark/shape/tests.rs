//! A line whose shape is known says what it says on its own.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::parse::spark::block::{Block, Terms, What};
use crate::parse::spark::plan::Plans;
use crate::parse::spark::strings::Local;

const TERMS: Terms = Terms { max_line_len: 1 << 20, plans: Plans::Kept };

/// What a block says, with names for their numbers.
fn told(block: &Block) -> Vec<String> {
    let text = |name: Option<Local>| name.map(|name| block.strings.get(name).to_owned());
    let (mut starts, mut ends) = (block.starts.iter().cloned(), block.ends.iter().cloned());
    let told = |what: &What| match what {
        What::Start => {
            let mut start = starts.next().unwrap();
            // Starts tell nothing of an end, and no one asks them.
            start.info.getting_result = None;
            start.info.finished = None;
            start.info.failed = None;
            start.info.killed = None;
            let names = (text(start.info.executor.take()), text(start.info.host.take()));
            format!("{start:?} {names:?}")
        }
        What::End => {
            let mut end = ends.next().unwrap();
            // Zero stands for a moment that is not known, and no flag for one that is not set.
            let info = &mut end.info;
            info.getting_result = info.getting_result.filter(|at| *at != 0);
            info.finished = info.finished.filter(|at| *at != 0);
            info.failed = info.failed.filter(|failed| *failed);
            info.killed = info.killed.filter(|killed| *killed);
            let names = [end.info.executor.take(), end.info.host.take(), end.message.take()].map(text);
            let blocks: Vec<_> =
                end.blocks.drain(..).map(|(block, size)| (text(Some(block)), size)).collect();
            format!("{end:?} {names:?} {blocks:?}")
        }
        other => format!("{other:?}"),
    };
    block.items.iter().map(|item| &item.what).map(told).collect()
}

/// How many lines were taken for one of a known shape, after checking that each says what it says on its own.
fn recognised(lines: &[String]) -> usize {
    let mut together = Block::default();
    together.read((lines.concat()).as_bytes(), TERMS);
    let mut alone = Vec::new();
    for line in lines.concat().split_inclusive('\n') {
        let mut block = Block::default();
        block.read(line.as_bytes(), TERMS);
        alone.extend(told(&block));
    }
    let together_told = told(&together);
    let differs = together_told.iter().zip(&alone).position(|(one, other)| one != other);
    if let Some(place) = differs {
        assert_eq!(together_told[place], alone[place]);
    }
    assert_eq!(together_told.len(), alone.len());
    together.recognised()
}

/// A task as Spark 3.5 tells of it.
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

/// Changes a line a little, as no writer would.
fn bent(line: &str, how: usize, at: prop::sample::Index) -> String {
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
    fn a_line_of_a_known_shape_says_what_it_says_on_its_own(
        tasks in prop::collection::vec((task(), any::<bool>(), 0..60usize, any::<prop::sample::Index>()), 1..40),
    ) {
        let lines: Vec<String> = tasks
            .iter()
            .map(|(task, ends, how, at)| {
                let line = if *ends { task.end() } else { task.start() };
                if *how < 15 { bent(&line, *how, *at) } else { line }
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
fn looking_for_shapes_that_lines_do_not_have_comes_to_an_end() {
    // A line that is good, and many that break off behind what they have in common with it.
    let good = numbered(5).end();
    let broken = format!("{}\n", &good[..good.len() - 40]);
    let lines: Vec<String> = std::iter::once(good).chain(std::iter::repeat_n(broken, 500)).collect();
    let mut block = Block::default();
    block.read(lines.concat().as_bytes(), TERMS);
    assert_eq!(block.known_shapes(), 0);
    assert_eq!(block.items.len(), 501);
}

#[test]
fn three_shapes_by_turns_cost_no_credit_for_ever() {
    // The third one stands between the two that are met, and is looked at for each line.
    let with =
        |key: &str| numbered(3).end().replace("\"Result Size\":", &format!("\"{key}\":1,\"Result Size\":"));
    let [first, second, third] = ["A", "B", "C"].map(with);
    let start = [first.clone(), third, second.clone()];
    let turns = (0..300).map(|turn| if turn % 2 == 0 { first.clone() } else { second.clone() });
    let lines: Vec<String> = start.into_iter().chain(turns).collect();
    assert!(recognised(&lines) > 250, "{}", recognised(&lines));
}

#[test]
fn what_is_told_twice_is_for_the_parser_of_any_event() {
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
fn a_line_that_breaks_off_does_not_swallow_the_next() {
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
        // A text that means a line feed says nothing of one that has one.
        let escaped = format!("{}\\n{}", &line[..at], &line[at..]);
        assert!(recognised(&[line.clone(), escaped, broken, line.clone()]) <= 2, "{at}");
    }
}
