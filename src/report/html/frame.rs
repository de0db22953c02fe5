//! What all pages share: style, the script that sorts tables, and the content security policy that allows only these.
//!
//! A page is a template that extends `frame.html`. Its type has the constants `STYLES` and `SCRIPT`, which the frame
//! writes and the policy names.

/// Code that a page contains, and its hash in the policy. A test compares the two.
pub(in crate::report) struct Code {
    pub(in crate::report) text: &'static str,
    pub(in crate::report) hash: &'static str,
}

/// Colours, tables and charts of every page.
pub(in crate::report) const STYLE: Code = Code {
    text: include_str!("../../../templates/page.css"),
    hash: "sha256-91je/BOaJvhyj5IdiYcW9JA/RF1oU0hmSRlMp1EkZCY=",
};
/// What the pages of `nodes`, `whatif`, `diff` and `stragglers` add.
pub(in crate::report) const CHART_STYLE: Code = Code {
    text: include_str!("../../../templates/charts.css"),
    hash: "sha256-ZX+JEtScwW49luJDKfWxnabENpmPLkE+Hn+Qj+Xq/1U=",
};
/// Tells the style sheet that scripts run, before the page is laid out.
pub(in crate::report) const FLAG: Code = Code {
    text: "document.documentElement.className = \"js\";",
    hash: "sha256-N9v3EnPaUyp6HvI/g75KoK11mUw7quk1fPSwEhREnaU=",
};
/// Sorts tables.
pub(in crate::report) const SORT: Code = Code {
    text: include_str!("../../../templates/sort.js"),
    hash: "sha256-Yb38IIhqctyyYxVPGrXK6GEsnzlPAAveaaY6rxo69Ow=",
};

/// The version in the head and the foot of a page.
pub(in crate::report) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum number of problems listed.
pub(in crate::report) const MAX_PROBLEMS: usize = 500;
