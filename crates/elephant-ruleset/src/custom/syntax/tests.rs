//! Positions, limits and messages of the parser. `agreement` tests that it reads the right trees.

use proptest::prelude::*;

use super::*;

fn mistake(source: &str) -> Mistake {
    parse(source).expect_err(source)
}

#[test]
fn mistakes_have_a_position_and_say_what_is_expected() {
    for (source, place, message) in [
        ("", 0..0, "the expression is empty"),
        (" // so", 0..0, "the expression is empty"),
        ("1 +", 3..3, "expected a value after \"+\", found the end"),
        (")", 0..1, "expected a value, found \")\""),
        ("a <> b", 3..4, "expected a value after \"<\", found \">\"; write != for \"is not equal to\""),
        (
            "!-a",
            1..2,
            "expected a value after \"!\", found \"-\"; write brackets between ! and -, such as !(-x)",
        ),
        ("a > 5 %", 6..7, "expressions have no unit %; write 5% as 0.05"),
        ("a = b", 2..3, "\"=\" is not a comparison; write =="),
        ("a & b", 2..3, "\"&\" alone is not an operator; write &&"),
        ("a == “b”", 5..8, "“ is not a quotation mark for texts; write \" or '"),
        ("é", 0..2, "'é' cannot be part of a name; names may contain letters from a to z, digits and _"),
        ("a; b", 1..2, "';' has no meaning in an expression"),
        (
            "a > 5min",
            5..8,
            "a number cannot have the unit \"min\" here; write time(\"5min\") or size(\"64MB\")",
        ),
        ("a and b", 2..5, "expected an operator or the end, found \"and\"; write && for \"and\""),
        ("not a", 4..5, "expected an operator or the end, found \"a\"; write ! for \"not\""),
        ("a\n+\n b b", 7..8, "expected an operator or the end, found \"b\""),
        ("'é' 'b'", 5..8, "expected an operator or the end, found a text"),
        ("(a", 2..2, "expected an operator or \")\", found the end"),
        ("f(a b)", 4..5, "expected an operator, \",\" or \")\", found \"b\""),
        ("f(a,)", 4..5, "expected a value after \",\", found \")\""),
        ("[a 5]", 3..4, "expected an operator, \",\" or \"]\", found \"5\""),
        ("[,a]", 2..3, "expected \"]\", found \"a\""),
        ("{a}", 2..3, "expected an operator, or \":\" and a value, found \"}\""),
        ("A{1}", 2..3, "expected the name of a field, found \"1\""),
        ("a.true", 2..6, "expected a name after \".\", found \"true\""),
        ("a ? b", 5..5, "expected an operator, or \":\" and the alternative, found the end"),
        (
            "a ? b ? c : d : e",
            6..7,
            "expected an operator, or \":\" and the alternative, found \"?\"; put the inner condition ? one : other into brackets",
        ),
        ("a + if", 4..6, "\"if\" is a reserved word; choose another name"),
        (
            "- 9223372036854775809",
            0..21,
            "this number is too large; whole numbers go up to 9223372036854775807; write larger numbers like 1e20",
        ),
        ("x == 'abc", 5..6, "the text that starts here has no closing '; it must close on the same line"),
        ("x == r'''abc'", 5..9, "the text that starts here has no closing '''"),
        (
            "'é\\d'",
            3..5,
            "\\d is not an escape sequence; write \\\\ for a backslash, or r\"…\" for a text without escape sequences",
        ),
        (
            "'\\x4'",
            1..3,
            "\\x needs two hexadecimal digits; write \\\\ for a backslash, or r\"…\" for a text without escape sequences",
        ),
    ] {
        let Mistake { at, len, message: found, help } = mistake(source);
        let found = help.map_or(found.clone(), |help| format!("{found}; {help}"));
        assert_eq!((at..at + len, found.as_str()), (place, message), "{source}");
    }
}

#[test]
fn nodes_have_their_text_and_the_part_that_messages_point_at() {
    for (source, span, mark) in [
        (" a.b ", "a.b", "a.b"),
        ("( a . b // so\n )", "a . b", "a . b"),
        ("(a).b", "(a).b", "(a).b"),
        ("a + b*c", "a + b*c", "+"),
        ("(a + b) * c", "(a + b) * c", "*"),
        ("a && b && c", "a && b && c", "&&"),
        ("! a", "! a", "!"),
        ("- 1", "- 1", "- 1"),
        ("f (a)", "f (a)", "f"),
        (".f(a)", ".f(a)", ".f"),
        ("a.f(b).g(c) ", "a.f(b).g(c)", "g"),
        ("a[0]", "a[0]", "["),
        ("a ? b : c", "a ? b : c", "?"),
        ("[a, b]", "[a, b]", "[a, b]"),
        ("{'a': b}", "{'a': b}", "{'a': b}"),
        ("a.B{c: d}", "a.B{c: d}", "a.B{c: d}"),
    ] {
        let expr = parse(source).unwrap();
        let text = |span: &Span| source.get(span.clone()).unwrap();
        assert_eq!((text(&expr.span), text(&expr.mark)), (span, mark), "{source}");
    }
}

#[test]
fn length_and_depth_have_limits() {
    for (open, middle, close, most) in [
        ("(", "1", ")", 31),
        ("[", "1", "]", 31),
        ("f(", "1", ")", 31),
        ("a?b:", "c", "", 31),
        ("a+(", "b", ")", 31),
        ("!(", "a", ")", 31),
        ("{a:", "b", "}", 31),
        ("A{a:", "b", "}", 31),
        ("a[", "b", "]", 31),
        ("-", "a", "", 1999),
    ] {
        for times in [most, most + 1] {
            let source = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
            assert_eq!(parse(&source).is_ok(), times == most, "{source}");
        }
    }
    for (part, between, most) in [("1", "+", 127), ("b", ".", 127), ("a", "<", 127), ("a", "&&", 600)] {
        let chain = |parts: usize| vec![part; parts].join(between);
        assert!(parse(&chain(most + 1)).is_ok(), "{between}");
        assert_eq!(parse(&chain(most + 2)).is_ok(), most == 600, "{between}");
    }
    assert!(mistake(&"a+".repeat(200)).message.contains("too many operators"));
    assert!(mistake(&"a".repeat(2001)).message.contains("2001 bytes"));
    assert!(parse(&"a".repeat(2000)).is_ok());
}

#[test]
fn brackets_in_texts_do_not_count() {
    assert!(parse(&format!("'{}' + r\"{}\"", "(".repeat(500), "[!-.".repeat(200))).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_tree_or_a_mistake_inside_it(source in ".{0,60}") {
        check(&source)?;
    }

    #[test]
    fn any_symbols_give_a_tree_or_a_mistake_inside_them(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b.c", "1", "0x", "1e9", "'", "\"", "(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "!",
                "-", "+", "*", "/", "%", "==", "<", "&&", "||", " in ", "null", "has(", "\\", "`", "é", "\n", "r'",
                "b'", "'''", "\\u00", "\\é", ".map(x,", ".all(", "@", "\0", "u", "//",
            ]),
            0..25,
        )
    ) {
        check(&parts.concat())?;
    }
}

/// Checks that positions are inside the source and at character boundaries.
fn check(source: &str) -> Result<(), TestCaseError> {
    let span = match parse(source) {
        Ok(expr) => expr.span,
        Err(mistake) => mistake.at..mistake.at + mistake.len,
    };
    prop_assert!(source.get(span.clone()).is_some(), "{:?} in {:?}", span, source);
    Ok(())
}
