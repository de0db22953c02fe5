//! What a configuration means beyond what is read of it.

/// See the module.
#[derive(Default)]
pub(super) struct LeftOut {
    properties: u64,
    first_property: Option<String>,
    includes: u64,
}

impl LeftOut {
    /// Notes a property whose name or value refers to an entity that only the document declares.
    pub(super) fn property(&mut self, name: &str) {
        self.properties += 1;
        self.first_property.get_or_insert_with(|| name.to_owned());
    }

    /// Notes that the document takes in another one.
    pub(super) fn include(&mut self) {
        self.includes += 1;
    }

    /// What is left out, if anything is.
    pub(super) fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let (Some(first), count) = (&self.first_property, self.properties) {
            let properties = match count {
                1 => format!("the property {first:?} refers"),
                _ => format!("{count} properties, {first:?} the first, refer"),
            };
            parts.push(format!("{properties} to entities of the document's own, which are not expanded"));
        }
        match self.includes {
            0 => {}
            1 => parts.push("an included document is not looked for".to_owned()),
            count => parts.push(format!("{count} included documents are not looked for")),
        }
        (!parts.is_empty()).then(|| {
            format!(
                "The job configuration is read in part: {}; these settings are unknown",
                parts.join(", and ")
            )
        })
    }
}
