//! Suggestions for misspelt words ("did you mean").

/// The entry of `known` that `word` most likely misspells.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.map(|known| (edit_distance(known, word), known)).min()?;
    let limit = (word.chars().count() / 3).clamp(1, 4);
    (near.0 <= limit).then_some(near.1)
}

/// `did you mean "mapper-time"?`, if a known word is similar.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean \"{near}\"?"))
}

/// `unknown severity "high"; expected none, low or moderate`, where `kind` is "severity".
pub(crate) fn unknown_word(kind: &str, word: &str, expected: &[&str]) -> String {
    let list = match expected {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => expected.join(", "),
    };
    format!("unknown {kind} \"{word}\"; expected {list}")
}

/// The Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    super::work::count(a.len() * b.len());
    let b: Vec<char> = b.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(100).enumerate() {
        let mut next = vec![i + 1];
        for ((j, &cb), pair) in b.iter().enumerate().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            let left = next.get(j).copied().unwrap_or(usize::MAX - 1);
            next.push((diagonal + usize::from(ca != cb)).min(above + 1).min(left + 1));
        }
        row = next;
    }
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
    }

    #[test]
    fn only_misspellings_are_guessed() {
        let known = || ["rule", "for", "enabled", "max_severity"].into_iter();
        assert_eq!(nearest("rules", known()), Some("rule"));
        assert_eq!(nearest("max_severty", known()), Some("max_severity"));
        assert_eq!(nearest("deviation", known()), None);
    }
}
