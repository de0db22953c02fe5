//! Words for answers from a store.

use crate::document::Value;
pub(crate) use crate::words::amount;
use crate::words::plural;
use crate::wrap::clean;
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{
    Answer, Change, Changed, Fleet, Group, Measure, PerMonth, Periods, Realised, Remedy, Run, Runs,
    SettingChange, Unread, View,
};

/// A day, without the time.
pub(crate) fn day(moment: Option<Timestamp>) -> Option<String> {
    moment.and_then(crate::words::day)
}

/// The wasted share of the memory of those applications whose waste is known, in percent.
pub(crate) fn share(group: &Group) -> Option<f64> {
    let (wasted, judged) = group.wasted_gb_hours.zip(group.judged_gb_hours)?;
    (judged > 0.0).then(|| 100.0 * wasted / judged)
}

/// How many applications or runs of a job there are, and when they ran.
pub(crate) fn extent(answer: &Answer) -> String {
    let Answer { total, from, until, view, .. } = answer;
    let all = match view {
        View::Job(runs) if total.applications == 0 => {
            return format!("no run of the job {} matches the filters", clean(&runs.job));
        }
        View::Job(runs) => format!("{}: {}", clean(&runs.job), plural(total.applications, "run")),
        _ => plural(total.applications, "application"),
    };
    let when = day(*from).zip(day(*until)).map(|(from, until)| {
        if from == until { format!(" of {from}") } else { format!(" from {from} to {until}") }
    });
    let some = |count: u64, what: &str| (count > 0).then(|| format!(", {count} {what}"));
    let [failed, killed] = [some(total.failed, "failed"), some(total.killed, "killed")];
    [Some(all), when, failed, killed, some(total.unjudged, "could not be judged")]
        .into_iter()
        .flatten()
        .collect()
}

/// The memory that the applications used, and the parts of it that were wasted and could be saved.
pub(crate) fn costs(answer: &Answer) -> String {
    let Answer { total, currency, .. } = answer;
    let Some(used) = total.used_gb_hours else { return "the memory used is unknown".to_owned() };
    let currency = currency.as_deref();
    let cost = total.cost.map(|cost| format!(" ({})", money(Some(cost), currency))).unwrap_or_default();
    let judged = total.judged_gb_hours.filter(|judged| amount(*judged) != amount(used));
    let used = format!("{} GB·h used{cost}", amount(used));
    let wasted = total.wasted_gb_hours.zip(share(total)).map(|(wasted, share)| {
        let of = judged.map_or_else(
            || "of it".to_owned(),
            |judged| format!("of the {} that can be judged", amount(judged)),
        );
        format!(", {} GB·h {of} not needed ({share:.1} %)", amount(wasted))
    });
    let saved = total.saved_gb_hours.filter(|saved| *saved > 0.0).map(|saved| {
        let cost = total.saved_cost.map(|cost| format!(" ({})", money(Some(cost), currency)));
        format!("; the remedies save {} GB·h{}", amount(saved), cost.unwrap_or_default())
    });
    let without = |count: u64, what: &str| {
        (count > 0).then(|| format!("; without {} whose {what} is unknown", plural(count, "application")))
    };
    let (unmeasured, unpriced) = (without(total.unmeasured, "memory"), without(total.unpriced, "cost"));
    [Some(used), wasted, saved, unmeasured, unpriced].into_iter().flatten().collect()
}

/// "About 31 runs a month: 12.3 GB·h (1.20 EUR), of which the remedies save 3.1 GB·h (0.30 EUR)", as far as it is known.
pub(crate) fn per_month(answer: &Answer) -> Option<String> {
    let PerMonth { runs, used_gb_hours, saved_gb_hours, cost, saved_cost } = answer.per_month()?;
    let currency = answer.currency.as_deref();
    let with_cost = |hours: f64, cost: Option<f64>| {
        let cost = cost.map(|cost| format!(" ({})", money(Some(cost), currency))).unwrap_or_default();
        format!("{} GB·h{cost}", amount(hours))
    };
    let used = format!("about {runs:.0} runs a month: {}", with_cost(used_gb_hours?, cost));
    let saved = saved_gb_hours.filter(|saved| *saved > 0.0);
    let saved = saved.map(|saved| format!(", of which the remedies save {}", with_cost(saved, saved_cost)));
    Some(format!("{used}{}", saved.unwrap_or_default()))
}

/// What all changes of configurations saved, if there are any.
pub(crate) fn saved_so_far(fleet: &Fleet, currency: Option<&str>) -> Option<String> {
    let (count, saved) = (plural(fleet.realised_of, "change"), fleet.realised_gb_hours);
    let what = saved_with_cost(saved, fleet.realised_cost, currency);
    let unpriced = unpriced(fleet).map(|without| format!("; {without}")).unwrap_or_default();
    (fleet.realised_of > 0).then(|| format!("{count} of configurations {what} so far{unpriced}"))
}

