//! Sizes of containers that YARN allocates.

use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;

/// `needed` rounded up to a size that YARN allocates: a multiple of the smallest container, and not above the largest one.
pub(in crate::mapreduce) fn container_for(app: &Advised<'_>, needed: Bytes) -> Bytes {
    let step = app
        .conf
        .mebibytes(ConfKey::MinimumAllocationMb)
        .unwrap_or(app.advice.container_step.bytes())
        .whole_mib()
        .max(1);
    let size =
        Bytes::from_mib(needed.get().div_ceil(Bytes::PER_MIB).div_ceil(step).max(1).saturating_mul(step));
    largest_container(app).map_or(size, |most| size.min(most))
}

/// The largest container that YARN grants. `None` if it is unknown: a job that got larger ones was configured elsewhere than
/// its cluster.
pub(in crate::mapreduce) fn largest_container(app: &Application) -> Option<Bytes> {
    let most = app.conf.mebibytes(ConfKey::MaximumAllocationMb).filter(|most| most.get() > 0)?;
    let sizes = [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb].into_iter();
    sizes.filter_map(|key| app.conf.mebibytes(key)).all(|size| size <= most).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_ruleset::{RuleFile, RuleSet};

    /// Rule files change the parameters of advice for all rules that give it.
    #[test]
    fn containers_follow_the_step_of_rule_files() {
        let app = elephant_sample::job(Vec::new(), &[]);
        let container = |step: &str| {
            let text = format!("rule: advice\ncontainer_step: {step}\n");
            let file = RuleFile { name: "mine".to_owned(), text };
            let rules = RuleSet::with_files(crate::BUILT_IN, &[file]).unwrap();
            let advised = Advised { app: &app, advice: rules.advice() };
            container_for(&advised, Bytes::from_mib(1100)).whole_mib()
        };
        assert_eq!((container("512MB"), container("100MB"), container("1GB")), (1536, 1100, 2048));
    }
}
