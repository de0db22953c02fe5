//! The files of a new rule, and the lines that register it.

use std::path::{Path, PathBuf};
use std::{fs, io};

const ENGINES: [&str; 4] = ["mapreduce", "spark", "tez", "any"];

const WITH_ENGINE: &str =
    "use elephant_model::model::spark::Facet;\nuse elephant_model::model::{Application, Engine};";

/// A rule to create.
#[derive(Debug)]
pub struct NewRule {
    engine: String,
    id: String,
}

/// A file to write.
#[derive(Debug)]
pub struct Change {
    /// Its path below the root.
    pub path: PathBuf,
    /// Its new content.
    pub text: String,
}

impl NewRule {
    /// A rule with this engine and id.
    ///
    /// # Errors
    /// If the engine or the id is invalid.
    pub fn new(engine: &str, id: &str) -> Result<Self, String> {
        if !ENGINES.contains(&engine) {
            return Err(format!("unknown engine \"{engine}\"; expected {}", ENGINES.join(", ")));
        }
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        if !id.split('-').all(is_word) {
            return Err(format!(
                "\"{id}\" is not in kebab-case: use lower-case words separated by single hyphens"
            ));
        }
        // As the ids of all rules about Spark and about Tez.
        let prefix = match engine {
            "spark" if !id.starts_with("spark-") => "spark-",
            "tez" if !id.starts_with("tez-") => "tez-",
            _ => "",
        };
        Ok(Self { engine: engine.to_owned(), id: format!("{prefix}{id}") })
    }

    /// The name of its module: `my_rule`. Modules of Spark and Tez rules omit the prefix.
    #[must_use]
    pub fn module(&self) -> String {
        let name = match self.engine.as_str() {
            "spark" => self.id.strip_prefix("spark-"),
            "tez" => self.id.strip_prefix("tez-"),
            _ => None,
        };
        name.unwrap_or(&self.id).replace('-', "_")
    }

