//! Pages of a server: links to its other pages, a field to search in all of them, and forms.

use std::io::{self, Write};

use super::super::{Choice, Document, Field, Form, Site};
use super::content;
use super::escape::{escape, escaped};
use super::frame::{self, Code};

const STYLES: [Code; 3] = [frame::STYLE, frame::CHART_STYLE, frame::SITE_STYLE];
const SCRIPTS: [Code; 1] = [frame::SORT];

/// The pages that every page has a link to.
const PAGES: [(&str, &str); 5] = [
    ("/", "Overview"),
    ("/search", "Applications"),
    ("/nodes", "Nodes"),
    ("/rules", "Rules"),
    ("/failures", "Failures"),
];

/// A page with fewer sections needs no links to them.
const FEW_SECTIONS: usize = 4;

/// The policy of all pages, which a server also sends as a header.
pub(crate) fn policy() -> String {
    frame::policy("'self'", &STYLES, &SCRIPTS)
}

/// Writes a page of the server.
pub(crate) fn write(document: &Document<'_>, site: &Site, out: &mut dyn Write) -> io::Result<()> {
    let (nav, main) = content(document);
    let pages = PAGES.map(|(address, text)| {
        let here = if address == site.here { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{address}\"{here}>{text}</a>")
    });
    let sections = if nav.matches("<a ").count() < FEW_SECTIONS {
        String::new()
    } else {
        format!("<nav class=\"sections\" aria-label=\"Sections\">\n{nav}\n</nav>\n")
    };
    let title = format!("{} · elephant-rs", escaped(&site.title));
    writeln!(
        out,
        r##"{head}
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">elephant-rs</a></p>
<nav aria-label="Pages">
{pages}
</nav>
<form class="find" role="search" action="/search">
<input type="search" name="q" value="{text}" aria-label="Id, name, user or queue" placeholder="Id, name, user, queue">
<button>Search</button>
</form>
</header>
{sections}<main id="main" tabindex="-1">
{main}
</main>
<footer>
<p><a href="#main">Back to top</a></p>
<p>elephant-rs {version}, {foot}</p>
</footer>"##,
        head = frame::head(&title, "'self'", &STYLES, &SCRIPTS),
        pages = pages.join("\n"),
        text = escape(&site.text),
        version = frame::VERSION,
        foot = document.foot
    )?;
    SCRIPTS.iter().try_for_each(|code| writeln!(out, "<script>{}</script>", code.text))?;
    writeln!(out, "</body>\n</html>")
}

/// Links next to each other.
pub(super) fn links(label: &str, links: &[(String, String)]) -> String {
    let link =
        |(address, text): &(String, String)| format!("<a href=\"{}\">{}</a>", escape(address), escaped(text));
    let links: Vec<String> = links.iter().map(link).collect();
    format!("<nav class=\"more\" aria-label=\"{label}\">{}</nav>", links.join("\n"))
}

pub(super) fn form(Form { action, fields, submit }: &Form) -> String {
    let fields: Vec<String> = fields.iter().map(field).collect();
    format!(
        "<form class=\"filters\" action=\"{action}\">\n{}\n<button>{submit}</button>\n</form>",
        fields.join("\n")
    )
}

fn field(Field { name, label, value, choice }: &Field) -> String {
    let chosen_key = value;
    let value = escape(value);
    let input = match choice {
        Choice::Text => format!("<input name=\"{name}\" value=\"{value}\">"),
        Choice::Day => format!("<input type=\"date\" name=\"{name}\" value=\"{value}\">"),
        Choice::Among(values) => {
            let option = |(key, text): &(String, String)| {
                let chosen = if key == chosen_key { " selected" } else { "" };
                format!("<option value=\"{}\"{chosen}>{}</option>", escape(key), escaped(text))
            };
            let options: String = values.iter().map(option).collect();
            format!("<select name=\"{name}\">{options}</select>")
        }
    };
    format!("<label>{label} {input}</label>")
}
