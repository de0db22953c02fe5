//! The rules of Tez: Dr. Elephant's heuristics, with the arithmetic of those of MapReduce, over all tasks of a DAG that do
//! the same kind of work; and why a DAG failed.

mod dag_failure;
mod gc;
mod memory;
mod skew;
mod speed;
mod spill;
mod support;
mod time;

use elephant_analysis::metrics::container_of_tasks;
use elephant_catalogue::Rule;
use elephant_model::model::Application;

/// Every rule of Tez, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    skew::MAPPER,
    skew::REDUCER,
    skew::SCOPE,
    gc::MAPPER,
    gc::REDUCER,
    gc::SCOPE,
    time::MAPPER,
    time::REDUCER,
    time::SCOPE,
    speed::MAPPER,
    speed::SCOPE,
    memory::MAPPER,
    memory::SCOPE,
    spill::RULE,
    dag_failure::RULE,
];

/// Why it is unknown how long a DAG waited.
pub(super) const NO_WAIT: &str = "how long a DAG of several vertices waits for resources is not computed";
/// Why it is unknown how much memory tasks needed.
pub(super) const NO_MEMORY: &str = "no task reports PHYSICAL_MEMORY_BYTES";

/// Why the memory that containers held is unknown.
pub(super) fn no_cost(app: &Application) -> String {
    if container_of_tasks(app, false).is_none() && container_of_tasks(app, true).is_none() {
        return support::NO_CONTAINER.to_owned();
    }
    "the history does not contain the run time of every attempt".to_owned()
}
