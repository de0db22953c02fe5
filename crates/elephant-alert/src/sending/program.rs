//! Passes a message to a program, which must end in time.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::transport::Failure;

/// How often it is looked whether the program has ended.
const STEP: Duration = Duration::from_millis(50);

/// The exit status that says that the message is wrong (`EX_DATAERR` of sendmail and others).
const DATA_ERROR: i32 = 65;

/// Runs a program with the content as its standard input. It is killed if it does not end in time.
pub(super) fn run(command: &[String], content: &str, within: Duration) -> Result<(), Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::Broken("the program is missing".to_owned()));
    };
    let later = |why: String| Failure::Later { why: format!("{program} {why}"), after: None };
    let mut run = Command::new(program);
    run.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = run.spawn();
    let mut child =
        started.map_err(|error| Failure::Broken(format!("{program} cannot be started: {}", error.kind())))?;
    let content = content.to_owned();
    // A program that does not read must not hold up the clock.
    let input = child.stdin.take();
    let (told, written) = channel();
    thread::spawn(move || {
        told.send(input.is_some_and(|mut input| input.write_all(content.as_bytes()).is_ok()))
    });
    match wait(&mut child, within).map_err(later)? {
        0 if written.recv_timeout(STEP).unwrap_or_default() => Ok(()),
        0 => Err(later("did not read the message".to_owned())),
        DATA_ERROR => Err(Failure::Refused(format!("{program} ends with status {DATA_ERROR}"))),
        status => Err(later(format!("ends with status {status}"))),
    }
}

/// The exit status of a program.
fn wait(child: &mut Child, within: Duration) -> Result<i32, String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code().ok_or_else(|| "was killed".to_owned()),
            Ok(None) if begun.elapsed() < within => thread::sleep(STEP),
            Ok(None) => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err("does not end in time, and was killed".to_owned());
            }
            Err(error) => return Err(format!("cannot be waited for: {}", error.kind())),
        }
    }
}
