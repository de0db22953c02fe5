//! What only pages of a server have: a place among other pages, and forms.

/// A page among others.
pub(crate) struct Site {
    /// The title, which may contain names.
    pub(crate) title: String,
    /// The address of the page that the links at the top have as the present one; empty for another page.
    pub(crate) here: &'static str,
    /// What was searched for.
    pub(crate) text: String,
}

/// Fields that are sent to an address of the server.
pub(crate) struct Form {
    pub(crate) action: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) submit: &'static str,
}

/// A field with its present value.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) choice: Choice,
}

/// How the value of a field is chosen.
pub(crate) enum Choice {
    /// By typing.
    Text,
    /// A day.
    Day,
    /// Among values with their texts. The first one stands for none.
    Among(Vec<(String, String)>),
}
