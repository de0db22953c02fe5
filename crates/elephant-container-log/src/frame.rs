//! Stack frames.

use super::{limits, own};

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The method with its class, `com.example.Job.run`; of Python, the function.
    pub method: String,
    /// The source file, `Job.scala`; of Python, its name without folders, which may name users.
    pub file: Option<String>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// Whether it is of the user's own code: outside the JVM's and Python's libraries and the frameworks.
    pub is_own: bool,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.method)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
            (Some(file), None) => write!(f, " ({file})"),
            _ => Ok(()),
        }
    }
}

/// Whether a line begins like a frame of the JVM.
pub(crate) fn begins(text: &str) -> bool {
    let text = text.trim_start();
    text.strip_prefix("at ").is_some_and(|rest| {
        let end = rest.find('(').unwrap_or(rest.len());
        let place = rest.get(..end).unwrap_or_default();
        place.contains('.') && !place.contains(' ') && place.len() <= limits::FRAME * 4
    })
}

/// Whether the frame goes on in the next line: some logs are wrapped at a width.
pub(crate) fn is_wrapped(text: &str) -> bool {
    begins(text) && !text.contains(')')
}

/// `at java.base/java.lang.Thread.run(Thread.java:748)`.
pub(crate) fn java(text: &str) -> Option<Frame> {
    if !begins(text) {
        return None;
    }
    let rest = text.trim_start().strip_prefix("at ")?;
    let (place, after) = rest.split_once('(').unwrap_or((rest, ""));
    // A class loader and a module come before a slash: `app//a.B.c`, `java.base@17.0.1/java.lang.Thread.run`.
    let place = place
        .split('$')
        .next()
        .and_then(|first| first.rfind('/'))
        .map_or(place, |at| place.get(at + 1..).unwrap_or(place));
    let inside = after.split(')').next().unwrap_or_default();
    let (file, line) = match inside.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (inside, None),
    };
    let is_file = !file.is_empty() && !file.contains(' ') && !file.contains('/');
    let method = cut(place).to_owned();
    let is_own = !own::is_framework(&method);
    Some(Frame { method, file: is_file.then(|| cut(file).to_owned()), line, is_own })
}

/// `... 31 more`.
pub(crate) fn is_more(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix("... ") else { return false };
    rest.split_once(' ').is_some_and(|(number, word)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && word.starts_with("more")
            || word.contains("common frames omitted")
    })
}

/// A frame of Python: `File "/a/b.py", line 12, in run`.
pub(crate) fn python(text: &str) -> Option<Frame> {
    let rest = text.trim_start().strip_prefix("File \"")?;
    let (path, rest) = rest.split_once('"')?;
    let (line, rest) = match rest.strip_prefix(", line ") {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, rest) = rest.split_at(end);
            (number.parse().ok(), rest)
        }
        None => (None, rest),
    };
    let function = rest.strip_prefix(", in ").map_or("<module>", str::trim);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    Some(Frame {
        method: cut(function).to_owned(),
        file: Some(cut(name).to_owned()),
        line,
        is_own: !own::is_python_framework(path),
    })
}

fn cut(text: &str) -> &str {
    super::chain::prefix(text, limits::FRAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_jvm_are_read() {
        let told = |text: &str| java(text).map(|frame| (frame.to_string(), frame.is_own));
        for (text, frame, is_own) in [
            ("\tat java.lang.Thread.run(Thread.java:748)", "java.lang.Thread.run (Thread.java:748)", false),
            (
                "\tat java.base/java.lang.Thread.run(Thread.java:829)",
                "java.lang.Thread.run (Thread.java:829)",
                false,
            ),
            (
                "at app//com.acme.Job.main(Job.scala:3) ~[job.jar:1.0]",
                "com.acme.Job.main (Job.scala:3)",
                true,
            ),
            (
                "\tat com.acme.Job$$Lambda$12/0x0001.apply(Unknown Source)",
                "com.acme.Job$$Lambda$12/0x0001.apply",
                true,
            ),
            ("\tat sun.reflect.X.invoke0(Native Method)", "sun.reflect.X.invoke0", false),
            (
                "\tat org.apache.spark.A$$anonfun$1.apply(A.scala)",
                "org.apache.spark.A$$anonfun$1.apply (A.scala)",
                false,
            ),
        ] {
            assert_eq!(told(text), Some((frame.to_owned(), is_own)), "{text}");
        }
        for text in ["at the end.", "look at a.b(c)", "\tat", "at "] {
            assert_eq!(told(text), None, "{text}");
        }
        assert!(is_wrapped("\tat com.acme.Job.ma") && !is_wrapped("\tat com.acme.Job.main(Job.java:1)"));
        assert!(is_more("\t... 31 more") && !is_more("... and more"));
    }

    #[test]
    fn frames_of_python_are_read_without_folders() {
        let frame = python("  File \"/home/ann/job/shop.py\", line 17, in price").unwrap();
        assert_eq!((frame.to_string().as_str(), frame.is_own), ("price (shop.py:17)", true));
        let frame =
            python("  File \"/usr/lib/python3/pyspark.zip/pyspark/worker.py\", line 3, in main").unwrap();
        assert!(!frame.is_own);
        assert_eq!(python("  File \"<stdin>\", line 1").unwrap().method, "<module>");
        assert_eq!(python("File a.py, line 1"), None);
    }
}
