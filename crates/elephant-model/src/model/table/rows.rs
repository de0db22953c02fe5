//! Rows of a table that take no memory until there is one: a log may name millions of stages without tasks.

use std::ops::{Deref, DerefMut};

/// The content of a table.
pub(super) trait Content: Default + 'static {
    /// The content of every table without rows.
    fn empty() -> &'static Self;
}

/// A `T` that is allocated when it is first changed.
#[derive(Debug, Clone)]
pub(super) struct Rows<T>(Option<Box<T>>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Content> Deref for Rows<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(content) => content,
            None => T::empty(),
        }
    }
}

impl<T: Content> DerefMut for Rows<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}
