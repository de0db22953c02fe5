//! Answers in the shapes that Dr. Elephant's routes had, for scripts that ask it: the names, the nesting and the types of
//! their fields. What its store had and ours does not is null, also where its code wrote 0 or left the field out.

mod app_result;
mod details;
mod exceptions;
mod graphs;
mod heuristics;
mod options;
mod record;
mod summaries;

pub use app_result::{application, applications, by_job_execution, compared, users};
pub use details::{application_details, job_details, no_details, workflow_details};
pub use exceptions::{exception_statuses, workflow_exceptions};
pub use graphs::{flow_metrics, flow_scores, job_metrics, job_scores};
pub use heuristics::rule_named;
pub use options::{SPARK, TEZ_JOB_TYPES, search_options};
pub use record::{Key, job_type_of};
pub use summaries::{
    OfUsers, Part, application_summaries, dashboard, in_order, job_summaries, search_results, user_details,
    workflow_summaries,
};
