//! The HTML report, read by an independent parser.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use elephant_rs::results::ApplicationReport;
use elephant_rs::severity::Severity;
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest as _, Sha256};

use super::pages::{HOSTILE, charted, hostile, many, mixed, page, recurring};

pub(super) fn select<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

pub(super) fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Parses a page; fails on parse errors and on elements that no template writes.
pub(super) fn sound(page: &str) -> Html {
    const KNOWN: &str = "a article bdi body button code dd details div dl dt em figcaption figure footer g h1 h2 h3 \
        h4 h5 h6 head header html i input label li line main meta nav ol option p path pre rect script section select \
        small span strong style summary svg table tbody td text th thead title tr ul wbr";
    // The parser of the tests, like a browser with scripts, takes what is in this element for text.
    let page = page.replace("<noscript id=\"all-details\">", "").replace("</noscript>", "");
    let html = Html::parse_document(&page);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    let known: BTreeSet<&str> = KNOWN.split_whitespace().collect();
    let found: BTreeSet<&str> = select(&html, "*").iter().map(|element| element.value().name()).collect();
    assert_eq!(found.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
    for element in select(&html, "*") {
        for (name, value) in element.value().attrs() {
            assert!(!name.starts_with("on") && name != "style" && name != "src", "{name}={value}");
            if name == "href" {
                assert!(value.starts_with('#'), "{name}={value}");
            }
        }
    }
    html
}

/// Headings, landmarks, tables and drawings, in page order.
fn outline(html: &Html) -> String {
    let mut outline = String::new();
    for element in
        select(html, "nav, main, section, article, figure, table, svg, footer, h1, h2, h3, h4, details")
    {
        if element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .any(|above| above.value().classes().any(|c| c == "page"))
        {
            continue;
        }
        let depth = element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .filter(|above| {
                ["main", "section", "article", "figure", "details", "table"].contains(&above.value().name())
            })
            .count();
        let first = |selector: &str| element.select(&Selector::parse(selector).unwrap()).next().map(text);
        let words = match element.value().name() {
            "figure" => first("figcaption"),
            "details" => first("summary"),
            "table" => {
                let heads =
                    element.select(&Selector::parse("thead th").unwrap()).map(text).collect::<Vec<_>>();
                let rows = element.select(&Selector::parse("tbody tr").unwrap()).count();
                Some(format!("{} ({rows} rows)", heads.join(" | ")))
            }
            "svg" if element.attr("aria-label").is_none() => continue,
            "svg" => element.attr("aria-label").map(str::to_owned),
            "h1" | "h2" | "h3" | "h4" => Some(text(element)),
            "article" => element.attr("id").map(|id| format!("#{id}")),
            _ => element.attr("id").map(|id| format!("#{id}")),
        };
        writeln!(outline, "{}{} {}", "  ".repeat(depth), element.value().name(), words.unwrap_or_default())
            .unwrap();
    }
    outline
}

#[test]
fn structure() {
    let html = sound(&page(&mixed(4)));
    elephant_testing::with_snapshots("reports", || {
        insta::assert_snapshot!("page.outline", outline(&html));
    });
}

/// The row of a job says how many runs it has, and filters the table for them.
#[test]
fn recurring_jobs_are_listed_with_their_runs() {
    let html = sound(&page(&recurring()));
    assert!(select(&html, "nav a").into_iter().any(|link| text(link) == "Jobs"));
    assert_eq!(text(select(&html, "#jobs h2")[0]), "Recurring jobs");
    let runs: Vec<&str> =
        select(&html, "#index tbody tr").into_iter().filter_map(|row| row.attr("data-job")).collect();
    let jobs = select(&html, ".jobs tbody tr");
    assert_eq!(jobs.len(), 10);
    for job in jobs {
        let cells: Vec<ElementRef<'_>> = job.child_elements().collect();
        let name = text(cells[0]);
        let count = runs.iter().filter(|run| **run == format!("spark · {name}")).count();
        assert!(count > 1 && text(cells[4]) == count.to_string(), "{name}: {count} runs, {}", text(cells[4]));
        let link = cells[0].select(&Selector::parse("a[data-filter]").unwrap()).next().unwrap();
        let filter = link.attr("data-filter").unwrap();
        assert!(filter.starts_with("job=") && filter.ends_with("&sort=-started"), "{filter}");
    }
}

/// A job that is headed by a severity leads to the run that has it.
#[test]
fn the_worst_run_of_a_job_is_named() {
    let html = sound(&page(&recurring()));
    let mut named = 0;
    for job in select(&html, ".jobs tbody tr") {
        let cell: ElementRef<'_> = job.child_elements().nth(1).unwrap();
        let inside = |selector: &str| cell.select(&Selector::parse(selector).unwrap()).next();
        let severity = text(inside(".badge").unwrap());
        let Some(link) = inside("a") else {
            assert_eq!(severity, "none");
            continue;
        };
        let trouble = select(&html, link.attr("href").unwrap())[0];
        assert!(trouble.value().classes().any(|class| class == severity), "{}", trouble.html());
        let article =
            trouble.ancestors().filter_map(ElementRef::wrap).find(|e| e.value().name() == "article");
        assert!(text(article.unwrap()).contains(&text(link)), "{}", text(link));
        named += 1;
    }
    assert!(named > 2, "{named}");
}

/// "low" beside a text that says "severe from 20 %" needs a reason.
#[test]
fn severities_that_are_capped_say_why() {
    let report = mixed(100);
    let html = sound(&page(&report));
    let capped: Vec<_> =
        report.applications.iter().filter(|app| app.severity_in_larger_run > app.severity).collect();
    assert!(!capped.is_empty() && capped.len() < report.applications.len());
    let words = "Short, small run: severity";
    let told = select(&html, "article").into_iter().filter(|article| text(*article).contains(words)).count();
    assert_eq!(told, capped.len());
    let [app, ..] = capped[..] else { panic!() };
    let why = format!(
        "{words} {} at most; it would be {} in a larger one.",
        app.severity, app.severity_in_larger_run
    );
    assert!(text(html.root_element()).contains(&why), "{why}");
    let first = select(&html, ".first > li");
    assert!(first.len() > 1);
    for item in first {
        let is_capped = capped.iter().any(|app| text(item).contains(app.id.as_str()));
        assert_eq!(text(item).contains(words), is_capped, "{}", text(item));
    }
}

#[test]
fn every_part_of_the_report_is_on_the_page() {
    let report = mixed(100);
    let html = sound(&page(&report));
    let whole = text(html.root_element());
    // Commands between backticks are elements.
    let squeezed = |text: &str| text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
    for app in &report.applications {
        assert!(whole.contains(&app.id), "{}", app.id);
        for finding in &app.findings {
            assert!(whole.contains(&squeezed(&finding.message)), "{}", finding.message);
            for advice in &finding.advice {
                assert!(whole.contains(&squeezed(advice)), "{advice}");
            }
            for (key, _) in &finding.evidence {
                assert!(whole.contains(key.as_ref()), "{key}");
            }
        }
        for missing in &app.not_evaluated {
            assert!(whole.contains(&squeezed(&missing.reason)), "{}", missing.reason);
        }
    }
    for entry in &report.problems {
        assert!(whole.contains(&squeezed(&entry.problem.message)), "{}", entry.problem.message);
    }
    assert_eq!(select(&html, "#index tbody tr").len(), report.applications.len());
    assert_eq!(select(&html, ".rule").len(), report.rules.len());
}

/// Fails unless headings have no gaps, links lead to ids of the page, and controls and drawings have labels.
pub(super) fn assert_consistent(html: &Html) {
    let mut level = 0;
    for heading in select(html, "h1, h2, h3, h4, h5, h6") {
        let next: usize = heading.value().name()[1..].parse().unwrap();
        assert!(next <= level + 1, "{} after h{level}: {}", heading.value().name(), text(heading));
        level = next;
    }
    assert_eq!(select(html, "h1").len(), 1);
    let ids: Vec<&str> = select(html, "[id]").into_iter().filter_map(|e| e.attr("id")).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "duplicate ids");
    for link in select(html, "a") {
        assert!(known.contains(&link.attr("href").unwrap()[1..]), "{:?}", link.attr("href"));
    }
    for labelled in select(html, "[aria-labelledby]") {
        assert!(known.contains(labelled.attr("aria-labelledby").unwrap()));
    }
    for control in select(html, "input, select") {
        let label = control.ancestors().filter_map(ElementRef::wrap).any(|e| e.value().name() == "label");
        assert!(label, "{}", control.html());
    }
    for drawing in select(html, "svg") {
        let named = drawing.attr("role") == Some("img") && drawing.attr("aria-label").is_some();
        let above = || drawing.ancestors().filter_map(ElementRef::wrap);
        // Bars are next to their numbers.
        let in_table = above().any(|e| e.value().name() == "td");
        // A group of links, each with a title.
        let group = drawing.attr("role") == Some("group") && drawing.attr("aria-label").is_some();
        let linked = above().next().is_some_and(|e| {
            e.value().name() == "a"
                && e.children().any(|e| ElementRef::wrap(e).is_some_and(|e| e.value().name() == "title"))
        });
        let hidden = in_table && drawing.attr("aria-hidden") == Some("true");
        assert!(named || group || linked || hidden, "{}", drawing.html());
    }
    assert!(select(html, "th:not([scope])").is_empty());
}

