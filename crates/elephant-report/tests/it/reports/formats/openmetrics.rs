//! The grammar of `OpenMetrics` 1.0 for gauges: the ABNF and naming rules of the specification.

use std::collections::BTreeSet;

/// One sample: the family's name, labels, value.
pub(super) type Sample = (String, Vec<(String, String)>, f64);

/// All samples of the exposition; panics if it violates the specification.
pub(super) fn parse(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("ends with # EOF and a line feed");
    let (mut families, mut series, mut samples) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let mut current: Option<(String, bool)> = None;
    for line in body.split_terminator('\n') {
        assert!(!line.contains('\r'), "{line:?}");
        if let Some(descriptor) = line.strip_prefix("# ") {
            let (kind, rest) = descriptor.split_once(' ').unwrap();
            let (name, value) = rest.split_once(' ').unwrap();
            match kind {
                "TYPE" => {
                    assert!(is_name(name, true) && families.insert(name.to_owned()), "{line}");
                    assert_eq!(value, "gauge");
                    current = Some((name.to_owned(), false));
                }
                "UNIT" => assert!(name.ends_with(&format!("_{value}")) && is_name(value, true), "{line}"),
                "HELP" => drop(unescaped(value)),
                _ => panic!("{line}"),
            }
            let (family, has_samples) = current.as_ref().unwrap();
            assert!(family == name && !has_samples, "descriptors come first: {line}");
            continue;
        }
        let (family, has_samples) = current.as_mut().expect("samples follow a descriptor");
        *has_samples = true;
        let sample = sample(line);
        assert_eq!(sample.0, *family, "samples follow their own family");
        let mut labels = sample.1.clone();
        labels.sort();
        assert!(series.insert((sample.0.clone(), labels)), "duplicate series: {line}");
        samples.push(sample);
    }
    samples
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name, true), "{line}");
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, value) = rest.split_once("=\"").unwrap();
            assert!(is_name(label, false) && labels.iter().all(|(known, _)| known != label), "{line}");
            let end = end_of_value(value);
            labels.push((label.to_owned(), unescaped(&value[..end])));
            rest = &value[end + 1..];
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => break,
            }
        }
        rest = rest.strip_prefix('}').unwrap();
    }
    let value = rest.strip_prefix(' ').unwrap();
    assert!(!value.contains(' '), "no timestamp is written: {line}");
    let value: f64 = value.parse().unwrap();
    assert!(value.is_finite(), "{line}");
    (name.to_owned(), labels, value)
}

/// The position of the quote that ends a label value.
fn end_of_value(text: &str) -> usize {
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        match c {
            '"' if !escaped => return place,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    panic!("unterminated value: {text:?}");
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(match chars.next() {
                Some('n') => '\n',
                Some(c @ ('\\' | '"')) => c,
                other => panic!("an invalid escape {other:?} in {text:?}"),
            }),
            '"' => panic!("an unescaped quote in {text:?}"),
            c => plain.push(c),
        }
    }
    plain
}

fn is_name(name: &str, colons: bool) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || (colons && c == ':');
    !name.is_empty() && name.chars().all(fine) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[test]
fn grammar_rejects_invalid_input() {
    for wrong in [
        "# TYPE a gauge\na 1\n",
        "a 1\n# EOF\n",
        "# TYPE a gauge\na{b=\"c\"d\"} 1\n# EOF\n",
        "# TYPE a gauge\na 1\na 2\n# EOF\n",
        "# TYPE a gauge\n# UNIT a seconds\n# EOF\n",
        "# TYPE a gauge\nb 1\n# EOF\n",
        "# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n",
        "# TYPE a gauge\na NaN\n# EOF\n",
    ] {
        assert!(std::panic::catch_unwind(|| parse(wrong)).is_err(), "{wrong}");
    }
    assert_eq!(parse("# TYPE a gauge\na{b=\"c\\\"\\\\\"} 1.5\n# EOF\n")[0].1[0].1, "c\"\\");
}
