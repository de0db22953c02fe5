//! Which containers copies may use (S0 section 7.1).

use std::fmt;

use serde::Deserialize;

/// How containers are divided between original attempts and copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Written")]
pub enum Policy {
    /// This percentage of the containers runs original attempts, the rest waits for copies. At 100, copies run
    /// when no task waits.
    Reserve(u8),
    /// Copies and original attempts share all containers; copies go first.
    Shared,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Percent(u8),
    Word(String),
}

impl TryFrom<Written> for Policy {
    type Error = String;
    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Percent(percent) => Self::of_percent(percent),
            Written::Word(word) => Self::parse(&word),
        }
    }
}

impl Policy {
    fn of_percent(percent: u8) -> Result<Self, String> {
        if (1..=100).contains(&percent) {
            Ok(Self::Reserve(percent))
        } else {
            Err(format!("a policy is a percentage from 1 to 100, or \"shared\", not {percent}"))
        }
    }

    /// Reads `90` or `shared`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("shared") {
            return Ok(Self::Shared);
        }
        let wrong = |_| format!("a policy is a percentage from 1 to 100, or \"shared\", not \"{text}\"");
        text.parse().map_err(wrong).and_then(Self::of_percent)
    }

    /// The containers kept for copies on each node, as evenly as possible: `nodes` nodes with `containers`
    /// each. If they do not divide evenly, the nodes with one more are evenly spaced.
    pub(crate) fn reserved(self, nodes: usize, containers: usize) -> Vec<usize> {
        let share = match self {
            Self::Reserve(percent) => u64::from(100_u8.saturating_sub(percent)),
            Self::Shared => 0,
        };
        let all = (nodes as u64).saturating_mul(containers as u64).saturating_mul(share);
        // Rounded to whole containers.
        let all = (all + 50) / 100;
        let up_to =
            |node: usize| usize::try_from(all * node as u64 / nodes.max(1) as u64).unwrap_or(usize::MAX);
        (0..nodes).map(|node| up_to(node + 1) - up_to(node)).collect()
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserve(percent) => write!(formatter, "{percent}"),
            Self::Shared => formatter.write_str("shared"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_reserved_evenly() {
        let reserved = |percent| Policy::Reserve(percent).reserved(20, 8);
        assert_eq!(reserved(50), [4; 20]);
        assert_eq!(reserved(100), [0; 20]);
        assert_eq!(reserved(95).iter().sum::<usize>(), 8);
        assert!(reserved(95).iter().all(|&count| count <= 1));
        // The reserve is spread over the groups of nodes, which are contiguous.
        assert_eq!(reserved(95).chunks(5).map(|part| part.iter().sum()).collect::<Vec<usize>>(), [2; 4]);
        assert_eq!(Policy::Shared.reserved(3, 8), [0; 3]);
    }

    #[test]
    fn policies_are_percentages_or_a_word() {
        assert_eq!(Policy::parse("90"), Ok(Policy::Reserve(90)));
        assert_eq!(Policy::parse("Shared"), Ok(Policy::Shared));
        for bad in ["0", "101", "-5", "x", ""] {
            assert!(Policy::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Policy::Shared.to_string(), "shared");
    }
}