#[test]
fn headings_ids_links_and_labels_are_consistent() {
    for report in [mixed(100), mixed(0), many(300)] {
        assert_consistent(&sound(&page(&report)));
    }
}

/// From a finding to the phase that it is about, to the charts of the phase's tasks, and back.
#[test]
fn findings_phases_and_charts_lead_to_each_other() {
    let html = sound(&page(&mixed(100)));
    let target = |link: ElementRef<'_>| {
        let id = link.attr("href").unwrap()[1..].to_owned();
        select(&html, "[id]").into_iter().find(|e| e.attr("id") == Some(&id)).unwrap()
    };
    let finding = select(&html, ".finding .subject a")[0];
    let row = target(finding);
    assert_eq!(row.value().name(), "tr");
    let links: Vec<ElementRef<'_>> = row.select(&Selector::parse("a").unwrap()).collect();
    let [charts, back] = links[..] else { panic!("{}", row.html()) };
    assert!(target(back).value().classes().any(|class| class == "finding"));
    let figure = target(charts);
    assert_eq!(figure.value().name(), "figure");
    let caption = figure.select(&Selector::parse("figcaption a").unwrap()).next().unwrap();
    assert_eq!(target(caption), row);
    let bars = select(&html, ".lanes a");
    assert!(!bars.is_empty() && bars.iter().all(|bar| target(*bar).value().name() == "tr"));
    assert!(bars.iter().any(|bar| target(*bar) == row));
}

