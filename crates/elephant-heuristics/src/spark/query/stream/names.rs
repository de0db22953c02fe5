//! Names of streams, their sources and their batches.

use elephant_base::units::with_thousands;
use elephant_model::model::spark::{Batch, Stream};

/// Maximum length of the name of a source, in characters.
const MAX_LEN: usize = 60;

/// "stream "clicks"", or the id of a stream without a name.
pub(super) fn name_of_stream(stream: &Stream) -> String {
    match (&stream.name, &stream.id) {
        (Some(name), _) => format!("stream \"{name}\""),
        (None, Some(id)) => format!("stream {id}"),
        (None, None) => format!("stream {}", stream.run),
    }
}

/// What a stream reads, without its options: `KafkaV2[Subscribe[orders]]`.
pub(super) fn name_of_sources(stream: &Stream) -> String {
    let named = stream.sources.iter().map(|source| shortened(source.trim())).filter(|name| !name.is_empty());
    let names: Vec<String> = named.collect();
    if names.is_empty() { "its source".to_owned() } else { names.join(" and ") }
}

/// The operators that keep the state of a stream, each once.
pub(super) fn name_of_state(stream: &Stream) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in stream.state_operators.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// "batch 7", or "batches 3 to 7".
pub(super) fn numbers_of(batches: &[&Batch]) -> String {
    let number = |batch: Option<&&Batch>| batch.and_then(|batch| batch.number);
    match (number(batches.first()), number(batches.last())) {
        (Some(first), Some(last)) if first == last => format!("batch {first}"),
        (Some(first), Some(last)) => format!("batches {first} to {last}"),
        _ if batches.len() == 1 => "a batch".to_owned(),
        _ => format!("{} batches", batches.len()),
    }
}

/// A rate or a count of rows as a whole number: "197,545".
pub(super) fn whole(value: f64) -> String {
    with_thousands(&format!("{:.0}", value.max(0.0)))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_and_batches_have_names() {
        let mut stream = Stream { run: "r".to_owned(), ..Stream::default() };
        assert_eq!(name_of_stream(&stream), "stream r");
        stream.name = Some("clicks".to_owned());
        assert_eq!(
            (name_of_stream(&stream).as_str(), name_of_sources(&stream).as_str()),
            ("stream \"clicks\"", "its source")
        );
        stream.sources = vec!["KafkaV2[Subscribe[a]]".to_owned(), "x".repeat(70)];
        assert_eq!(name_of_sources(&stream), format!("KafkaV2[Subscribe[a]] and {}…", "x".repeat(60)));
        stream.state_operators = vec![Some("dedupe".to_owned()), None, Some("dedupe".to_owned())];
        assert_eq!(name_of_state(&stream), "dedupe");
        let batch = |number| Batch { number, ..Batch::default() };
        let (one, two, unknown) = (batch(Some(1)), batch(Some(2)), batch(None));
        assert_eq!(numbers_of(&[&one]), "batch 1");
        assert_eq!(numbers_of(&[&one, &two]), "batches 1 to 2");
        assert_eq!(
            (numbers_of(&[&unknown]), numbers_of(&[&one, &unknown])),
            ("a batch".to_owned(), "2 batches".to_owned())
        );
        assert_eq!(whole(197_545.4), "197,545");
    }
}
