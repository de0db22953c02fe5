//! The id of a stage attempt, from the two numbers that events hold.

use elephant_model::model::spark::StageAttempt;

/// `None` if a number is missing or impossible.
pub(super) fn stage_attempt(stage: Option<i64>, attempt: Option<i64>) -> Option<StageAttempt> {
    let number = |value: i64| u32::try_from(value).ok();
    // Spark 1.0 and older do not number stage attempts.
    Some(StageAttempt { stage: number(stage?)?, attempt: number(attempt.unwrap_or_default())? })
}
