//! Reports whose applications are rendered one by one while others are read. The bytes are those of
//! [`write`](super::write).

use std::io::{self, Write};

use super::ascii::in_charset;
use super::{Format, TextOptions, csv, envelope, json, junit, markdown, ndjson, openmetrics, sarif, text};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report};
use elephant_ruleset::RuleInfo;

/// How the applications of a report are rendered one by one.
pub struct PieceFormat<'a> {
    format: Format,
    text: TextOptions,
    /// The rules of the report.
    rules: &'a [RuleInfo],
    numbers: sarif::Rules<'a>,
}

impl<'a> PieceFormat<'a> {
    /// Applications in this format, of a report with these rules.
    #[must_use]
    pub fn new(format: Format, text: TextOptions, rules: &'a [RuleInfo]) -> Self {
        Self { format, text: text.usable(), rules, numbers: sarif::Rules::of(rules) }
    }

    /// One application.
    pub fn render(&self, app: &ApplicationReport) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match self.format {
            Format::Text => text::piece(app, self.text, &mut out)?,
            Format::Json => return json::piece(app),
            #[cfg(feature = "html")]
            Format::Html => return super::html::piece(app),
            Format::Ndjson => ndjson::piece(app, &mut out)?,
            Format::NdjsonEnvelope => envelope::piece(app, &mut out)?,
            Format::Csv => csv::piece(app, &mut out)?,
            Format::CsvQueries => csv::queries::Table::Queries.piece(app, &mut out)?,
            Format::CsvOperators => csv::queries::Table::Operators.piece(app, &mut out)?,
            Format::Markdown => return markdown::piece(app),
            Format::Sarif => return sarif::piece(app, &self.numbers, None),
            Format::Junit => return junit::piece(app, self.rules, None),
            Format::Openmetrics => return Ok(openmetrics::piece(app)),
        }
        Ok(out)
    }

    /// Writes the report with all its applications.
    pub fn write(&self, report: &Report, mut pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Text => {
                in_charset(self.text, out, |out| text::write_pieces(report, pieces, self.text, out))
            }
            Format::Json => json::write_pieces(report, pieces, out),
            #[cfg(feature = "html")]
            Format::Html => super::html::write_pieces(report, &mut pieces, out),
            Format::Ndjson => pieces.each(|piece| out.write_all(piece)),
            Format::NdjsonEnvelope => envelope::write_pieces(report, pieces, out),
            Format::Csv => csv::write_pieces(pieces, out),
            Format::CsvQueries => csv::queries::Table::Queries.write_pieces(pieces, out),
            Format::CsvOperators => csv::queries::Table::Operators.write_pieces(pieces, out),
            Format::Markdown => markdown::write_pieces(report, &mut pieces, out),
            Format::Sarif => sarif::write_pieces(report, &mut pieces, out),
            Format::Junit => junit::write_pieces(report, &mut pieces, out),
            Format::Openmetrics => openmetrics::write_pieces(report, &mut pieces, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write;
    use elephant_engine::engine::{Options, Progress, analyze, analyze_in_pieces};
    use elephant_ruleset::RuleSet;
    use elephant_verdict::troubles::Basis;

    #[test]
    fn pieces_give_the_same_bytes() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let infos = rules.infos();
        let folder = tempfile::tempdir().unwrap();
        // Some applications have charts and no findings.
        let options = Options { charts: 230, ..Options::default() };
        let formats = [
            Format::Text,
            Format::Json,
            #[cfg(feature = "html")]
            Format::Html,
            Format::Ndjson,
            Format::NdjsonEnvelope,
            Format::Csv,
            Format::CsvQueries,
            Format::CsvOperators,
            Format::Markdown,
            Format::Sarif,
            Format::Junit,
            Format::Openmetrics,
        ];
        for paths in [vec![elephant_testing::root().join("testdata")], vec![folder.path().to_owned()]] {
            let whole = analyze(&paths, &rules, options.clone());
            for format in formats {
                let text = TextOptions::default();
                let pieces = PieceFormat::new(format, text, &infos);
                // Other formats keep no applications.
                #[cfg(feature = "html")]
                let charts = if format == Format::Html { options.charts } else { 0 };
                #[cfg(not(feature = "html"))]
                let charts = 0;
                let (report, rendered) = analyze_in_pieces(
                    paths.as_slice().into(),
                    Basis { rules: &rules, prices: None },
                    Options { charts, ..options.clone() },
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
