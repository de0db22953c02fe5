//! Places the boxes of a tree in rows and columns, one row for each level, so that no two boxes overlap and no line
//! crosses another one.
//!
//! A box stands above its first child, so that the main line of a plan is a straight one, and the root stands at the top
//! left, where a reader starts. Further children stand to the right, as close as what is below them allows.

/// Where a box is: its level from the top, and its column from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spot {
    pub(super) level: usize,
    pub(super) column: usize,
}

/// A part of the tree that is placed: its first and last column on each level, from the level of its top on.
struct Outline {
    level: usize,
    columns: Vec<Option<(usize, usize)>>,
}

/// Places a forest. `parents` has the place of the parent of each box, which comes before it. `links` are further lines,
/// from a box to another one above it; boxes move down until all lines lead upwards, unless the links form a circle.
pub(super) fn place(parents: &[Option<usize>], links: &[(usize, usize)]) -> Vec<Spot> {
    let levels = levels(parents, links);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut roots = Vec::new();
    for (place, parent) in parents.iter().enumerate() {
        match parent.filter(|parent| *parent < place).and_then(|parent| children.get_mut(parent)) {
            Some(of_parent) => of_parent.push(place),
            None => roots.push(place),
        }
    }
    let mut shifts = vec![0; parents.len()];
    let mut outlines: Vec<Option<Outline>> = parents.iter().map(|_| None).collect();
    // Children come after their parents.
    for (place, children) in children.iter().enumerate().rev() {
        let level = levels.get(place).copied().unwrap_or_default();
        let mut own = side_by_side(children, &mut outlines, &mut shifts);
        own.cover(level, level, (0, 0));
        // The line to a child that was moved down passes the levels between.
        for &child in children {
            let column = shifts.get(child).copied().unwrap_or_default();
            let end = levels.get(child).copied().unwrap_or_default();
            own.cover(level + 1, end.saturating_sub(1), (column, column));
        }
        if let Some(slot) = outlines.get_mut(place) {
            *slot = Some(own);
        }
    }
    side_by_side(&roots, &mut outlines, &mut shifts);
    let mut spots: Vec<Spot> = Vec::with_capacity(parents.len());
    for (place, parent) in parents.iter().enumerate() {
        let above = parent.filter(|parent| *parent < place).and_then(|parent| spots.get(parent));
        let start = above.map_or(0, |above| above.column);
        let column = start + shifts.get(place).copied().unwrap_or_default();
        spots.push(Spot { level: levels.get(place).copied().unwrap_or_default(), column });
    }
    spots
}

/// The level of each box: one below the lowest of those that its lines lead to.
fn levels(parents: &[Option<usize>], links: &[(usize, usize)]) -> Vec<usize> {
    let plain = with_links(parents, &[]).unwrap_or_default();
    with_links(parents, links).unwrap_or(plain)
}

/// `None` if the links form a circle.
fn with_links(parents: &[Option<usize>], links: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut levels = vec![0; parents.len()];
    // Without a circle, each round completes at least one link, and all that hangs on it.
    for _ in 0..=links.len() {
        let before = levels.clone();
        for (place, parent) in parents.iter().enumerate() {
            let above = parent.filter(|parent| *parent < place);
            lower(&mut levels, place, above);
        }
        for &(from, to) in links {
            lower(&mut levels, from, Some(to).filter(|to| *to != from));
        }
        if levels == before {
            return Some(levels);
        }
    }
    // The last round may have completed the last link.
    let is_done = parents.iter().enumerate().all(|(place, parent)| {
        parent.filter(|parent| *parent < place).is_none_or(|parent| levels.get(parent) < levels.get(place))
    });
    let leads_up = |&(from, to): &(usize, usize)| from == to || levels.get(to) < levels.get(from);
    (is_done && links.iter().all(leads_up)).then_some(levels)
}

/// Moves a box below another one.
fn lower(levels: &mut [usize], place: usize, above: Option<usize>) {
    let least = above.and_then(|above| levels.get(above)).map(|level| level + 1);
    if let (Some(least), Some(level)) = (least, levels.get_mut(place)) {
        *level = least.max(*level);
    }
}

/// Puts parts of the tree next to each other, and notes how far each moves to the right.
fn side_by_side(parts: &[usize], outlines: &mut [Option<Outline>], shifts: &mut [usize]) -> Outline {
    let mut all: Option<Outline> = None;
    for &part in parts {
        let Some(outline) = outlines.get_mut(part).and_then(Option::take) else { continue };
        let Some(left) = &mut all else {
            all = Some(outline);
            continue;
        };
        let shift = left.room_for(&outline);
        if let Some(slot) = shifts.get_mut(part) {
            *slot = shift;
        }
        left.add(&outline, shift);
    }
    all.unwrap_or(Outline { level: 0, columns: Vec::new() })
}

