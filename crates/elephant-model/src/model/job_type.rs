//! Which tool submitted a MapReduce job, from its configuration (Dr. Elephant's `JobTypeConf.xml`).

use super::{Application, Engine};

/// A type of job and the property that identifies it.
struct Sign {
    name: &'static str,
    key: &'static str,
    /// The required start of the value.
    value: &'static str,
}

/// The first sign that fits decides.
const SIGNS: &[Sign] = &[
    Sign { name: "Pig", key: "pig.script", value: "" },
    Sign { name: "Hive", key: "hive.mapred.mode", value: "" },
    Sign { name: "Hive", key: "hive.query.id", value: "" },
    Sign { name: "OozieLauncher", key: "oozie.launcher.action.main.class", value: "" },
    Sign { name: "Cascading", key: "cascading.app.frameworks", value: "" },
    Sign { name: "Voldemort", key: "mapred.reducer.class", value: "voldemort.store.readonly.mr." },
    Sign { name: "Kafka", key: "kafka.url", value: "" },
    Sign { name: "HadoopJava", key: "mapred.child.java.opts", value: "" },
];

/// The type of the job; `None` if its configuration is missing or does not show it.
#[must_use]
pub fn job_type(app: &Application) -> Option<&'static str> {
    if app.engine != Engine::MapReduce {
        return None;
    }
    let fits = |sign: &&Sign| app.conf.raw(sign.key).is_some_and(|value| value.starts_with(sign.value));
    SIGNS.iter().find(fits).map(|sign| sign.name)
}
