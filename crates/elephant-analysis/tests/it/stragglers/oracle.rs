//! Expected values of straggler analytics, computed by other tools.

use serde_json::Value;

/// One input with its expected results.
pub(super) struct Case {
    pub id: String,
    pub input: Value,
    pub expected: Value,
    tolerance: f64,
}

/// The cases of one category; empty if the material is missing.
pub(super) fn cases(category: &str) -> Vec<Case> {
    let Some(path) = elephant_testing::shared("oracle/stragglers.json") else { return Vec::new() };
    let text = std::fs::read_to_string(path).unwrap();
    let oracle: Value = serde_json::from_str(&text).unwrap();
    let cases: Vec<Case> = oracle["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["category"] == category)
        .map(|case| Case {
            id: case["id"].as_str().unwrap().to_owned(),
            input: case["input"].clone(),
            expected: case["expected"].clone(),
            tolerance: case["tol"].as_f64().unwrap_or(1e-9),
        })
        .collect();
    assert!(!cases.is_empty(), "no cases of {category}");
    cases
}

impl Case {
    /// Panics unless a number is as expected, within the case's tolerance (relative for numbers above one).
    pub(super) fn close(&self, what: &str, value: f64, expected: f64) {
        let allowed = self.tolerance * expected.abs().max(1.0);
        assert!((value - expected).abs() <= allowed, "{}, {what}: {value} is not {expected}", self.id);
    }

    /// Panics unless `expected[key]` is this value.
    pub(super) fn check(&self, key: &str, value: &Value) {
        assert_eq!(value, &self.expected[key], "{}, {key}", self.id);
    }

    /// Panics unless `expected[key]` is this number, or null for `None`. A key that the case lacks is not checked.
    pub(super) fn check_number(&self, key: &str, value: Option<f64>) {
        match (value, self.expected.get(key)) {
            (_, None) | (None, Some(Value::Null)) => {}
            (Some(value), Some(Value::Number(expected))) => {
                self.close(key, value, expected.as_f64().unwrap());
            }
            (value, Some(expected)) => panic!("{}, {key}: {value:?} is not {expected}", self.id),
        }
    }
}

/// An array of numbers.
pub(super) fn numbers(array: &Value) -> Vec<f64> {
    array.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// An array of numbers and nulls.
pub(super) fn optional_numbers(array: &Value) -> Vec<Option<f64>> {
    array.as_array().unwrap().iter().map(Value::as_f64).collect()
}
