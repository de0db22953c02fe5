//! Reports whose applications are rendered one by one while others are read. The bytes are those of
//! [`write`](super::write).

use std::io::{self, Write};

use super::ascii::in_charset;
use super::{Format, TextOptions, csv, envelope, json, ndjson, text};
use crate::engine::Pieces;
use crate::results::{ApplicationReport, Report};

/// How the applications of a report are rendered one by one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceFormat {
    format: Format,
    text: TextOptions,
}

impl PieceFormat {
    /// `None` for a format that shows applications together.
    pub(crate) fn of(format: Format, text: TextOptions) -> Option<Self> {
        let has_pieces = [Format::Text, Format::Json, Format::Ndjson, Format::NdjsonEnvelope, Format::Csv];
        has_pieces.contains(&format).then(|| Self { format, text: text.usable() })
    }

    /// One application.
    pub(crate) fn render(self, app: &ApplicationReport) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match self.format {
            Format::Json => return json::piece(app),
            Format::Ndjson => ndjson::piece(app, &mut out)?,
            Format::NdjsonEnvelope => envelope::piece(app, &mut out)?,
            Format::Csv => csv::piece(app, &mut out)?,
            _ => text::piece(app, self.text, &mut out)?,
        }
        Ok(out)
    }

    /// Writes the report with all its applications.
    pub(crate) fn write(self, report: &Report, pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Json => json::write_pieces(report, pieces, out),
            Format::Ndjson => pieces.each(|piece| out.write_all(piece)),
            Format::NdjsonEnvelope => envelope::write_pieces(report, pieces, out),
            Format::Csv => csv::write_pieces(pieces, out),
            _ => in_charset(self.text, out, |out| text::write_pieces(report, pieces, self.text, out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Options, Progress, analyze, analyze_in_pieces};
    use crate::report::write;
    use crate::rules::RuleSet;
    use crate::troubles::Basis;

    #[test]
    fn pieces_give_the_same_bytes() {
        let rules = RuleSet::built_in().unwrap();
        let folder = tempfile::tempdir().unwrap();
        for paths in [vec!["testdata".into()], vec![folder.path().to_owned()]] {
            let whole = analyze(&paths, &rules, Options::default());
            for format in [Format::Text, Format::Json, Format::Ndjson, Format::NdjsonEnvelope, Format::Csv] {
                let text = TextOptions::default();
                let pieces = PieceFormat::of(format, text).unwrap();
                let (report, rendered) = analyze_in_pieces(
                    paths.as_slice().into(),
                    Basis { rules: &rules, prices: None },
                    Options::default(),
                    &Progress::default(),
                    &|app| pieces.render(app),
                );
                let (mut one, mut other) = (Vec::new(), Vec::new());
                write(&whole, format, text, &mut one).unwrap();
                pieces.write(&report, rendered, &mut other).unwrap();
                assert!(one == other, "{format:?}");
            }
        }
    }
}
