//! All routes.

use super::filter::{CLUSTER, ENGINE, FLOW, FROM, OWNER, QUEUE, RULE, TO, USER};
use super::pages::{
    AFTER, ENDED_FROM, ENDED_TO, EXECUTION, FAILURE, KIND, SEVERITY, SORT, STATUS, TEXT, WITH,
};
use super::reply::Audience::{self, People, Programs};
use super::route::ForWhom::{self, Everyone, Operators, Viewers};
use super::route::{Kind, Parameter, Route, Run};
use super::{api, openapi, operate, pages, rest};
use api::LIMIT;

/// What the paths of the API begin with.
pub(crate) const API: &str = "/api/v1/";

const ID: Parameter = Parameter { name: "id", about: "The id of the application", kind: Kind::Path };
const RULE_ID: Parameter = Parameter { name: "id", about: "The id of the rule", kind: Kind::Path };
const FAILURE_ID: Parameter = Parameter { name: "id", about: "The kind of failure", kind: Kind::Path };
const FLOW_KEY: Parameter = Parameter { name: "key", about: "The name of the flow", kind: Kind::Path };
const KEY: Parameter =
    Parameter { name: "key", about: "The key of the job, or the name of one of its runs", kind: Kind::Path };
const A: Parameter =
    Parameter { name: "a", about: "The id of the application that is compared with", kind: Kind::Text };
const B: Parameter = Parameter { name: "b", about: "The id of the other application", kind: Kind::Text };
const BY: Parameter =
    Parameter { name: "by", about: "What they have in common", kind: Kind::PathAmong(api::GROUPS) };
const NAME: Parameter = Parameter { name: "name", about: "The name", kind: Kind::Path };
const REST_OF_PATH: Parameter =
    Parameter { name: "path", about: "A page of the former user interface", kind: Kind::Path };

const fn page(path: &'static str, about: &'static str, parameters: &'static [Parameter], run: Run) -> Route {
    Route { path, about, audience: People, parameters, run, for_whom: Viewers }
}

const fn data(path: &'static str, about: &'static str, parameters: &'static [Parameter], run: Run) -> Route {
    Route { path, about, audience: Programs, parameters, run, for_whom: Viewers }
}

const fn operating(path: &'static str, about: &'static str, run: Run, for_whom: ForWhom) -> Route {
    Route { path, about, audience: Programs, parameters: &[], run, for_whom }
}

