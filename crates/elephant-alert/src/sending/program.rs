//! Passes a message to a program, which must end in time.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether the program has ended.
const STEP: Duration = Duration::from_millis(20);

/// Runs a program with the content as its standard input. It is killed if it does not end in time.
pub(super) fn run(command: &[String], content: &str, within: Duration) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("the program is missing".to_owned());
    };
    let mut run = Command::new(program);
    run.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = run.spawn().map_err(|error| format!("{program} cannot be started: {}", error.kind()))?;
    let content = content.to_owned();
    // A program that does not read must not hold up the clock.
    let input = child.stdin.take();
    let written = thread::spawn(move || input.is_some_and(|mut input| input.write_all(content.as_bytes()).is_ok()));
    let status = wait(&mut child, within).map_err(|why| format!("{program} {why}"))?;
    match status {
        // Its standard input is closed now, so that the thread ends.
        0 if written.join().unwrap_or_default() => Ok(()),
        0 => Err(format!("{program} did not read the message")),
        status => Err(format!("{program} ends with status {status}")),
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
