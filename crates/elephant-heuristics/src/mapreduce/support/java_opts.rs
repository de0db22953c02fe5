//! Changes of JVM options. The options are one setting, so a change keeps all others.

use super::role::Role;
use super::settings::own_java_opts;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::{ConfKey, parse_binary_prefix, secrets};
use elephant_rule::finding::SettingChange;

/// The JVM options of a kind of process, and the setting that changes them for this kind only.
pub(in crate::mapreduce) struct JvmOptions {
    name: &'static str,
    now: Option<String>,
}

impl JvmOptions {
    /// The options of map or reduce tasks.
    pub(in crate::mapreduce) fn of(app: &Application, role: Role) -> Self {
        Self { name: own_java_opts(app, role), now: app.conf.text(role.java_opts()) }
    }

    /// The options of the application master.
    pub(in crate::mapreduce) fn of_master(app: &Application) -> Self {
        let key = ConfKey::MasterJavaOpts;
        Self { name: key.name(), now: app.conf.text(key) }
    }

    /// The options with another heap limit. A JVM does not start if its first heap (`-Xms`) is above the limit.
    pub(in crate::mapreduce) fn with_heap(&self, heap: Bytes) -> SettingChange {
        let begins_above = |option: &str| {
            option.strip_prefix("-Xms").and_then(parse_binary_prefix).is_some_and(|first| first > heap)
        };
        let limit = format!("-Xmx{}m", heap.whole_mib());
        self.replacing(|option| option.starts_with("-Xmx") || begins_above(option), &limit)
    }

    /// The options with this garbage collector; `None` if they name it already.
    pub(in crate::mapreduce) fn with_collector(&self, collector: &str) -> Option<SettingChange> {
        if self.options().any(|option| option == collector) {
            return None;
        }
        // A JVM does not start with two collectors.
        let is_collector = |option: &str| {
            option.starts_with("-XX:") && option.contains("+Use") && option.ends_with("GC")
                || option.starts_with("-Xconcgc")
        };
        Some(self.replacing(is_collector, collector))
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        self.now.as_deref().unwrap_or_default().split_whitespace()
    }

    /// The options with `new` in place of the first option for which `old` is true. Further options for which it is
    /// true are removed.
    fn replacing(&self, old: impl Fn(&str) -> bool, new: &str) -> SettingChange {
        let mut options: Vec<&str> = Vec::new();
        let mut new = Some(new);
        for option in self.options() {
            if old(option) {
                options.extend(new.take());
            } else {
                options.push(option);
            }
        }
        options.extend(new);
        let from = self.now.is_some().then(|| without_secrets(self.options()));
        SettingChange { setting: self.name.to_owned(), from, to: without_secrets(options.into_iter()) }
    }
}

/// The options as one line, with secrets as reports show them.
fn without_secrets<'a>(options: impl Iterator<Item = &'a str>) -> String {
    let shown = |option: &'a str| match option.split_once('=') {
        Some((name, value)) => format!("{name}={}", secrets::shown(name, value)),
        None => option.to_owned(),
    };
    options.map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(now: &str) -> JvmOptions {
        let now = Some(now.to_owned()).filter(|now| !now.is_empty());
        JvmOptions { name: "mapreduce.map.java.opts", now }
    }

    #[test]
    fn a_heap_limit_replaces_all_earlier_ones() {
        let with = |now: &str| options(now).with_heap(Bytes::from_mib(768)).to;
        assert_eq!(with("-Xmx512m"), "-Xmx768m");
        assert_eq!(with("-Da=b -Xmx512m -XX:+UseG1GC -Xmx1g"), "-Da=b -Xmx768m -XX:+UseG1GC");
        assert_eq!(with("-XX:+UseG1GC"), "-XX:+UseG1GC -Xmx768m");
        assert_eq!(with(""), "-Xmx768m");
        assert_eq!(with("-Xms1g -Xmx2g"), "-Xmx768m");
        assert_eq!(with("-Xms512m -Xmx2g"), "-Xms512m -Xmx768m");
        let change = options("-Xmx512m -Da=b").with_heap(Bytes::from_mib(768));
        assert_eq!(change.from.as_deref(), Some("-Xmx512m -Da=b"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let change = options("-Xmx512m -Dstore.password=hunter2 -Da=b").with_heap(Bytes::from_mib(768));
        assert_eq!(change.to, "-Xmx768m -Dstore.password=*********(redacted) -Da=b");
        assert!(!change.from.unwrap().contains("hunter2"));
    }

    #[test]
    fn a_jvm_has_one_collector() {
        let with = |now: &str| options(now).with_collector("-XX:+UseParallelGC").map(|change| change.to);
        assert_eq!(with("-Xmx1g").as_deref(), Some("-Xmx1g -XX:+UseParallelGC"));
        assert_eq!(
            with("-XX:+UseConcMarkSweepGC -XX:+UseParNewGC -Xmx1g").as_deref(),
            Some("-XX:+UseParallelGC -Xmx1g")
        );
        assert_eq!(with("-XX:+UseParallelGC -Xmx1g"), None);
    }
}
