//! The closing line of `cargo test`.

use elephant_testing::skipped::summary;

#[test]
fn skipped_tests_are_counted_per_run_and_reason() {
    let noted =
        "7\tno Chromium\ta\n7\tno Chromium\tb\n6\tno Chromium\tc\n7\tno material\tb\n7\tno material\tb\n";
    assert_eq!(summary(noted, 7), "2 tests skipped: no Chromium (2), no material (1)");
    assert_eq!(summary(noted, 6), "1 test skipped: no Chromium (1)");
    assert_eq!(summary(noted, 5), "0 tests skipped");
}
