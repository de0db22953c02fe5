//! The characters that the user's terminal can show.

/// Whether the locale allows only ASCII. The first of these variables that is set decides, as for every program; without
/// any of them we expect a terminal with Unicode, which containers often have without saying so.
pub(super) fn is_ascii() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = set.into_iter().find(|value| !value.is_empty());
    locale.is_some_and(|locale| is_ascii_locale(&locale.to_string_lossy()))
}

fn is_ascii_locale(locale: &str) -> bool {
    let charset = locale.split_once('.').map(|(_, charset)| charset.split('@').next().unwrap_or(charset));
    match charset {
        Some(charset) => !charset.replace('-', "").eq_ignore_ascii_case("utf8"),
        None => ["C", "POSIX"].contains(&locale),
    }
}

#[cfg(test)]
mod tests {
    use super::is_ascii_locale;

    #[test]
    fn only_utf_8_has_more_than_ascii() {
        for ascii in ["C", "POSIX", "en_US.ISO-8859-1", "de_DE.ISO-8859-15@euro"] {
            assert!(is_ascii_locale(ascii), "{ascii}");
        }
        for unicode in ["C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro", "de_DE"] {
            assert!(!is_ascii_locale(unicode), "{unicode}");
        }
    }
}
