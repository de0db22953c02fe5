//! Suggestions for misspelt words ("did you mean").

use std::cmp::Reverse;

/// The entry of `known` that `word` most likely misspells.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // If two words are equally near, the writer more likely means the one that begins in the same way.
    let near =
        known.map(|known| (edit_distance(known, word), Reverse(same_start(known, word)), known)).min()?;
    let limit = (word.chars().count() / 3).clamp(1, 4);
    (near.0 <= limit).then_some(near.2)
}

/// The number of letters with which both words begin.
fn same_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// `did you mean "mapper-time"?`, if a known word is similar.
pub fn did_you_mean<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean \"{near}\"?"))
}

/// `unknown severity "high"; expected none, low or moderate`, where `kind` is "severity".
#[must_use]
pub fn unknown_word(kind: &str, word: &str, expected: &[&str]) -> String {
    format!("unknown {kind} \"{word}\"; expected {}", one_of(expected))
}

/// "none, low or moderate".
#[must_use]
pub fn one_of(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.join(", "),
    }
}

/// The Levenshtein distance, where two letters in the wrong order are one mistake.
fn edit_distance(a: &str, b: &str) -> usize {
    super::work::count(a.len() * b.len());
    let a: Vec<char> = a.chars().take(100).collect();
    let b: Vec<char> = b.chars().take(100).collect();
    // The rows for the letters of `a` up to the last one and the one before.
    let mut rows = [vec![usize::MAX - 1; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>()];
    for (i, &ca) in a.iter().enumerate() {
        let before_ca = i.checked_sub(1).and_then(|i| a.get(i)).copied();
        let [before, row] = &rows;
        let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX - 1);
        let mut next = vec![i + 1];
        let mut before_cb = None;
        for (j, &cb) in b.iter().enumerate() {
            let changed = at(row, j) + usize::from(ca != cb);
            let nearest = changed.min(at(row, j + 1) + 1).min(at(&next, j) + 1);
            let is_swapped = before_ca == Some(cb) && before_cb == Some(ca);
            let swapped = j.checked_sub(1).filter(|_| is_swapped).map(|j| at(before, j) + 1);
            next.push(swapped.map_or(nearest, |swapped| swapped.min(nearest)));
            before_cb = Some(cb);
        }
        let [_, row] = rows;
        rows = [row, next];
    }
    let [_, row] = rows;
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance("mapper-skew", "maper-skew"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
        assert_eq!(edit_distance("title", "titel"), 1);
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("abc", "cba"), 2);
    }

    #[test]
    fn only_misspellings_are_guessed() {
        let known = || ["rule", "for", "enabled", "max_severity"].into_iter();
        assert_eq!(nearest("rules", known()), Some("rule"));
        assert_eq!(nearest("max_severty", known()), Some("max_severity"));
        assert_eq!(nearest("deviation", known()), None);
        let rules = ["mapper-gc", "mapper-skew"].into_iter();
        assert_eq!(nearest("mapper-sk", rules), Some("mapper-skew"));
    }
}