/// "without 2 changes whose cost is unknown", if there are any.
pub(crate) fn unpriced(fleet: &Fleet) -> Option<String> {
    let unpriced = fleet.realised_unpriced;
    (unpriced > 0).then(|| format!("without {} whose cost is unknown", plural(unpriced, "change")))
}

/// "saved 12.3 GB·h (1.20 EUR)", or "saved 12.3 GB·h, but cost 1.20 EUR more," if less memory took more cores.
fn saved_with_cost(saved: f64, cost: Option<f64>, currency: Option<&str>) -> String {
    let what = match saved {
        saved if saved < 0.0 => format!("took {} GB·h more", amount(-saved)),
        saved => format!("saved {} GB·h", amount(saved)),
    };
    let Some((cost, currency)) = cost.zip(currency) else { return what };
    match money(Some(cost.abs()), Some(currency)) {
        shown if saved >= 0.0 && cost < 0.0 => format!("{what}, but cost {shown} more,"),
        shown if saved < 0.0 && cost > 0.0 => format!("{what}, but cost {shown} less,"),
        shown => format!("{what} ({shown})"),
    }
}

/// How many files could not be read, if there are any.
pub(crate) fn unread(fleet: &Fleet) -> Option<String> {
    (fleet.unread_of > 0).then(|| format!("{} could not be read", plural(fleet.unread_of, "file")))
}

/// "`logs/app_1`: the log is damaged", or the same of more files with an example. Many problems name their file.
pub(crate) fn unread_kind(kind: &Unread) -> String {
    match kind.files {
        1 if kind.problem.contains(&kind.example) => kind.problem.clone(),
        1 => format!("{}: {}", kind.example, kind.problem),
        files => format!("{files} files such as {}: {}", kind.example, kind.problem),
    }
}

/// "week from": the title of the column with the first days of periods.
pub(crate) fn period(periods: &Periods) -> String {
    match periods.unit() {
        "day" => "day".to_owned(),
        unit => format!("{unit} from"),
    }
}

/// How many lines a list leaves out.
pub(crate) const fn hidden(of: u64, shown: usize) -> u64 {
    of.saturating_sub(shown as u64)
}

/// The changes that begin with this run.
pub(crate) fn changes_with<'a>(run: &Run, runs: &'a Runs) -> impl Iterator<Item = &'a Change> {
    let begins = |change: &&Change| change.first == run.id && change.since == run.submitted;
    runs.changes.iter().filter(begins)
}

/// An amount of money, or nothing if unknown.
pub(crate) fn money(value: Option<f64>, currency: Option<&str>) -> String {
    match (value, currency) {
        (Some(value), Some(currency)) => format!("{} {currency}", amount(value)),
        _ => String::new(),
    }
}

/// Money that may be negative, if it is known.
pub(crate) fn money_text(value: Option<f64>, currency: Option<&str>) -> Option<String> {
    let (value, currency) = value.zip(currency)?;
    let sign = if value < 0.0 { "−" } else { "" };
    Some(format!("{sign}{}", money(Some(value.abs()), Some(currency))))
}

/// The first and the last day of all periods.
pub(crate) fn ends(periods: &Periods) -> Vec<String> {
    let last = periods.names.last();
    let last = last.map(|name| periods.last_day(name).unwrap_or_else(|| name.clone()));
    [periods.names.first().cloned(), last].into_iter().flatten().collect()
}

/// "4g → 2g in 12 applications".
pub(crate) fn remedy(remedy: &Remedy) -> String {
    let from = remedy.from.as_deref().unwrap_or("not set");
    format!("{from} → {} in {}", remedy.to, plural(remedy.alike, "application"))
}

/// "spark.executor.memory 4g → 2g".
pub(crate) fn changed(changed: &Changed) -> String {
    let shown = |value: &Option<String>| value.as_deref().unwrap_or("not set").to_owned();
    format!("{} {} → {}", changed.setting, shown(&changed.from), shown(&changed.to))
}

/// "2026-11-02", or "2026-11-02 until 2026-11-09" of a change that was undone.
pub(crate) fn since(change: &Realised) -> String {
    let since = day(change.since).unwrap_or_else(|| change.first.clone());
    day(change.undone).map_or_else(|| since.clone(), |undone| format!("{since} until {undone}"))
}

/// "12.3 → 6.10" GB·h.
pub(crate) fn before_after(change: &Realised) -> String {
    format!("{} → {}", amount(change.used_gb_hours.0), amount(change.used_gb_hours.1))
}

