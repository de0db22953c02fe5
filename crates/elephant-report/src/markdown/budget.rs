//! Text with a maximum length.

/// A text with a maximum length in bytes.
pub(super) struct Budget {
    text: String,
    limit: usize,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), limit }
    }

    /// Adds `more` if there is room for all of it.
    pub(super) fn add(&mut self, more: &str) -> bool {
        let fits = self.text.len() + more.len() <= self.limit;
        if fits {
            self.text.push_str(more);
        }
        fits
    }

    /// Adds `more` without a check, because room was reserved for it.
    pub(super) fn add_reserved(&mut self, more: &str) {
        self.text.push_str(more);
    }

    /// An empty text with the remaining length of this one, minus `reserve` bytes.
    pub(super) fn part(&self, reserve: usize) -> Self {
        Self::new(self.limit.saturating_sub(self.text.len() + reserve))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_does_not_fit_is_left_out_completely() {
        let mut text = Budget::new(5);
        assert!(text.add("abc") && !text.add("def") && text.add("de"));
        assert_eq!(text.text(), "abcde");
        assert!(!text.part(1).add("x"));
        assert!(text.part(1).add(""));
    }
}
