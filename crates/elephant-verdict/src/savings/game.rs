//! How a joint saving is shared out, as savings overlap: the Shapley value of cooperative games.

/// The Shapley value of each player: what it adds on average over all orders in which players may come. `value` returns
/// what a set of players achieves; bit `i` of the set is player `i`. The results add up to the value of all players
/// minus the value of the empty set.
#[must_use]
pub(super) fn shapley(players: u32, value: impl Fn(u32) -> f64) -> Vec<f64> {
    let count = 1_u32.checked_shl(players).unwrap_or(0);
    let values: Vec<f64> = (0..count).map(value).collect();
    let of = |set: u32| values.get(set as usize).copied().unwrap_or_default();
    let weights = weights(players);
    let weight = |set: u32| weights.get(set.count_ones() as usize).copied().unwrap_or_default();
    let player = |player: u32| {
        let own = 1 << player;
        let without = (0..count).filter(|set| set & own == 0);
        without.map(|set| weight(set) * (of(set | own) - of(set))).sum()
    };
    (0..players).map(player).collect()
}

/// The share of orders in which exactly a given set of `size` comes before a given player.
fn weights(players: u32) -> Vec<f64> {
    let mut weights = Vec::with_capacity(players as usize);
    // 1/n, and then s! (n-s-1)! / n!
    let mut weight = 1.0 / f64::from(players.max(1));
    for size in 0..players {
        weights.push(weight);
        weight *= f64::from(size + 1) / f64::from((players - size).saturating_sub(1).max(1));
    }
    weights
}

/// The same shares with negative ones set to zero. The others shrink, so that the sum stays the same; it becomes zero
/// if it is negative.
#[must_use]
pub(super) fn levelled(shares: &[f64]) -> Vec<f64> {
    let joint = shares.iter().sum::<f64>().max(0.0);
    let positive: f64 = shares.iter().map(|share| share.max(0.0)).sum();
    let scale = if positive > 0.0 { joint / positive } else { 0.0 };
    // If no share is negative, keep the shares exactly: scaling would round them.
    let scale = if shares.iter().all(|share| *share >= 0.0) { 1.0 } else { scale };
    shares.iter().map(|share| share.max(0.0) * scale).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The mean of what each player adds over all orders of players, one after the other.
    fn by_orders(players: u32, value: &dyn Fn(u32) -> f64) -> Vec<f64> {
        fn orders(left: &[u32]) -> Vec<Vec<u32>> {
            if left.is_empty() {
                return vec![Vec::new()];
            }
            let with = |first: &u32| {
                let rest: Vec<u32> = left.iter().copied().filter(|other| other != first).collect();
                orders(&rest).into_iter().map(|order| [vec![*first], order].concat()).collect::<Vec<_>>()
            };
            left.iter().flat_map(with).collect()
        }
        let all = orders(&(0..players).collect::<Vec<_>>());
        let mut shares = vec![0.0; players as usize];
        for order in &all {
            let mut set = 0;
            for player in order {
                shares[*player as usize] += value(set | 1 << player) - value(set);
                set |= 1 << player;
            }
        }
        shares.iter().map(|share| share / all.len() as f64).collect()
    }

    fn is_close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9 * (1.0 + one.abs())
    }

    #[test]
    fn the_shares_of_a_game_computed_by_hand() {
        // A saves 6, B saves 12, C nothing alone; A and B together 14; C adds 3 where A is.
        let value = |set: u32| match set {
            0b001 => 6.0,
            0b010 | 0b110 => 12.0,
            0b011 => 14.0,
            0b101 => 9.0,
            0b111 => 17.0,
            _ => 0.0,
        };
        // In the orders ABC, ACB, BAC, BCA, CAB and CBA, A adds 6, 6, 2, 5, 9 and 5, B 8, 8, 12, 12, 8 and 12, and C 3, 3,
        // 3 and nothing.
        let shares = shapley(3, value);
        let expected = [33.0 / 6.0, 60.0 / 6.0, 9.0 / 6.0];
        for (share, expected) in shares.iter().zip(expected) {
            assert!(is_close(*share, expected), "{shares:?}");
        }
        assert!(is_close(shares.iter().sum(), 17.0));
        assert!(shapley(0, |_| 0.0).is_empty());
        assert_eq!(shapley(1, |set| f64::from(set) * 5.0), [5.0]);
    }

    #[test]
    fn negative_shares_are_taken_from_the_others() {
        assert_eq!(levelled(&[6.0, -2.0, 2.0]), [4.5, 0.0, 1.5]);
        assert_eq!(levelled(&[1.0, -3.0]), [0.0, 0.0]);
        assert_eq!(levelled(&[0.1, 0.2]), [0.1, 0.2]);
        assert!(levelled(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn shares_are_means_over_all_orders(
            players in 1..=5_u32,
            values in prop::collection::vec(-100.0..1000.0_f64, 32),
        ) {
            let value = |set: u32| if set == 0 { 0.0 } else { values[set as usize] };
            let shares = shapley(players, value);
            for (one, other) in shares.iter().zip(by_orders(players, &value)) {
                prop_assert!(is_close(*one, other), "{shares:?}");
            }
            let joint = value((1 << players) - 1);
            prop_assert!((shares.iter().sum::<f64>() - joint).abs() < 1e-6);
            let level = levelled(&shares);
            prop_assert!(level.iter().all(|share| *share >= 0.0));
            prop_assert!((level.iter().sum::<f64>() - joint.max(0.0)).abs() < 1e-6);
        }

        #[test]
        fn a_player_without_effect_gets_nothing_and_equal_players_get_the_same(
            values in prop::collection::vec(0.0..1000.0_f64, 16),
            idle in 0..5_u32,
        ) {
            // The others are numbered as if the idle player were not there.
            let others = |set: u32| (set & ((1 << idle) - 1)) | (set >> (idle + 1) << idle);
            let shares = shapley(5, |set| if others(set) == 0 { 0.0 } else { values[others(set) as usize] });
            prop_assert!(shares[idle as usize].abs() < 1e-12);
            prop_assert!(levelled(&shares)[idle as usize].abs() < 1e-12);
            let by_size = shapley(5, |set| f64::from(set.count_ones()).sqrt() * values[0]);
            prop_assert!(by_size.iter().all(|share| is_close(*share, by_size[0])));
        }

        #[test]
        fn the_order_of_players_does_not_matter(
            players in 2..=5_u32,
            values in prop::collection::vec(-10.0..1000.0_f64, 32),
            by in 1..5_u32,
        ) {
            let value = |set: u32| if set == 0 { 0.0 } else { values[set as usize] };
            let moved = |player: u32| (player + by) % players;
            let back = |set: u32| {
                (0..players).filter(|player| set >> moved(*player) & 1 == 1).map(|player| 1 << player).sum()
            };
            let (one, other) = (shapley(players, value), shapley(players, |set| value(back(set))));
            for player in 0..players {
                prop_assert!((one[player as usize] - other[moved(player) as usize]).abs() < 1e-6);
            }
        }
    }
}
