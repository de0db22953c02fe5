//! Executors whose cores get no task, because tasks take another resource, such as a GPU, that runs out first.

use elephant_model::model::Application;
use elephant_model::model::spark::{Limit, Placement};
use elephant_rule::finding::{Advice, Phrase, SettingChange};

use crate::spark::support::application::spark;

/// The digits after the point in a share of a resource.
const DIGITS: f64 = 10_000.0;

const MESSAGE: &str = "each executor has cores for {by_cores} tasks but runs {slots} at once, because a task takes {share} of \
                       its {units} {resource}";

/// The resource that limits the tasks of all executors of the default profile.
pub(crate) struct Limited<'a> {
    app: &'a Application,
    limit: Limit,
}

impl<'a> Limited<'a> {
    /// `None` if executors can run tasks on all of their cores.
    pub(crate) fn of(app: &'a Application) -> Option<Self> {
        let placement = Placement::of(app);
        let of_settings = |profile: Option<u32>| profile.unwrap_or_default() == 0;
        let mut executors = spark(app)?.executors.iter().filter(|it| of_settings(it.resource_profile));
        let limit = placement.limit(executors.next()?)?;
        executors.all(|executor| placement.limit(executor).is_some()).then_some(Self { app, limit })
    }

    /// "each executor has cores for 16 tasks but runs 4 at once, because a task takes 0.25 of its 1 gpu".
    pub(crate) fn phrase(&self) -> Phrase {
        let Limit { resource, units, slots, by_cores } = &self.limit;
        let share = self.now().unwrap_or_else(|| match resource.shared_by {
            1 => resource.units.to_string(),
            tasks => format!("1/{tasks}"),
        });
        let words: [(_, &dyn std::fmt::Display); 5] = [
            ("by_cores", by_cores),
            ("slots", slots),
            ("share", &share),
            ("units", units),
            ("resource", &resource.name),
        ];
        Phrase::new(MESSAGE, &words)
    }

    /// As many tasks as the executor has cores for.
    pub(crate) fn advice(&self) -> Vec<Advice> {
        let Limit { resource, slots, .. } = &self.limit;
        let name = &resource.name;
        let more = Advice::new(format!("let more tasks share the {name} of an executor"));
        let fewer = format!(
            "if a task needs so much of the {name}: request executors with cores for {slots} tasks, but not more executors, \
             because each takes a {name}"
        );
        vec![more.set([self.change()]), Advice::new(fewer).conditional()]
    }

    fn setting(&self) -> String {
        format!("spark.task.resource.{}.amount", self.limit.resource.name)
    }

    fn now(&self) -> Option<String> {
        self.app.conf.raw(&self.setting())
    }

    /// The largest share with which a task runs on each core.
    fn change(&self) -> SettingChange {
        let Limit { units, by_cores, .. } = self.limit;
        let each = f64::from(by_cores.div_ceil(units.max(1)).max(1));
        let share = (DIGITS / each).floor() / DIGITS;
        SettingChange { setting: self.setting(), from: self.now(), to: share.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::Resource;

    fn app(cores: u32, gpus: u32, amount: &str) -> Application {
        let mut app = elephant_sample::app(&[("spark.task.resource.gpu.amount", amount)]);
        let executor = elephant_sample::executor(&mut app, "1");
        executor.cores = Some(cores);
        executor.resources = vec![Resource { name: "gpu".to_owned(), units: gpus }].into();
        app
    }

    #[test]
    fn tasks_share_the_resource_so_that_each_core_has_one() {
        let quarter = app(16, 1, "0.25");
        let limited = Limited::of(&quarter).unwrap();
        assert_eq!(
            limited.phrase().to_string(),
            "each executor has cores for 16 tasks but runs 4 at once, because a task takes 0.25 of its 1 gpu"
        );
        let [more, fewer] = &limited.advice()[..] else { panic!() };
        assert!(more.text.ends_with(": --conf spark.task.resource.gpu.amount=0.0625 (now 0.25)"), "{more:?}");
        assert!(fewer.conditional && fewer.settings.is_empty());
        for (cores, gpus, share) in [(12, 1, "0.0833"), (48, 4, "0.0833"), (70, 1, "0.0142"), (3, 2, "0.5")] {
            let app = app(cores, gpus, "1");
            let change = Limited::of(&app).unwrap().change();
            assert_eq!(change.to, share);
            // With that, cores are what limits.
            let after = self::app(cores, gpus, share);
            assert!(Limited::of(&after).is_none(), "{cores} {share}");
        }
    }
}
