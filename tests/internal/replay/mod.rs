//! Replays of recorded applications.

mod spark;
