//! Pseudonyms: what a text is replaced by.
//!
//! The letters of a pseudonym depend on the key and on the text alone, and its prefix on where the text stood. So the same
//! host has the same letters as the host of a task, in a URL and in a message, in every file that is rewritten with the same
//! key. Upper and lower case count as the same, because SQL and host names do; a capital prefix tells that there were capitals.

use rustc_hash::FxHashMap;

use super::key::Key;

/// Consonants only: no pseudonym contains a word, or looks like a number or hexadecimal digits.
const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";

/// The number of letters: 52 bits. Of a million names, two have the same letters with a probability of 1 in 8,000.
const LEN: usize = 12;

/// Pseudonyms that are remembered. Histories repeat few names; the others are computed again.
const REMEMBERED: usize = 1 << 16;
/// Longer texts are not remembered.
const LONGEST: usize = 200;

/// What a text names. Each kind has its own prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Host,
    Rack,
    User,
    Application,
    Queue,
    Bucket,
    Folder,
    File,
    Name,
    Class,
    Word,
    Setting,
    Value,
    Id,
    Mail,
    Number,
}

impl Kind {
    pub(crate) const ALL: [Self; 16] = [
        Self::Host,
        Self::Rack,
        Self::User,
        Self::Application,
        Self::Queue,
        Self::Bucket,
        Self::Folder,
        Self::File,
        Self::Name,
        Self::Class,
        Self::Word,
        Self::Setting,
        Self::Value,
        Self::Id,
        Self::Mail,
        Self::Number,
    ];

    /// The beginning of its pseudonyms. Names of columns and classes have to stay names of columns and classes.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Host => "host-",
            Self::Rack => "rack-",
            Self::User => "user-",
            Self::Application => "app-",
            Self::Queue => "queue-",
            Self::Bucket => "bucket-",
            Self::Folder => "dir-",
            Self::File => "file-",
            Self::Name => "name_",
            Self::Class => "class_",
            Self::Word => "word-",
            Self::Setting => "key-",
            Self::Value => "value-",
            Self::Id => "id-",
            Self::Mail => "mail-",
            Self::Number => "number-",
        }
    }

    /// What the report calls the texts.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Host => "hosts and addresses",
            Self::Rack => "racks",
            Self::User => "users",
            Self::Application => "names of applications and jobs",
            Self::Queue => "queues",
            Self::Bucket => "buckets",
            Self::Folder => "folders",
            Self::File => "files",
            Self::Name => "names in plans and SQL (tables, columns, functions, texts)",
            Self::Class => "classes, methods and source files",
            Self::Word => "words of messages",
            Self::Setting => "names of settings",
            Self::Value => "values of settings",
            Self::Id => "ids",
            Self::Mail => "addresses of mail and logins",
            Self::Number => "numbers of texts",
        }
    }
}

/// Makes pseudonyms, and counts them.
pub(crate) struct Pseudonyms {
    key: Key,
    known: FxHashMap<Box<str>, [u8; LEN]>,
}

impl Pseudonyms {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, known: FxHashMap::default() }
    }

    /// The pseudonym of a text.
    pub(crate) fn name(&mut self, kind: Kind, text: &str) -> String {
        let letters = self.letters(text);
        let mut name = String::with_capacity(kind.prefix().len() + LEN);
        let has_capitals = text.bytes().any(|byte| byte.is_ascii_uppercase());
        let mut prefix = kind.prefix().chars();
        if let Some(first) = prefix.next() {
            name.push(if has_capitals { first.to_ascii_uppercase() } else { first });
        }
        name.push_str(prefix.as_str());
        name.extend(letters.iter().map(|letter| char::from(*letter)));
        name
    }

    /// Other digits, as many: a number stays a number, and what counts digits counts the same.
    pub(crate) fn digits(&self, digits: &str) -> String {
        self.replaced("digits", digits, b"0123456789")
    }

    /// Other hexadecimal digits, as many.
    pub(crate) fn hexadecimal(&self, digits: &str) -> String {
        self.replaced("hexadecimal", digits, b"0123456789abcdef")
    }

    /// A number of days from the key.
    pub(crate) fn days(&self, among: i64) -> i64 {
        let [a, b, c, d, ..] = self.key.mac("days", b"");
        i64::from(u32::from_le_bytes([a, b, c, d])) % among.max(1)
    }

    /// Each alphanumeric character replaced; the others stay. The first digit is not zero, unless it was.
    fn replaced(&self, purpose: &str, text: &str, alphabet: &[u8]) -> String {
        let lower = text.to_ascii_lowercase();
        let mut block = self.key.mac(purpose, lower.as_bytes());
        let mut bytes: Vec<u8> = Vec::new();
        let mut replaced = String::with_capacity(text.len());
        for (place, letter) in text.chars().enumerate() {
            if !letter.is_ascii_alphanumeric() {
                replaced.push(letter);
                continue;
            }
            if bytes.is_empty() {
                bytes = block.to_vec();
                block = self.key.mac(purpose, &block);
            }
            let byte = usize::from(bytes.pop().unwrap_or_default());
            let alphabet =
                if place == 0 && letter != '0' { alphabet.get(1..).unwrap_or(alphabet) } else { alphabet };
            let new = alphabet.get(byte % alphabet.len().max(1)).copied().unwrap_or(b'0');
            replaced.push(char::from(new));
        }
        replaced
    }

    fn letters(&mut self, text: &str) -> [u8; LEN] {
        let lower = text.to_lowercase();
        if let Some(letters) = self.known.get(lower.as_str()) {
            return *letters;
        }
        let mac = self.key.mac("name", lower.as_bytes());
        let mut rest = mac.first_chunk().copied().map_or(0, u64::from_le_bytes);
        let letters = [(); LEN].map(|()| {
            let place = usize::try_from(rest % 20).unwrap_or_default();
            rest /= 20;
            LETTERS.get(place).copied().unwrap_or(b'x')
        });
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        if lower.len() <= LONGEST {
            self.known.insert(lower.into(), letters);
        }
        letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_letters_wherever_it_stands() {
        let mut names = Pseudonyms::new(Key::of_text(b"k"));
        let (host, word) = (names.name(Kind::Host, "web7"), names.name(Kind::Word, "web7"));
        assert_eq!(host.strip_prefix("host-"), word.strip_prefix("word-"));
        assert_ne!(host, names.name(Kind::Host, "web8"));
        assert_eq!(names.name(Kind::Name, "Sales"), names.name(Kind::Name, "sales").replace("name", "Name"));
        let mut other = Pseudonyms::new(Key::of_text(b"l"));
        assert_ne!(host, other.name(Kind::Host, "web7"));
        assert!(host.bytes().skip(5).all(|letter| LETTERS.contains(&letter)) && host.len() == 5 + LEN);
    }

    #[test]
    fn numbers_stay_numbers_of_the_same_length() {
        let names = Pseudonyms::new(Key::of_text(b"k"));
        let long = "123456789012345678901234567890123456789012345678901234567890";
        let new = names.digits(long);
        assert!(new.len() == long.len() && new.bytes().all(|digit| digit.is_ascii_digit()) && new != long);
        assert!(!new.starts_with('0') && names.digits("07").len() == 2);
        let uuid = names.hexadecimal("0b3f9c1a-2222-4444-8888-abcdefabcdef");
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    }

    #[test]
    fn names_do_not_collide() {
        let mut names = Pseudonyms::new(Key::of_text(b"k"));
        let all: std::collections::BTreeSet<String> =
            (0..50_000).map(|number| names.name(Kind::Word, &format!("n{number}"))).collect();
        assert_eq!(all.len(), 50_000);
    }
}
