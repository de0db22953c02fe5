//! How stages and messages of logs are shown.

use crate::model::spark::Stage;

/// The most of a stage's name that messages show.
const NAME: usize = 40;
/// The most of a message of the log that messages show.
const MESSAGE: usize = 160;

/// "stage 3.0 (count at App.scala:10)".
pub(super) fn label(stage: &Stage) -> String {
    match stage.name.as_deref().map(|name| cut(name.trim(), NAME)) {
        Some(name) if !name.is_empty() => format!("stage {} ({name})", stage.id),
        _ => format!("stage {}", stage.id),
    }
}

/// The first line of a message, without a full stop, cut to what people read.
pub(super) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    cut(words.join(" ").trim_end_matches(['.', ':']), MESSAGE)
}

/// `text` cut to `most` characters, with "…" for what is left out.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
