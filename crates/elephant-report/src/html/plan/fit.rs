//! Texts that fit into a box, whatever font a browser chooses.

use crate::html::filters::cut_text;

/// The width of a line in a box, in fifths of a small letter.
const LINE_WIDTH: usize = 128;
/// No line has more characters.
const MOST: usize = 40;
/// A name has so many lines.
const NAME_LINES: usize = 2;

/// The width of a text in a box, in fifths of a small letter; browsers choose the font, so this is a bound for wide ones.
fn width(text: &str) -> usize {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' => 4,
        'm' | 'w' | 'M' | 'W' => 8,
        c if c.is_ascii_lowercase() || c.is_ascii_digit() => 5,
        c if c.is_ascii() => 6,
        _ => 10,
    };
    text.chars().map(of).sum()
}

/// A text that fits into a line of a box, with an ellipsis if it was longer.
pub(super) fn fitted(text: &str) -> String {
    let shown = cut_text(text, MOST);
    if width(&shown) <= LINE_WIDTH {
        return shown;
    }
    let mut kept = String::new();
    for c in shown.chars() {
        if width(&kept) + width(c.encode_utf8(&mut [0; 4])) + width("…") > LINE_WIDTH {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// A name in lines that fit into a box.
pub(super) fn broken(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        let is_full = lines.len() == NAME_LINES;
        let fits = |line: &String| is_full || width(line) + width(" ") + width(word) <= LINE_WIDTH;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fitted(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_between_words_and_cut_in_the_last_line() {
        assert_eq!(broken("SortMergeJoin on k"), ["SortMergeJoin on k"]);
        assert_eq!(broken("BroadcastHashJoin on OP_CARRIER"), ["BroadcastHashJoin on", "OP_CARRIER"]);
        let [first, second] =
            broken("Sort by alpha, beta, gamma, delta, epsilon, zeta, eta").try_into().unwrap();
        assert_eq!(first, "Sort by alpha, beta,");
        assert!(second.ends_with('…') && width(&second) <= LINE_WIDTH, "{second}");
        assert!(broken(&"W".repeat(5000)).iter().all(|line| width(line) <= LINE_WIDTH));
        assert_eq!(broken(""), [""; 0]);
    }
}