pub(crate) const ROUTES: &[Route] = &[
    page("/", "What wastes most, and what is new", &[], Run::Store(pages::overview)),
    page(
        "/search",
        "The applications that match",
        &[
            TEXT,
            USER,
            QUEUE,
            CLUSTER,
            FLOW,
            OWNER,
            SEVERITY,
            RULE,
            KIND,
            FAILURE,
            STATUS,
            ENGINE,
            FROM,
            TO,
            ENDED_FROM,
            ENDED_TO,
            SORT,
            AFTER,
            rest::ID,
            rest::FLOW_EXECUTION,
            rest::JOB_DEF_ID,
        ],
        Run::Store(rest::search_page),
    ),
    page("/me", "What the user who asks used and wasted", &[], Run::Store(pages::me)),
    page("/application/{id}", "One application", &[ID], Run::Store(pages::application)),
    page(
        "/compare",
        "Two applications side by side",
        &[A, B, rest::FIRST, rest::SECOND],
        Run::Store(rest::compare_page),
    ),
    page("/job/{key}", "The runs of a job", &[KEY, CLUSTER, FROM, TO], Run::Store(pages::job)),
    page(
        "/flow/{key}",
        "The executions of a flow, one of them, or two of them side by side",
        &[FLOW_KEY, CLUSTER, FROM, TO, EXECUTION, WITH],
        Run::Store(pages::flow),
    ),
    page("/user/{name}", "What a user used and wasted", &[NAME, CLUSTER, FROM, TO], Run::Store(pages::user)),
    page(
        "/queue/{name}",
        "What a queue used and wasted",
        &[NAME, CLUSTER, FROM, TO],
        Run::Store(pages::queue),
    ),
    page("/nodes", "The nodes, the slowest first", &[CLUSTER, FROM, TO], Run::Store(pages::nodes)),
    page("/rules", "The rules, and how often each found something", &[], Run::Store(pages::rules)),
    page("/rules/{id}", "One rule", &[RULE_ID], Run::Store(pages::rule)),
    page("/failures", "The kinds of failures, and how often each happened", &[], Run::Store(pages::failures)),
    page("/failures/{id}", "One kind of failure", &[FAILURE_ID], Run::Store(pages::failure)),
    data(
        "/api/v1/summary",
        "What all applications used and wasted, and where",
        &[USER, QUEUE, CLUSTER, FLOW, OWNER, ENGINE, FROM, TO, RULE, LIMIT],
        Run::Store(api::summary),
    ),
    data(
        "/api/v1/groups/{by}",
        "Sums of the applications that have something in common",
        &[BY, USER, QUEUE, CLUSTER, FLOW, OWNER, ENGINE, FROM, TO, RULE, LIMIT],
        Run::Store(api::groups),
    ),
    data(
        "/api/v1/flows/{key}",
        "The last executions of a flow, and its jobs",
        &[FLOW_KEY, CLUSTER, FROM, TO, LIMIT],
        Run::Store(api::flow),
    ),
    data(
        "/api/v1/not_judged",
        "Applications that could not be judged, and files that could not be read, with the reasons",
        &[USER, QUEUE, CLUSTER, FLOW, OWNER, ENGINE, FROM, TO, LIMIT],
        Run::Store(api::not_judged),
    ),
    data(
        "/api/v1/applications",
        "The applications that match, part by part",
        &[
            TEXT, USER, QUEUE, CLUSTER, FLOW, OWNER, SEVERITY, RULE, KIND, FAILURE, STATUS, ENGINE, FROM, TO,
            ENDED_FROM, ENDED_TO, SORT, AFTER, LIMIT,
        ],
        Run::Store(api::applications),
    ),
    data(
        "/api/v1/applications/{id}",
        "All that is stored of an application: one entry for each attempt, and for each cluster with this id",
        &[ID],
        Run::Store(api::application),
    ),
    data(
        "/api/v1/jobs",
        "The jobs that waste most, part by part",
        &[USER, QUEUE, CLUSTER, ENGINE, FROM, TO, RULE, AFTER, LIMIT],
        Run::Store(api::jobs),
    ),
    data(
        "/api/v1/jobs/{key}",
        "The last runs of a job, and where its run time or memory changed",
        &[KEY, USER, QUEUE, CLUSTER, ENGINE, FROM, TO, RULE, LIMIT],
        Run::Store(api::job),
    ),
    data("/api/v1/openapi.json", "This description", &[], Run::Server(openapi::document)),
    data(
        "/rest/job",
        "An application, as Dr. Elephant had it",
        &[rest::ID, rest::PRIORITIZE],
        Run::Store(rest::job),
    ),
    data(
        "/rest/search",
        "Applications, as Dr. Elephant had them",
        &[
            rest::ID,
            rest::FLOW_EXECUTION,
            rest::USERNAME,
            rest::QUEUE_NAME,
            rest::SEVERITY,
            rest::ANALYSIS,
            rest::JOB_TYPE,
            rest::BEGIN,
            rest::END,
            rest::FINISHED_BEGIN,
            rest::FINISHED_END,
            rest::NUMBER,
        ],
        Run::Store(rest::search),
    ),
    data(
        "/rest/resourceusagedatabyuser",
        "What each user used, as Dr. Elephant had it",
        &[rest::START_TIME, rest::END_TIME],
        Run::Store(rest::usage_by_user),
    ),
    data(
        "/rest/jobexec",
        "The applications of an execution of a job",
        &[rest::ID],
        Run::Store(rest::job_execution),
    ),
    data(
        "/rest/flowexec",
        "The applications of an execution of a flow, by job",
        &[rest::ID],
        Run::Store(rest::flow_execution),
    ),
    data(
        "/rest/compare",
        "The applications of two executions, by job",
        &[rest::FIRST, rest::SECOND],
        Run::Store(rest::compare),
    ),
    data(
        "/rest/flowgraphdata",
        "Scores of the executions of a flow",
        &[rest::ID],
        Run::Store(rest::flow_scores),
    ),
    data(
        "/rest/jobgraphdata",
        "Scores of the executions of a job",
        &[rest::ID],
        Run::Store(rest::job_scores),
    ),
    data(
        "/rest/flowmetricsgraphdata",
        "Times and memory of the executions of a flow",
        &[rest::ID],
        Run::Store(rest::flow_metrics),
    ),
    data(
        "/rest/jobmetricsgraphdata",
        "Times and memory of the executions of a job",
        &[rest::ID],
        Run::Store(rest::job_metrics),
    ),
    data(
        "/rest/dashboard-summaries",
        "The applications of the last day, by severity",
        &[],
        Run::Store(rest::dashboard),
    ),
    data(
        "/rest/workflow-summaries",
        "The last executions of flows",
        &[rest::USERNAME],
        Run::Store(rest::workflow_summaries),
    ),
    data(
        "/rest/job-summaries",
        "The last executions of jobs",
        &[rest::USERNAME],
        Run::Store(rest::job_summaries),
    ),
    data(
        "/rest/application-summaries",
        "The last applications",
        &[rest::USERNAME],
        Run::Store(rest::application_summaries),
    ),
    data(
        "/rest/workflows",
        "An execution of a flow, with its jobs",
        &[rest::WORKFLOW_ID],
        Run::Store(rest::workflow_details),
    ),
    data(
        "/rest/jobs",
        "An execution of a job, with its applications",
        &[rest::JOB_ID],
        Run::Store(rest::job_details),
    ),
    data(
        "/rest/applications",
        "An application, with its heuristics",
        &[rest::APPLICATION_ID],
        Run::Store(rest::application_details),
    ),
    data("/rest/search-options", "What can be searched for", &[], Run::Store(rest::search_options)),
    data(
        "/rest/search-results",
        "Applications, part by part",
        &[
            rest::USERNAME,
            rest::QUEUE_NAME,
            rest::SEVERITY,
            rest::ANALYSIS,
            rest::JOB_TYPE,
            rest::BEGIN,
            rest::END,
            rest::FINISHED_BEGIN,
            rest::FINISHED_END,
            rest::OFFSET,
            rest::LIMIT,
        ],
        Run::Store(rest::search_results),
    ),
    data(
        "/rest/user-details",
        "What users used, and their applications",
        &[
            rest::USERNAMES,
            rest::FINISHED_BEGIN,
            rest::FINISHED_END,
            rest::SORT_KEY,
            rest::INCREASING,
            rest::OFFSET,
            rest::LIMIT,
        ],
        Run::Store(rest::user_details),
    ),
    data(
        "/rest/workflow-exceptions",
        "Why the jobs of an execution failed",
        &[rest::FLOW_URL, rest::SCHEDULER],
        Run::Store(rest::exceptions),
    ),
    data(
        "/rest/exception-statuses",
        "The schedulers whose flows the store has",
        &[],
        Run::Store(rest::exception_statuses),
    ),
    operating("/ping", "Whether the process answers, as Dr. Elephant did", Run::Server(rest::ping), Everyone),
    operating(
        "/healthcheck",
        "Whether the store answers, and is up to date, as Dr. Elephant told it",
        Run::Store(rest::health_check),
        Everyone,
    ),
    page("/help", "Leads to the page of a rule", &[rest::TOPIC], Run::Store(rest::help)),
    page("/newhelp", "Leads to the page of a rule", &[rest::TOPIC], Run::Store(rest::help)),
    page(
        "/jobhistory",
        "Leads to the page of a job",
        &[rest::JOB_DEF_ID, rest::GRAPH],
        Run::Store(rest::job_history),
    ),
    page(
        "/newjobhistory",
        "Leads to the page of a job",
        &[rest::JOB_DEF_ID, rest::GRAPH],
        Run::Store(rest::job_history),
    ),
    page(
        "/flowhistory",
        "Leads to the page of a flow",
        &[rest::FLOW_DEF_ID, rest::GRAPH],
        Run::Store(rest::flow_history),
    ),
    page(
        "/newflowhistory",
        "Leads to the page of a flow",
        &[rest::FLOW_DEF_ID, rest::GRAPH],
        Run::Store(rest::flow_history),
    ),
    page("/new", "Leads to the first page", &[], Run::Store(rest::new_pages)),
    page("/new/{*path}", "Leads to the first page", &[REST_OF_PATH], Run::Store(rest::new_pages)),
    operating("/healthz", "Whether the process answers", Run::Server(operate::healthy), Everyone),
    operating(
        "/readyz",
        "Whether the store answers, and is up to date",
        Run::Store(operate::ready),
        Everyone,
    ),
    operating("/metrics", "Metrics in OpenMetrics' format", Run::Store(operate::metrics), Operators),
];

/// For whom the problems of an address without a route are.
pub(crate) fn audience(path: &str) -> Audience {
    if path.starts_with("/api/") || path.starts_with("/rest/") { Programs } else { People }
}
