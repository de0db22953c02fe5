//! Gives applications the configurations that stand beside their histories.

use super::source::{SourceOutcome, error_problem};
use crate::results::SourceProblem;
use elephant_input::inventory::{Inventory, Source};
use elephant_input::part::Part;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_parse::{Level, Problem, Problems, container_sizes, jobconf};

/// Configurations longer than this are cut. Real ones have about 200 KiB.
const MAX_CONF_LEN: u64 = 64 << 20;

/// Gives a job the configuration that its source holds, else the one in a file beside it.
pub(super) fn configure_job<'a, T>(
    app: &mut Application,
    (embedded, source, inventory): (&mut Vec<(String, Conf)>, &Source, &'a Inventory),
    sources: &mut Vec<String>,
    outcome: &mut SourceOutcome<'a, T>,
) {
    match embedded.iter().position(|(id, _)| *id == app.id) {
        Some(at) => app.conf = embedded.swap_remove(at).1,
        None => attach_conf(app, source, inventory, sources, outcome),
    }
    outcome.problems.extend(complete_from_conf(app, &source.path.to_string()));
}

/// Gives a DAG of Tez the configuration of the application that ran it, which is that of its other DAGs, too.
pub(super) fn configure_dag(app: &mut Application, confs: &[(String, Conf)]) {
    let Some(tez) = &app.tez else { return };
    let conf = confs.iter().find(|(id, _)| *id == tez.application_id);
    app.conf = conf.map(|(_, conf)| conf.clone()).unwrap_or_default();
    app.queue = app.queue.take().or_else(|| app.conf.text(ConfKey::TezQueue));
}

/// Reads the configuration file of the job, if it exists.
fn attach_conf<'a, T>(
    app: &mut Application,
    source: &Source,
    inventory: &'a Inventory,
    sources: &mut Vec<String>,
    outcome: &mut SourceOutcome<'a, T>,
) {
    let Some(file) = inventory.conf_for(source.path.as_path(), &app.id) else { return };
    let shown = file.path.display().to_string();
    match read_conf(&file.part) {
        Ok((conf, problems)) => {
            app.conf = conf;
            let keep = |problem| SourceProblem { source: shown.clone(), problem };
            outcome.problems.extend(problems.into_iter().map(keep));
            sources.push(shown);
            outcome.confs.push(file.part.file().into());
        }
        Err(message) => outcome.problems.push(error_problem(shown, "unreadable", message)),
    }
}

fn read_conf(part: &Part) -> Result<(Conf, Vec<Problem>), String> {
    use std::io::Read;
    let stream = part.open().map_err(|error| error.to_string())?;
    // Bytes before a read error are parsed; the parser reports that the end is missing.
    let window = ByteWindow::expecting(stream.plain_len(), stream.take(MAX_CONF_LEN));
    let (bytes, failure) = window.into_rest();
    if let Some(error) = failure.as_ref().filter(|_| bytes.is_empty()) {
        return Err(error.to_string());
    }
    let (conf, mut problems) = jobconf::parse(bytes);
    if let Some(error) = failure.filter(|_| !problems.any_at_least(Level::Warning)) {
        problems.warn("truncated", None, || {
            format!(
                "all properties of the configuration were read, but its file breaks off after them: {error}"
            )
        });
    }
    Ok((conf, problems.into_vec()))
}

/// Takes what the history lacks from the configuration, and forgets sizes that cannot be right.
fn complete_from_conf(app: &mut Application, name: &str) -> impl Iterator<Item = SourceProblem> + use<> {
    app.name = app.name.take().or_else(|| app.conf.text(ConfKey::JobName));
    app.user = app.user.take().or_else(|| app.conf.text(ConfKey::User));
    app.queue = app.queue.take().or_else(|| app.conf.text(ConfKey::Queue));
    let (mut problems, source) = (Problems::default(), name.to_owned());
    container_sizes::check(app, &mut problems);
    problems.into_vec().into_iter().map(move |problem| SourceProblem { source: source.clone(), problem })
}