/// If a limit that a chart draws does not decide alone, the other conditions are shown next to it, even if all hold.
#[test]
fn limits_of_charts_tell_all_conditions() {
    let html = sound(&page(&charted("heuristics/mapper-skew")));
    let told = select(&html, ".charts .legend li").into_iter().map(text);
    let told: Vec<String> =
        told.filter(|line| line.contains(": this holds. The rule also needs: ")).collect();
    let fails = |line: &&String| line.contains("(does not hold)");
    let (found, not_found): (Vec<&String>, Vec<&String>) = told.iter().partition(|line| !fails(line));
    assert!(!found.is_empty() && !not_found.is_empty(), "{told:#?}");
    assert!(found.iter().all(|line| line.contains("mapper-skew") && line.contains("(holds)")), "{found:#?}");
}

/// The limit of the rule that found a stage by its data, as a line in the chart of that data.
#[test]
fn limits_of_uneven_data_are_drawn() {
    let html = sound(&page(&charted("spark/3.5.9/skew")));
    let charts = select(&html, ".charts figure").into_iter();
    let drawn: Vec<String> =
        charts.filter(|chart| chart.html().contains("<line class=\"limit\"")).map(text).collect();
    assert_eq!(drawn.len(), 2, "{drawn:?}");
    for chart in drawn {
        assert!(chart.starts_with("Shuffle read per task: stage "), "{chart}");
        assert!(chart.contains("spark-skew: low from a largest value of "), "{chart}");
        assert!(chart.contains("this holds. The rule also needs: share of the most data"), "{chart}");
    }
}

