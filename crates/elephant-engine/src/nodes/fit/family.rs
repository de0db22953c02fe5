//! The families of distributions fitted to a node's normalised task durations.

/// A family of distributions: the nine of S1 (section III C), plus the logistic for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Normal.
    Normal,
    /// Exponential with a threshold.
    Exponential2,
    /// Smallest extreme value: Gumbel's distribution of minima.
    SmallestExtremeValue,
    /// Largest extreme value: Gumbel's distribution of maxima.
    LargestExtremeValue,
    /// Loglogistic without a threshold, which needs values above 0.
    Loglogistic,
    /// Lognormal with a threshold.
    Lognormal3,
    /// Weibull with a threshold.
    Weibull3,
    /// Gamma with a threshold.
    Gamma3,
    /// Loglogistic with a threshold.
    Loglogistic3,
    /// Logistic. Reported, but never the best fit, because S1 does not have it.
    Logistic,
}

impl Family {
    /// All families, in the order of tables; ties are resolved in this order.
    pub const ALL: [Self; 10] = [
        Self::Normal,
        Self::Exponential2,
        Self::SmallestExtremeValue,
        Self::LargestExtremeValue,
        Self::Loglogistic,
        Self::Lognormal3,
        Self::Weibull3,
        Self::Gamma3,
        Self::Loglogistic3,
        Self::Logistic,
    ];

    /// The name in reports.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Exponential2 => "exponential2",
            Self::SmallestExtremeValue => "sev",
            Self::LargestExtremeValue => "lev",
            Self::Loglogistic => "loglogistic",
            Self::Lognormal3 => "lognormal3",
            Self::Weibull3 => "weibull3",
            Self::Gamma3 => "gamma3",
            Self::Loglogistic3 => "loglogistic3",
            Self::Logistic => "logistic",
        }
    }

    /// The number of fitted parameters.
    #[must_use]
    pub(crate) const fn parameters(self) -> u32 {
        match self {
            Self::Lognormal3 | Self::Weibull3 | Self::Gamma3 | Self::Loglogistic3 => 3,
            _ => 2,
        }
    }

    /// Whether it can be the best fit.
    #[must_use]
    pub(crate) const fn is_candidate(self) -> bool {
        !matches!(self, Self::Logistic)
    }
}