    fn words(&self) -> impl Iterator<Item = String> {
        self.id.split('-').map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        })
    }

    fn fill(&self, template: &str) -> String {
        let (imports, applies) = match self.engine.as_str() {
            "mapreduce" => (WITH_ENGINE, condition("MapReduce")),
            "spark" => (WITH_ENGINE, condition("Spark")),
            "tez" => (WITH_ENGINE, condition("Tez")),
            _ => (
                "use elephant_model::model::Application;\nuse elephant_model::model::spark::Facet;",
                String::new(),
            ),
        };
        template
            .replace("@id@", &self.id)
            .replace("@engine@", &self.engine)
            .replace("@title@", &self.words().collect::<Vec<_>>().join(" "))
            .replace("@type@", &self.words().collect::<String>())
            .replace("@imports@", imports)
            .replace("@applies@", &applies)
    }

    /// All files to write below `root`, the folder with the program's sources.
    ///
    /// # Errors
    /// If a file of the rule already exists, or if a file to edit cannot be read or has an unexpected form.
    pub fn changes(&self, root: &Path) -> Result<Vec<Change>, String> {
        let Self { engine, id } = self;
        let module = self.module();
        let taken = ENGINES.into_iter().map(|engine| format!("rules/{engine}/{id}.yaml"));
        let code = format!("crates/elephant-heuristics/src/{engine}/{module}.rs");
        if let Some(path) = taken.chain([code.clone()]).find(|path| root.join(path).exists()) {
            return Err(format!("{path} already exists: choose another id"));
        }
        let new = |path: String, template: &str| Change { path: path.into(), text: self.fill(template) };
        Ok(vec![
            new(code, include_str!("templates/rule.rs.txt")),
            new(format!("rules/{engine}/{id}.yaml"), include_str!("templates/rule.yaml.txt")),
            new(format!("rules/{engine}/{id}.md"), include_str!("templates/rule.md.txt")),
            edited(root, format!("crates/elephant-heuristics/src/{engine}/mod.rs").into(), |text| {
                with_row(text, &module)
            })?,
            self.case(root)?,
        ])
    }

    /// A fixture for each severity.
    fn case(&self, root: &Path) -> Result<Change, String> {
        let Self { engine, id } = self;
        if engine == "mapreduce" || engine == "tez" {
            return edited(
                root,
                format!("crates/elephant-heuristics/tests/it/fixtures/{engine}.rs").into(),
                |text| {
                    let (before, after) = text.split_once("fn all() -> Vec<Fixture> {")?;
                    let (body, rest) = after.split_once("\n    all\n}")?;
                    let case = format!(
                        "\n    all.extend(series(\"{id}\", [50, 150, 250, 500, 1000], |hours| {{\n        \
                     no_conf(json!([group(\"map\", 1, hours * 60 * MINUTE, json!({{}}))]))\n    }}));"
                    );
                    Some([before, "fn all() -> Vec<Fixture> {", body, &case, "\n    all\n}", rest].concat())
                },
            );
        }
        let module = self.module();
        edited(root, "crates/elephant-heuristics/tests/it/fixtures/spark_cases.rs".into(), |text| {
            let (before, after) = text.split_once("fn all() -> Vec<Fixture> {")?;
            let (list, rest) = after.split_once(']')?;
            let case = format!(
                "\nfn {module}() -> Vec<Fixture> {{\n    let hours = [50, 150, 250, 500, 1000].map(Some);\n    \
                 series(\"{id}\", \"longest-task\", hours, |hours| {{\n        \
                 App::with(&[], 1, 1).stage(vec![task_on(1, hours * HOUR)])\n    }})\n}}\n"
            );
            let call = format!(", {module}()]");
            Some([before, "fn all() -> Vec<Fixture> {", list, &call, rest, &case].concat())
        })
    }

    /// Instructions for the remaining work.
    #[must_use]
    pub fn next_steps(&self, changes: &[Change]) -> String {
        let engine = &self.engine;
        let cases = changes.last().map(|change| change.path.display().to_string()).unwrap_or_default();
        format!(
            "Next:\n\
             1. Write the check in crates/elephant-heuristics/src/{engine}/{module}.rs: parameters, facts, MESSAGE, advice. In RULE,\n   \
                replace tells Other by the kind of trouble that it finds (TroubleKind lists them), so that findings of one cause are\n   \
                told together. If a measure shows how bad a finding is, add .measured_by(\"key\", Worse::Higher), so that\n   \
                baselines keep it.\n\
             2. Set the limits in rules/{engine}/{id}.yaml and describe the rule in rules/{engine}/{id}.md (\"TODO\" marks open places).\n\
             3. Adjust the case for each severity in {cases}.\n\
             4. INSTA_UPDATE=always cargo test -p elephant-heuristics   (writes fixtures, snapshots and docs/rules.md; what is\n   \
                still missing is told with file, line and what to do)\n\
             5. cargo fmt, cargo clippy -p elephant-heuristics --all-targets, git diff, cargo test -p elephant-heuristics\n\
             6. Before the pull request: INSTA_UPDATE=always cargo test --no-fail-fast (other generated pages), then cargo test\n",
            module = self.module(),
            id = self.id,
        )
    }
}

/// Writes the changes below `root`.
///
/// # Errors
/// If a file cannot be written.
pub fn write(root: &Path, changes: &[Change]) -> io::Result<()> {
    for Change { path, text } in changes {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

fn condition(engine: &str) -> String {
    format!(
        "        if app.engine != Engine::{engine} {{\n            return Verdict::NotApplicable;\n        }}\n"
    )
}

fn edited(root: &Path, path: PathBuf, edit: impl Fn(&str) -> Option<String>) -> Result<Change, String> {
    let whole = root.join(&path);
    let text = fs::read_to_string(&whole).map_err(|error| format!("{}: {error}", whole.display()))?;
    let text = edit(&text).ok_or_else(|| format!("{} has an unexpected form", path.display()))?;
    Ok(Change { path, text })
}

/// The `mod.rs` of an engine's rules with one more module, in alphabetical order, and one more row in
/// `RULES`.
fn with_row(text: &str, module: &str) -> Option<String> {
    let line = format!("mod {module};\n");
    let is_module = |line: &&str| line.starts_with("mod ") && line.ends_with(";\n");
    let mut modules = text.split_inclusive('\n').filter(is_module);
    let after = modules.clone().find(|known| *known > line.as_str());
    let place = if let Some(after) = after {
        text.find(&format!("\n{after}"))? + 1
    } else {
        let last = modules.next_back()?;
        text.find(&format!("\n{last}"))? + 1 + last.len()
    };
    let (before, rest) = text.split_at_checked(place)?;
    let (head, rows) = rest.split_once("const RULES: &[Rule] = &[\n")?;
    let (rows, tail) = rows.split_once("];\n")?;
    let row = format!("    {module}::RULE,\n");
    Some([before, &line, head, "const RULES: &[Rule] = &[\n", rows, &row, "];\n", tail].concat())
}
