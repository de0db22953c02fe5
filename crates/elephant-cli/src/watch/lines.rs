//! Where the lines go: standard output or a file, and a webhook.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
#[cfg(feature = "http")]
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
#[cfg(feature = "http")]
use serde_json::value::RawValue;

use super::super::output::{self, Output, OutputError, is_standard_output};
use super::super::{interrupt, progress};
use super::{Format, WatchArgs};
#[cfg(feature = "http")]
use elephant_engine::watch::{Client, Outcome, State, TIMEOUT, Webhook};
use elephant_engine::watch::{Status, Told};
use elephant_report::TextOptions;
use elephant_report::watch::{Silent, begin_ndjson, begin_text, status, write_ndjson, write_text};

/// How long to wait for the webhook at the end.
#[cfg(feature = "http")]
const LAST_WAIT: Duration = Duration::from_secs(30);

/// Where the lines go. Each is written whole and at once.
pub(super) struct Lines {
    file: Option<File>,
    format: Format,
    text: TextOptions,
    bar: Option<ProgressBar>,
    buffer: Vec<u8>,
    #[cfg(feature = "http")]
    webhook: Option<Webhook>,
    /// The number of the last message that was given to the webhook.
    #[cfg(feature = "http")]
    given: u64,
}

impl Lines {
    pub(super) fn open(args: &WatchArgs) -> Result<Self, OutputError> {
        let path = args.output.as_deref().filter(|path| !is_standard_output(path));
        let file = path.map(|path| {
            let opened = File::options().read(true).append(true).create(true).open(path);
            opened
                .and_then(whole_lines)
                .map_err(|source| OutputError::Create { path: path.to_owned(), source })
        });
        let wants_bar = !args.no_progress && progress::is_wanted() && io::stdout().is_terminal();
        Ok(Self {
            file: file.transpose()?,
            format: args.format,
            text: Output::open(None)?.text_options(args.color),
            bar: wants_bar.then(bar),
            buffer: Vec::new(),
            #[cfg(feature = "http")]
            webhook: args.webhook.clone().map(|url| Webhook::to(url, Client::new(TIMEOUT))),
            #[cfg(feature = "http")]
            given: 0,
        })
    }

    /// Sends the flags that are queued, at first those that an earlier run could not send, and notes which were accepted.
    #[cfg(feature = "http")]
    pub(super) fn send(&mut self, state: &mut State) -> io::Result<()> {
        self.send_within(Duration::ZERO, state)
    }

    #[cfg(feature = "http")]
    fn send_within(&mut self, within: Duration, state: &mut State) -> io::Result<()> {
        let Some(webhook) = &mut self.webhook else { return Ok(()) };
        for (number, message) in state.queued_after(self.given) {
            webhook.send(number, message);
            self.given = number;
        }
        for outcome in webhook.outcomes(within) {
            match outcome {
                Outcome::Sent(number) => state.sent(number)?,
                Outcome::Refused(number, reason) => {
                    output::print_message("warning", &format!("the webhook refused a flag: {reason}"));
                    state.sent(number)?;
                }
                Outcome::Delayed(reason) => {
                    let message =
                        format!("the webhook did not accept a flag: {reason}; it will be sent again");
                    output::print_message("warning", &message);
                }
            }
        }
        Ok(())
    }

    /// Waits for the webhook.
    #[cfg(feature = "http")]
    pub(super) fn end(&mut self, state: &mut State) -> io::Result<()> {
        self.send_within(LAST_WAIT, state)?;
        let waiting = self.webhook.as_ref().map_or(0, Webhook::waiting);
        if waiting > 0 {
            let message = format!(
                "{waiting} flags were not accepted by the webhook; with --state, the next run sends them"
            );
            output::print_message("warning", &message);
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, active: &[&'static str], silent: &Silent) -> io::Result<()> {
        match self.format {
            Format::Text => begin_text(active, silent, self.text, &mut self.buffer)?,
            Format::Ndjson => begin_ndjson(active, silent, &mut self.buffer)?,
        }
        self.pass_on()
    }

    pub(super) fn write(&mut self, told: &Told) -> io::Result<()> {
        match self.format {
            Format::Text => {
                if let Told::Problem { source, message } = told {
                    self.warn(&format!("{source}: {message}"));
                    return Ok(());
                }
                write_text(told, self.text, &mut self.buffer)?;
            }
            Format::Ndjson => write_ndjson(told, &mut self.buffer)?,
        }
        self.pass_on()
    }

    fn warn(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::print_message("warning", message)),
            None => output::print_message("warning", message),
        }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let Self { file, bar, buffer, .. } = self;
        let written = match (file, bar) {
            (Some(file), _) => file.write_all(buffer),
            (None, Some(bar)) => bar.suspend(|| print(buffer)),
            (None, None) => print(buffer),
        };
        buffer.clear();
        written
    }

    /// Shows what is watched.
    pub(super) fn status(&self, now: Status) {
        if let Some(bar) = &self.bar {
            bar.set_message(status(now));
            bar.tick();
        }
    }
}

/// The message that a flag is sent as: its line of NDJSON.
#[cfg(feature = "http")]
pub(super) fn message(told: &Told) -> io::Result<Box<RawValue>> {
    let mut message = Vec::new();
    write_ndjson(told, &mut message)?;
    Ok(serde_json::from_slice(&message)?)
}

/// Adds a line feed if a full disk has cut off the last line.
fn whole_lines(mut file: File) -> io::Result<File> {
    let mut last = [b'\n'];
    if file.metadata()?.is_file() && file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn print(lines: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(lines)?;
    out.flush()
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    interrupt::clear_on_interrupt(&bar);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
