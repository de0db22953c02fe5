//! Which tool submitted a MapReduce job or a DAG of Tez, from its configuration (Dr. Elephant's `JobTypeConf.xml`).

use super::tez::Processor;
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
    match app.engine {
        Engine::MapReduce => {}
        Engine::Tez => return of_dag(app),
        Engine::Spark => return None,
    }
    let fits = |sign: &&Sign| app.conf.raw(sign.key).is_some_and(|value| value.starts_with(sign.value));
    SIGNS.iter().find(fits).map(|sign| sign.name)
}

/// Who submitted a DAG: as the caller says, as its tasks show, or as the configuration says.
fn of_dag(app: &Application) -> Option<&'static str> {
    const HIVE: &str = "Hive";
    const PIG: &str = "Pig";
    let tez = app.tez.as_ref()?;
    let caller = match tez.caller_type.as_deref() {
        Some(caller) if caller.starts_with("HIVE") => Some(HIVE),
        Some(caller) if caller.starts_with("PIG") => Some(PIG),
        _ => None,
    };
    let of_vertex = |processor| match processor {
        Processor::Mapper | Processor::Reducer => Some(HIVE),
        Processor::Scope => Some(PIG),
        Processor::Other => None,
    };
    let by_tasks = || tez.vertices.iter().filter_map(|vertex| vertex.processor).find_map(of_vertex);
    let by_settings = || {
        let is_pig = app.conf.raw("exectype").is_some_and(|kind| kind.eq_ignore_ascii_case("tez"));
        let is_hive = app.conf.raw("hive.execution.engine").is_some();
        if is_pig { Some(PIG) } else { is_hive.then_some(HIVE) }
    };
    caller.or_else(by_tasks).or_else(by_settings)
}
