//! Texts of `application/x-www-form-urlencoded`, as Hive writes queries into settings.

/// The text that was encoded. What is not encoded well stands for itself.
#[must_use]
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|code| *first == b'%' && code.iter().all(u8::is_ascii_hexdigit));
        let byte = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        if let Some(byte) = byte {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(if *first == b'+' { b' ' } else { *first });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn what_is_not_encoded_stays() {
        for (text, expected) in [
            ("select+a%2C+b%0Afrom+t", "select a, b\nfrom t"),
            ("100 % 7", "100 % 7"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz+%C3%A9", "%zz é"),
            ("%ff", "\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(decoded(text), expected, "{text:?}");
        }
    }
}