/// An application without troubles has nothing to save, which is not unknown.
#[test]
fn savings_of_applications_are_told_apart() {
    let report = mixed(0);
    let html = sound(&page(&report));
    let saved = |app: &ApplicationReport| {
        let rows = select(&html, "#index tbody tr").into_iter();
        let row = rows.into_iter().find(|row| text(*row).contains(&app.id)).unwrap();
        let cell = row.select(&Selector::parse("td").unwrap()).nth(6).unwrap();
        text(cell).trim().to_owned()
    };
    let (healthy, others): (Vec<_>, Vec<_>) =
        report.applications.iter().partition(|app| app.severity == Severity::None);
    assert!(!healthy.is_empty() && healthy.iter().all(|app| saved(app).is_empty()));
    let others: Vec<String> = others.into_iter().map(saved).collect();
    for expected in ["unknown", "within error"] {
        assert!(others.iter().any(|saved| saved == expected), "{others:?}");
    }
    // Memory, and the run time below it.
    assert!(others.iter().any(|saved| saved.ends_with('s')), "{others:?}");
}

/// Several findings of one rule in a trouble are told apart by their subjects.
#[test]
fn findings_of_a_trouble_are_told_apart() {
    let html = sound(&page(&charted("spark/3.5.9/execkill")));
    let told =
        select(&html, ".told").into_iter().map(text).find(|line| line.starts_with("Found by ")).unwrap();
    let rule = "spark-stages-with-failed-tasks";
    assert!(told.contains(&format!("{rule} (stage 1.0), {rule} (application, consequence)")), "{told}");
}

/// Call sites have no folders, which hide the file in a narrow column.
#[test]
fn call_sites_have_no_folders() {
    let report = charted("spark/3.5.9/skew");
    let html = sound(&page(&report));
    let names = select(&html, ".phases small, .charts figcaption small").into_iter().map(text);
    let names: Vec<String> = names.filter(|name| name.contains("mk_spark_logs.py")).collect();
    assert!(names.len() > 5 && names.iter().all(|name| !name.contains('/')), "{names:?}");
}

#[test]
fn hostile_text_is_escaped() {
    let source = page(&hostile());
    let html = sound(&source);
    assert_eq!(select(&html, "script").len(), 3);
    assert_eq!(select(&html, "style").len(), 1);
    assert_eq!(select(&html, "h1").len(), 1);
    assert!(select(&html, "img, b").is_empty());
    let policy = source.matches("<script>").count();
    assert_eq!(policy, 3, "an unexpected script");
    let dangerous = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    assert_eq!(source.chars().find(|&c| dangerous(c)), None);
    let whole = text(html.root_element());
    for shown in
        ["<script>alert(1)</script>", "right[U+202E]to left", "nul␀bell␇esc␛[31m␍␊line", "&lt; &amp;"]
    {
        assert!(whole.contains(shown), "{shown}");
    }
    assert_eq!(HOSTILE.len(), 9);
    let long = format!("{}<b>{}", "x".repeat(5000), "y".repeat(5000));
    assert!(whole.contains(&long), "the page does not contain the complete long name");
    let rows = select(&html, "#index tbody tr");
    assert!(rows.iter().all(|row| text(*row).chars().count() < 2000), "a table row is too long");
}