/// That costs are compared for the same input, if they are.
pub(super) const fn for_input(change: &Realised) -> &'static str {
    if change.input.is_some() { " for the same input" } else { "" }
}

/// "5m → 6m 2s", or nothing if unknown.
pub(crate) fn run_times(change: &Realised) -> String {
    change.run_time.map(|(before, after)| format!("{before} → {after}")).unwrap_or_default()
}

/// "1.20 → 0.60 EUR" of a run, or nothing if unknown.
pub(crate) fn costs_of_run(change: &Realised, currency: Option<&str>) -> String {
    let costs =
        change.cost.map(|(before, after)| format!("{} → {}", amount(before), money(Some(after), currency)));
    costs.unwrap_or_default()
}

/// A change of a configuration and what it saved as one sentence.
pub(crate) fn realised(change: &Realised, currency: Option<&str>) -> String {
    let what = saved_with_cost(change.saved_gb_hours, change.saved_cost, currency);
    let runs = plural(change.runs.1, "run");
    let mut medians = vec![
        format!("{} GB·h a run{}", before_after(change), for_input(change)),
        costs_of_run(change, currency),
        run_times(change),
        format!("confidence {}", change.confidence.name()),
    ];
    medians.retain(|text| !text.is_empty());
    format!(
        "{job} {what} in {runs} since {since}: {settings} ({medians})",
        job = clean(&job_of(change)),
        since = since(change),
        settings = clean(&settings(change)),
        medians = medians.join(", "),
    )
}

/// "spark · nightly on prod": the job of a change, and its cluster if that is known.
pub(crate) fn job_of(change: &Realised) -> String {
    change
        .cluster
        .as_ref()
        .map_or_else(|| change.job.clone(), |cluster| format!("{} on {cluster}", change.job))
}

/// "spark.executor.memory 4g → 2g as recommended, spark.executor.cores 4 → 2".
pub(crate) fn settings(change: &Realised) -> String {
    change.changed.iter().map(changed_and_advised).collect::<Vec<_>>().join(", ")
}

/// The same with settings as code.
pub(crate) fn settings_as_code(change: &Realised) -> String {
    let code = |setting: &Changed| format!("`{}`{}", changed(setting), advised(setting));
    change.changed.iter().map(code).collect::<Vec<_>>().join(", ")
}

/// Memory over time in a column whose title names the unit.
pub(crate) fn hours(hours: Option<f64>) -> Value<'static> {
    Value::known(hours, |hours| Value::Amount(hours, ""))
}

const fn advised(setting: &Changed) -> &'static str {
    if setting.advised { " as recommended" } else { "" }
}

fn changed_and_advised(setting: &Changed) -> String {
    format!("{}{}", changed(setting), advised(setting))
}

/// "run time changed: median 3m 20s in 14 runs, 9m 2s in the 6 runs since app-1 (2026-11-14), +171 %"
pub(crate) fn change(change: &Change) -> String {
    /// "; spark.executor.memory 4g → 2g changed at the same time".
    fn settings_between(settings: &[SettingChange]) -> String {
        const MOST: usize = 3;
        if settings.is_empty() {
            return "; no setting that decides what a run costs changed with it".to_owned();
        }
        let shown = |value: &Option<String>| value.as_deref().map_or_else(|| "not set".to_owned(), clean);
        let some = settings.iter().take(MOST).map(|SettingChange { setting, from, to }| {
            format!("{} {} → {}", clean(setting), shown(from), shown(to))
        });
        let more = settings.len().saturating_sub(MOST);
        let more =
            if more > 0 { format!(" and {} more", plural(more as u64, "setting")) } else { String::new() };
        format!("; at the same time {}{more}", some.collect::<Vec<_>>().join(", "))
    }

    let show = |value: f64| match change.measure {
        Measure::RunTime => Millis::from_f64(value.round()).unwrap_or_default().to_string(),
        Measure::Used => format!("{} GB·h", amount(value)),
    };
    let what = match change.measure {
        Measure::RunTime => "the run time",
        Measure::Used => "the memory used",
    };
    let since = day(change.since).map(|day| format!(" ({day})")).unwrap_or_default();
    let settings = change.settings.as_deref().map(settings_between).unwrap_or_default();
    let percent = 100.0 * (change.after / change.before - 1.0);
    let percent = if percent.is_finite() { format!(", {percent:+.0} %") } else { String::new() };
    format!(
        "{what} changed with {first}{since}: median {before} in {runs_before} before, {after} in {runs_after} since{percent}{settings}",
        first = clean(&change.first),
        before = show(change.before),
        runs_before = plural(change.runs_before, "run"),
        after = show(change.after),
        runs_after = plural(change.runs_after, "run"),
    )
}