impl Outline {
    fn at(&self, level: usize) -> Option<(usize, usize)> {
        self.columns.get(level.checked_sub(self.level)?).copied().flatten()
    }

    /// How far another part must move to the right so as to stand next to this one on all levels. Its line to the parent
    /// leaves to the left above its top, so nothing of this one may stand further right there either.
    fn room_for(&self, other: &Self) -> usize {
        let levels = other.level..other.level + other.columns.len();
        let needed = levels.filter_map(|level| {
            let ((_, right), (left, _)) = (self.at(level)?, other.at(level)?);
            Some((right + 1).saturating_sub(left))
        });
        needed.max().unwrap_or(0).max(1)
    }

    fn add(&mut self, other: &Self, shift: usize) {
        for (level, columns) in (other.level..).zip(&other.columns) {
            if let Some((first, last)) = *columns {
                self.cover(level, level, (first + shift, last + shift));
            }
        }
    }

    /// Adds these columns on some levels.
    fn cover(&mut self, from: usize, to: usize, (first, last): (usize, usize)) {
        for level in from..=to {
            if self.columns.is_empty() {
                self.level = level;
            }
            if level < self.level {
                let missing = self.level - level;
                self.columns.splice(0..0, std::iter::repeat_n(None, missing));
                self.level = level;
            }
            let place = level - self.level;
            if place >= self.columns.len() {
                self.columns.resize(place + 1, None);
            }
            if let Some(slot) = self.columns.get_mut(place) {
                *slot = Some(slot.map_or((first, last), |(one, other)| (one.min(first), other.max(last))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn spots(parents: &[Option<usize>], links: &[(usize, usize)]) -> Vec<(usize, usize)> {
        place(parents, links).into_iter().map(|spot| (spot.level, spot.column)).collect()
    }

    #[test]
    fn a_chain_is_one_column() {
        assert_eq!(spots(&[None, Some(0), Some(1)], &[]), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(spots(&[], &[]), []);
    }

    #[test]
    fn second_children_stand_beside_the_main_line() {
        // A join of a scan and of a join of two scans.
        let parents = [None, Some(0), Some(1), Some(1), Some(0), Some(4)];
        assert_eq!(spots(&parents, &[]), [(0, 0), (1, 0), (2, 0), (2, 1), (1, 2), (2, 2)]);
    }

    #[test]
    fn parts_use_the_room_above_others() {
        // The right part is short, so it stands close although the left one is wide further down.
        let parents = [None, Some(0), Some(1), Some(2), Some(2), Some(2), Some(0)];
        assert_eq!(spots(&parents, &[]), [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (1, 1)]);
    }

    #[test]
    fn a_box_stands_below_all_that_use_it() {
        // 1 feeds 0, and again 3, which stands two levels lower.
        let parents = [None, Some(0), Some(0), Some(2)];
        assert_eq!(spots(&parents, &[(1, 3)]), [(0, 0), (3, 0), (1, 1), (2, 1)]);
    }

    #[test]
    fn a_circle_of_links_changes_nothing() {
        let parents = [None, Some(0), Some(1), Some(0), Some(3)];
        let plain = spots(&parents, &[]);
        assert_eq!(spots(&parents, &[(1, 4), (3, 2)]), plain);
        assert_eq!(spots(&parents, &[(1, 1), (0, 2)]), plain);
    }

    #[test]
    fn several_roots_stand_next_to_each_other() {
        assert_eq!(spots(&[None, Some(0), None, Some(9)], &[]), [(0, 0), (1, 0), (0, 1), (0, 2)]);
    }

    fn forest() -> impl Strategy<Value = Vec<Option<usize>>> {
        prop::collection::vec(any::<(bool, prop::sample::Index)>(), 0..60).prop_map(|choices| {
            let of = |(place, (is_root, index)): (usize, (bool, prop::sample::Index))| {
                (place > 0 && !(is_root && place % 7 == 0)).then(|| index.index(place))
            };
            choices.into_iter().enumerate().map(of).collect()
        })
    }

    proptest! {
        #[test]
        fn no_two_boxes_share_a_spot_and_children_stand_below(
            parents in forest(),
            links in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..5),
        ) {
            let count = parents.len();
            let links: Vec<(usize, usize)> = if count == 0 { Vec::new() } else {
                links.iter().map(|(from, to)| (from.index(count), to.index(count))).collect()
            };
            let spots = place(&parents, &links);
            let all: BTreeSet<(usize, usize)> = spots.iter().map(|spot| (spot.level, spot.column)).collect();
            prop_assert_eq!(all.len(), count);
            for (place, parent) in parents.iter().enumerate() {
                let Some(parent) = *parent else { continue };
                prop_assert!(spots[parent].level < spots[place].level);
                prop_assert!(spots[parent].column <= spots[place].column);
            }
            // No wider than the tree has boxes.
            prop_assert!(spots.iter().all(|spot| spot.column < count && spot.level < count));
        }
    }
}
