//! Reads the members of objects and the elements of arrays.

use super::{Cursor, RawStr, Scan};

impl<'a> Cursor<'a> {
    /// Reads an object. `member` receives the key's index in `keys` and must consume the value; values of
    /// other keys are skipped. A value that is not an object is skipped as a whole.
    ///
    /// `keys` are written with quotes and colon (`"Task ID":`), in the order in which the writer writes them:
    /// each is first compared with the one expected next, which avoids a search. Any other order works as
    /// well.
    #[inline]
    pub(crate) fn members<F>(&mut self, keys: &[&[u8]], member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        if !self.take(b'{') {
            return self.skip_value();
        }
        if self.take(b'}') {
            return Ok(());
        }
        self.rest_of_members(keys, member)
    }

    #[inline]
    fn rest_of_members<F>(&mut self, keys: &[&[u8]], mut member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        let mut expected = 0;
        loop {
            let known = match keys.get(expected) {
                Some(key) if self.literal(key).is_ok() => Some(expected),
                _ => self.any_key(keys)?,
            };
            match known {
                Some(index) => {
                    member(index, self)?;
                    expected = index + 1;
                }
                None => self.skip_value()?,
            }
            if let [b',', rest @ ..] = self.rest {
                self.rest = rest;
            } else if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// As [`Cursor::members`], after the first member of an object has been consumed.
    pub(crate) fn members_after_first<F>(&mut self, keys: &[&[u8]], member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        if self.take(b'}') {
            return Ok(());
        }
        self.expect(b',')?;
        self.rest_of_members(keys, member)
    }

    /// Reads a key and its colon and returns its index in `keys`, which are written as for [`Cursor::members`]. Unescaped
    /// keys are found without a search for their end.
    #[inline]
    pub(crate) fn key_among(&mut self, keys: &[&[u8]]) -> Scan<Option<usize>> {
        match keys.iter().position(|key| self.literal(key).is_ok()) {
            Some(known) => Ok(Some(known)),
            None => self.any_key(keys),
        }
    }

    /// Reads a key and its colon and returns its index in `keys`.
    fn any_key(&mut self, keys: &[&[u8]]) -> Scan<Option<usize>> {
        let key = self.key()?;
        let is = |written: &&[u8]| {
            let name = written.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\":"));
            name.is_some_and(|name| name == key.bytes || (key.escaped && key.text().as_bytes() == name))
        };
        Ok(keys.iter().position(is))
    }

    /// Reads all members of an object, whatever their keys; skips any other value.
    pub(crate) fn each_member<F>(&mut self, mut member: F) -> Scan<()>
    where
        F: FnMut(RawStr<'a>, &mut Self) -> Scan<()>,
    {
        if !self.take(b'{') {
            return self.skip_value();
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            member(key, self)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads all members of an object that have text values; skips other members and any other value.
    pub(crate) fn each_pair<F>(&mut self, mut pair: F) -> Scan<()>
    where
        F: FnMut(RawStr<'a>, RawStr<'a>),
    {
        if !self.take(b'{') {
            return self.skip_value();
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            if let Ok((key, text)) = self.plain_pair() {
                pair(key, text);
            } else {
                let key = self.key()?;
                if let Some(text) = self.string_or_skip()? {
                    pair(key, text);
                }
            }
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads the elements of an array; skips any other value.
    pub(crate) fn elements<F>(&mut self, mut element: F) -> Scan<()>
    where
        F: FnMut(&mut Self) -> Scan<()>,
    {
        if !self.take(b'[') {
            return self.skip_value();
        }
        if self.take(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }
}
