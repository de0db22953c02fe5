use super::*;

fn advised(old: &str, new: &str, applications: u64) -> Advised {
    let saved = Some(1000 * applications);
    Advised {
        old: Some(old.to_owned()).filter(|old| !old.is_empty()),
        new: new.to_owned(),
        applications,
        saved_memory: saved,
        saved_time: None,
    }
}

/// The direction, the change, and the memory that it saves.
fn settled(advised: &[Advised], values: &[(&str, u64)]) -> Option<(Direction, String, Option<u64>)> {
    let values = values.iter().map(|(value, runs)| ((*value).to_owned(), *runs)).collect();
    let setting = if advised.iter().any(|one| one.new.contains("-Xmx")) {
        "mapreduce.map.java.opts"
    } else {
        "spark.executor.memory"
    };
    let settled = Settled::of(setting, advised, Some(&values))?;
    let from = settled.from.as_deref().unwrap_or("not set");
    Some((settled.direction, format!("{from} → {}", settled.to), settled.saved.memory))
}

#[test]
fn a_job_has_the_value_that_its_largest_run_needs() {
    let runs = [advised("3g", "768m", 9), advised("3g", "2g", 1)];
    let (direction, change, saved) = settled(&runs, &[("3g", 10)]).unwrap();
    assert_eq!((direction, change.as_str()), (Direction::Lower, "3g → 2g"));
    // Nine runs save 1 GiB of the 2.25 GiB that each of them could.
    assert_eq!(saved, Some(4000 + 1000));
    // A run that collects garbage with little memory should have more than others should get.
    let runs = [advised("3g", "768m", 9), advised("800m", "4g", 1)];
    assert_eq!(settled(&runs, &[("3g", 9), ("800m", 1)]).unwrap().0, Direction::Raise);
}

#[test]
fn runs_without_advice_need_what_they_have() {
    let runs = [advised("3g", "768m", 9)];
    assert_eq!(settled(&runs, &[("3g", 9)]).unwrap().1, "3g → 768m");
    assert_eq!(settled(&runs, &[("3g", 10)]), None, "one of ten runs is not known to need less");
    assert_eq!(settled(&runs, &[("3g", 9), ("1g", 1)]).unwrap().1, "3g → 1g");
    assert_eq!(settled(&runs, &[("3g", 9), ("8g", 1)]), None);
    let more = [advised("3g", "4g", 1)];
    assert_eq!(settled(&more, &[("3g", 1), ("8g", 5)]).unwrap().1, "3g → 4g");
}

#[test]
fn values_are_compared_however_they_are_written() {
    // The heap among the options of a JVM; a bare number of Spark's memory is in MiB.
    let runs = [advised("-Xmx3g", "-Xmx819m", 9), advised("-Xmx3g", "-Xmx2g", 1)];
    let (direction, change, _) = settled(&runs, &[]).unwrap();
    assert_eq!((direction, change.as_str()), (Direction::Lower, "-Xmx3g → -Xmx2g"));
    assert_eq!(settled(&[advised("4096", "2g", 1)], &[("4g", 1)]).unwrap().0, Direction::Lower);
    assert_eq!(settled(&[advised("", "true", 1)], &[]).unwrap().1, "not set → true");
    assert_eq!(settled(&[advised("false", "true", 1)], &[]).unwrap().0, Direction::Set);
}
