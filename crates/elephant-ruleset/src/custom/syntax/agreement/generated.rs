//! Generated expressions and strings of tokens.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::{Agreement, compare, with_much_stack};

/// Both agree on this many texts, and at least one in `fewest` of them is an expression.
fn agree<S>(cases: u32, fewest: u32, texts: fn() -> S)
where
    S: Strategy<Value = String> + 'static,
{
    with_much_stack(move || {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let read = std::cell::Cell::new(0);
        let result = TestRunner::new(config).run(&texts(), |text| {
            let agreement = compare(&text).map_err(TestCaseError::fail)?;
            read.set(read.get() + u32::from(agreement == Agreement::Tree));
            Ok(())
        });
        if let Err(error) = result {
            panic!("{error}");
        }
        println!("{} of {cases} agree", read.get());
        assert!(read.get() * fewest >= cases, "{} of {cases} are expressions", read.get());
    });
}

/// A space, a new line, a comment, or nothing.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 4 => Just(" "), 1 => Just("\n"), 1 => Just("\t // so\n")]
}

fn leaf() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a",
        "b1",
        "_c",
        "task",
        "true",
        "false",
        "null",
        ".d",
        "'text'",
        "\"\\n\"",
        "r'\\d'",
        "\"\"\"t\"\"\"",
        "b'x'",
        "[]",
        "{}",
        "e{}",
        "f()",
    ]);
    prop_oneof![
        4 => words.prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<u32>().prop_map(|number| format!("0x{number:x}")),
        1 => any::<u16>().prop_map(|number| format!("{number}u")),
        1 => (-1e6..1e6).prop_map(|number: f64| format!("{number:?}")),
        1 => (0.0..1.0).prop_map(|number: f64| format!("{number:e}")),
        1 => any::<String>().prop_map(|text| format!("r'''{}'''", text.replace(['\'', '\0'], "."))),
    ]
}

/// A tree as text, with random brackets and spaces.
fn tree() -> impl Strategy<Value = String> {
    let infix = || {
        prop::sample::select(vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", " in ",
        ])
    };
    let name = || prop::sample::select(vec!["x", "size", "if", "all", "map", "exists", "has"]);
    leaf().prop_recursive(5, 24, 3, move |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            6 => (two.clone(), infix(), space(), space())
                .prop_map(|((left, right), sign, one, other)| format!("{left}{one}{sign}{other}{right}")),
            3 => (inner.clone(), space()).prop_map(|(of, space)| format!("({space}{of})")),
            2 => (prop::sample::select(vec!["!", "-", "--", "!!"]), inner.clone(), space())
                .prop_map(|(sign, of, space)| format!("{sign}{space}{of}")),
            2 => (two.clone(), inner.clone(), space()).prop_map(|((condition, one), other, space)| {
                format!("{condition}{space}?{one}{space}:{other}")
            }),
            1 => (inner.clone(), name(), space())
                .prop_map(|(of, name, space)| format!("({of}){space}.{space}{name}")),
            1 => (two.clone(), name()).prop_map(|((of, arg), name)| format!("({of}).{name}(x, {arg})")),
            1 => two.clone().prop_map(|(of, index)| format!("({of})[{index}]")),
            1 => (prop::collection::vec(inner.clone(), 0..4), space())
                .prop_map(|(args, space)| format!("max{space}({})", args.join(","))),
            1 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("[{},]", parts.join(", "))),
            1 => two.clone().prop_map(|(key, value)| format!("{{{key}: {value}}}")),
            1 => inner.prop_map(|value| format!("a.B{{c: {value}}}")),
        ]
    })
}

#[test]
fn both_agree_on_generated_trees() {
    agree(600, 2, tree);
}

#[test]
fn both_agree_on_strings_of_tokens() {
    agree(3000, 60, || {
        let tokens = [
            "a", "b", "if", "in", "true", "1", "2u", "0x", ".5", "1e", "'t'", "\"", "'", "r'", "b'", "(",
            ")", "[", "]", "{", "}", ",", ".", "?", ":", "!", "-", "-", "+", "*", "%", "==", "=", "<", "&&",
            "||", "&", " ", " ", "\n", "//", "has(", ".all(x,", ".map(", "\\", "`", "é",
        ];
        prop::collection::vec(prop::sample::select(tokens.to_vec()), 1..9).prop_map(|tokens| tokens.concat())
    });
}

#[test]
fn both_agree_on_operands_and_operators() {
    agree(600, 4, || {
        let operands = ["a", "-a", "!a", "--1", "-1", "(a)", "a.b", "a[0]", "f(a)", "[a]", "1.5"];
        let infixes = [" in ", "+", "-", "*", "/", "%", "==", "<", ">=", "&&", "||", "?", ":", " ? a : "];
        let rest = (prop::sample::select(infixes.to_vec()), prop::sample::select(operands.to_vec()));
        let rest = prop::collection::vec(rest, 0..12);
        (prop::sample::select(operands.to_vec()), rest).prop_map(|(first, rest)| {
            rest.into_iter().fold(first.to_owned(), |text, (sign, operand)| text + sign + operand)
        })
    });
}
