//! What a MapReduce job or a DAG of Tez runs a part of: the query of Hive, the script of Pig, the flow of Cascading.

use super::conf::secrets;
use super::{Application, JobTool, job_type};
use elephant_base::form;

/// The longest text that is kept, in characters.
const MOST: usize = 200;
/// Spaces and line breaks in a query that Hive wrote for its jobs.
const ENCODED_SPACES: [&str; 3] = ["+", "%20", "%0A"];

/// The text of the query of a Hive job, on one line; `None` if its settings do not hold it.
#[must_use]
#[doc(hidden)]
pub fn hive_query(app: &Application) -> Option<String> {
    let text = match &app.tez {
        Some(tez) => tez.query.clone()?,
        None if JobTool::of(app) == Some(JobTool::Hive) => {
            app.conf.setting("hive.query.string").or_else(|| app.conf.setting("mapreduce.workflow.name"))?
        }
        None => return None,
    };
    let is_encoded =
        !text.contains(char::is_whitespace) && ENCODED_SPACES.iter().any(|sign| text.contains(sign));
    let text = if is_encoded { form::decoded(&text) } else { text };
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether the rows of a query are sorted as a whole: an `ORDER BY` that is neither within a window nor within a subquery.
#[must_use]
#[doc(hidden)]
pub fn sorts_all_rows(query: &str) -> bool {
    let mut depth = 0_usize;
    let mut outer = String::new();
    for letter in query.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outer.push(letter.to_ascii_uppercase()),
            _ => {}
        }
    }
    let words: Vec<&str> = outer.split_whitespace().collect();
    words.windows(2).any(|pair| pair == ["ORDER", "BY"])
}

/// What the job runs a part of, for people: bounded, and without what may be secret.
#[must_use]
#[doc(hidden)]
pub fn job_script(app: &Application) -> Option<String> {
    let setting = |names: &[&str]| names.iter().find_map(|name| app.conf.setting(name));
    let tool = match &app.tez {
        Some(tez) if job_type(app) == Some("Hive") && tez.query.is_some() => JobTool::Hive,
        _ => JobTool::of(app)?,
    };
    let (what, text, part) = match tool {
        JobTool::Hive => {
            let query = hive_query(app).or_else(|| setting(&["hive.query.id", "mapreduce.workflow.id"]))?;
            ("Hive query", query, setting(&["mapreduce.workflow.node.name"]))
        }
        JobTool::Pig => {
            let aliases = setting(&["pig.alias", "pig.alias.location"])?;
            ("Pig aliases", aliases, setting(&["pig.job.feature"]))
        }
        JobTool::Cascading => {
            let flow = setting(&["cascading.flow.name", "cascading.app.name", "cascading.flow.id"])?;
            ("Cascading flow", flow, setting(&["cascading.flow.step.num", "cascading.flow.step.id"]))
        }
        _ => return None,
    };
    let is_open = [&text, &text.replace(' ', "")].into_iter().all(|text| secrets::shown(what, text) == *text);
    let text = if is_open { bounded(&text) } else { secrets::shown(what, "password=").to_owned() };
    let part = part.map(|part| format!(", {}", bounded(&part))).unwrap_or_default();
    Some(format!("{what} {text}{part}"))
}

/// Its beginning, if it is long.
fn bounded(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(MOST).collect();
    if letters.next().is_some() { start + "…" } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;
    use crate::model::conf::Property;

    fn script(settings: &[(&str, &str)]) -> Option<String> {
        let mut app = Application::new(Engine::MapReduce);
        for (name, value) in settings {
            app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        job_script(&app)
    }

    #[test]
    fn tools_tell_what_the_job_is_a_part_of() {
        let id = ("hive.query.id", "hive_2026_1");
        let query = ("hive.query.string", "select+a%2C+count%28*%29%0Afrom+t+group+by+a");
        let stage = ("mapreduce.workflow.node.name", "Stage-1");
        assert_eq!(
            script(&[id, query, stage]).as_deref(),
            Some("Hive query select a, count(*) from t group by a, Stage-1")
        );
        assert_eq!(script(&[id]).as_deref(), Some("Hive query hive_2026_1"));
        let plain = ("hive.query.string", "select 100 % 7 +\n 1 from t");
        assert_eq!(script(&[id, plain]).as_deref(), Some("Hive query select 100 % 7 + 1 from t"));
        let pig = [("pig.script", "YQ=="), ("pig.alias", "clicks,by_user"), ("pig.job.feature", "GROUP_BY")];
        assert_eq!(script(&pig).as_deref(), Some("Pig aliases clicks,by_user, GROUP_BY"));
        let flow = [("cascading.flow.id", "0A1B"), ("cascading.flow.name", "daily counts")];
        assert_eq!(script(&flow).as_deref(), Some("Cascading flow daily counts"));
        assert_eq!(script(&[("mapreduce.job.name", "wordcount")]), None);
    }

    #[test]
    fn long_texts_are_cut_and_secrets_left_out() {
        let id = ("hive.query.id", "q");
        let long = format!("select {}", "a, ".repeat(500));
        let told = script(&[id, ("hive.query.string", &long)]).unwrap();
        assert!(told.chars().count() < 220 && told.ends_with('…'), "{told}");
        let open =
            script(&[id, ("hive.query.string", "select f('x') from t where password = 'hunter2'")]).unwrap();
        assert!(!open.contains("hunter2"), "{open}");
    }

    #[test]
    fn only_an_order_of_all_rows_needs_one_task() {
        assert!(sorts_all_rows("select a from t order  by a limit 5"));
        assert!(sorts_all_rows("insert overwrite table x select * from (select a from t) s ORDER BY a"));
        assert!(!sorts_all_rows("select rank() over (partition by a order by b) from t"));
        assert!(!sorts_all_rows("select a from t distribute by a sort by a"));
    }
}
