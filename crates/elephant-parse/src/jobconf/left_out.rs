//! Settings of a configuration that were not read.

/// See the module.
#[derive(Default)]
pub(super) struct LeftOut {
    properties: u64,
    first_property: Option<String>,
    includes: u64,
}

impl LeftOut {
    /// Records a property whose name or value refers to an entity that only the document declares.
    pub(super) fn property(&mut self, name: &str) {
        self.properties += 1;
        self.first_property.get_or_insert_with(|| name.to_owned());
    }

    /// Records that the document includes another one.
    pub(super) fn include(&mut self) {
        self.includes += 1;
    }

    /// The message about left-out settings; `None` if there are none.
    pub(super) fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let (Some(first), count) = (&self.first_property, self.properties) {
            let properties = match count {
                1 => format!("the property {first:?} refers"),
                _ => format!("{count} properties, starting with {first:?}, refer"),
            };
            parts
                .push(format!("{properties} to entities that the document declares, which are not expanded"));
        }
        match self.includes {
            0 => {}
            1 => parts.push("an included document was not read".to_owned()),
            count => parts.push(format!("{count} included documents were not read")),
        }
        (!parts.is_empty()).then(|| {
            format!(
                "The job configuration was read only partly: {}; these settings are unknown",
                parts.join(", and ")
            )
        })
    }
}
