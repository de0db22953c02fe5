//! What a tool is: its name, its arguments, its answer, and who answers.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::failure::Failure;
use super::library::Context;
use super::page::MOST_BYTES;

/// What an agent asks. Its fields are the arguments, and their docs say what they mean.
pub(crate) trait Question: DeserializeOwned + JsonSchema {
    /// The structured content of the answer.
    type Answer: Serialize + JsonSchema;
    /// The name of the tool.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it answers, and when to ask it.
    const ABOUT: &'static str;

    /// The answer, and the same as text.
    fn answer(&self, context: &Context<'_>) -> Result<(Self::Answer, String), Failure>;
}

/// An answer as it is sent.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) structured: Value,
    pub(crate) text: String,
}

/// A row of the table of tools.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    title: &'static str,
    about: &'static str,
    input: fn() -> Arc<JsonObject>,
    output: fn() -> Arc<JsonObject>,
    pub(crate) ask: fn(&Context<'_>, JsonObject) -> Result<Answer, Failure>,
}

impl Row {
    pub(crate) const fn of<Q: Question>() -> Self {
        Self {
            name: Q::NAME,
            title: Q::TITLE,
            about: Q::ABOUT,
            input: || schema::<Q>(SchemaSettings::draft2020_12().for_deserialize()),
            output: || schema::<Q::Answer>(SchemaSettings::draft2020_12().for_serialize()),
            ask: ask::<Q>,
        }
    }

    /// The description that an agent is given.
    pub(crate) fn described(&self) -> Tool {
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, self.about, (self.input)())
            .with_title(self.title)
            .with_raw_output_schema((self.output)())
            .with_annotations(hints)
    }
}

/// The schema of a type, without references and Rust's names of numbers, which some clients do not know.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
    }));
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    Arc::new(schema.as_object_mut().map(std::mem::take).unwrap_or_default())
}

fn ask<Q: Question>(context: &Context<'_>, arguments: JsonObject) -> Result<Answer, Failure> {
    let question: Q = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Failure::Bad(format!("the arguments are of no use: {error}")))?;
    let (answer, text) = question.answer(context)?;
    let structured = serde_json::to_value(answer)?;
    let size = structured.to_string().len() + text.len();
    if size > MOST_BYTES {
        return Err(Failure::Large(size));
    }
    Ok(Answer { structured, text })
}