/// Fails unless the content security policy allows exactly the page's own style and scripts, and these load nothing.
pub(super) fn assert_policy(source: &str) {
    let html = sound(source);
    let policy = select(&html, "meta[http-equiv]")[0].attr("content").unwrap();
    let hash = |element: &ElementRef<'_>| {
        let code: String = element.text().collect();
        format!("'sha256-{}'", STANDARD.encode(Sha256::digest(code.as_bytes())))
    };
    let hashes = |selector: &str| select(&html, selector).iter().map(hash).collect::<Vec<_>>().join(" ");
    let expected = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hashes("style"),
        hashes("script")
    );
    assert_eq!(
        policy, expected,
        "a style sheet or script in templates/ changed: use the hashes on the right"
    );
    for code in select(&html, "style, script") {
        let code: String = code.text().collect();
        for word in ["url(", "@import", "http:", "https:", "fetch(", "innerHTML", "eval("] {
            assert!(!code.contains(word), "{word}");
        }
    }
}

#[test]
fn content_security_policy_allows_only_our_code() {
    assert_policy(&page(&mixed(1)));
}

#[test]
fn page_does_not_depend_on_the_number_of_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Only some applications get charts; the selection must not depend on which finished first.
        page(&pool.install(|| mixed(3)))
    };
    let one = with(1);
    assert_eq!(one.matches("class=\"charts\"").count(), 3);
    assert!(one == with(2) && one == with(8));
}

#[test]
fn worst_applications_get_charts() {
    let report = mixed(3);
    let charted: Vec<bool> = report.applications.iter().map(|app| app.charts.is_some()).collect();
    assert!(charted[..3].iter().all(|&has| has) && !charted[3..].iter().any(|&has| has), "{charted:?}");
    assert!(mixed(0).applications.iter().all(|app| app.charts.is_none()));
}

/// A copy that is not counted takes no place.
#[test]
fn copies_of_a_history_leave_the_charts_to_others() {
    let spark = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/spark/3.5.9");
    let rules = elephant_rs::rules::RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap();
    let options = elephant_rs::engine::Options { charts: 2, ..elephant_rs::engine::Options::default() };
    let once = elephant_rs::engine::analyze(std::slice::from_ref(&spark), &rules, options.clone());
    let worst = &once.applications[0];
    let [log] = worst.sources.as_slice() else { panic!("{:?}", worst.sources) };
    let folder = tempfile::tempdir().unwrap();
    for copy in ["a", "b"] {
        std::fs::copy(log, folder.path().join(copy)).unwrap();
    }
    let report = elephant_rs::engine::analyze(&[folder.path().to_owned(), spark], &rules, options);
    assert_eq!(report.summary.copies, once.summary.copies + 2);
    assert_eq!(report.applications[0].id, worst.id);
    let charted: Vec<bool> = report.applications.iter().map(|app| app.charts.is_some()).collect();
    assert!(charted[..2].iter().all(|&has| has) && !charted[2..].iter().any(|&has| has), "{charted:?}");
}

#[test]
fn page_size_grows_with_the_table_only() {
    let base = page(&many(0)).len();
    let (thousand, two) = (page(&many(1000)).len(), page(&many(2000)).len());
    assert!(base < 450_000, "{base} bytes without applications");
    let each = (two - thousand) / 1000;
    assert!(each < 6000, "{each} bytes for an application without charts");
}

#[test]
fn empty_report_is_a_valid_page() {
    let report = elephant_rs::results::Report::default();
    let html = sound(&page(&report));
    assert!(text(html.root_element()).contains("The paths contain no files."));
}
