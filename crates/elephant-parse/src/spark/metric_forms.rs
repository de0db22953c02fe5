//! Metrics of operators as they were written before: plans repeat a few hundred, in the same order, and only the ids of their
//! accumulators differ.

use rustc_hash::FxHashMap;

use super::strings::Local;
use crate::scan::Cursor;
use elephant_model::model::spark::SqlCounter;

/// What a metric says besides its accumulator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Naming {
    pub(super) name: Local,
    pub(super) kind: Local,
    pub(super) counter: Option<SqlCounter>,
}

/// How a metric is written before and after the id of its accumulator.
#[derive(Debug)]
struct Form {
    before: Box<[u8]>,
    after: Box<[u8]>,
    naming: Naming,
    /// The form that came next, the last time.
    next: usize,
}

/// The forms that are known.
#[derive(Debug, Default)]
pub(super) struct MetricForms {
    all: Vec<Form>,
    /// By name and kind.
    places: FxHashMap<(Local, Local), usize>,
    last: usize,
}

impl MetricForms {
    /// Reads a metric if it is the one that came next the last time; otherwise the cursor does not move.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Option<(Naming, u64)> {
        let next = self.all.get(self.last)?.next;
        let form = self.all.get(next)?;
        let mut ahead = *cursor;
        ahead.literal(&form.before).ok()?;
        let accumulator = u64::try_from(ahead.digits().ok()?).ok()?;
        ahead.literal(&form.after).ok()?;
        *cursor = ahead;
        self.last = next;
        Some((form.naming, accumulator))
    }

    /// Remembers a metric that was read in another way from `written`, and that it came after the one before it. It is
    /// known again only if Spark wrote it: with these members in this order, and names without escapes.
    pub(super) fn remember(&mut self, written: &[u8], naming: Naming, names: [&str; 2]) {
        let known = self.places.get(&(naming.name, naming.kind)).copied();
        let Some(place) = known.or_else(|| self.add(written, naming, names)) else { return };
        if let Some(last) = self.all.get_mut(self.last) {
            last.next = place;
        }
        self.last = place;
    }

    fn add(&mut self, written: &[u8], naming: Naming, [name, kind]: [&str; 2]) -> Option<usize> {
        let before = format!("{{\"name\":\"{name}\",\"accumulatorId\":");
        let after = format!(",\"metricType\":\"{kind}\"}}");
        let id = written.strip_prefix(before.as_bytes())?.strip_suffix(after.as_bytes())?;
        let is_number = !id.is_empty() && id.iter().all(u8::is_ascii_digit);
        if !is_number || [name, kind].iter().any(|text| text.contains(['"', '\\'])) {
            return None;
        }
        let place = self.all.len();
        let (before, after) = (before.into_bytes().into(), after.into_bytes().into());
        self.all.push(Form { before, after, naming, next: place });
        self.places.insert((naming.name, naming.kind), place);
        Some(place)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::super::strings::Strings;
    use super::*;
    use proptest::prelude::*;

    /// The metrics of a plan of one operator, read with what is known from before.
    fn metrics(plan: &str, strings: &mut Strings) -> Vec<(String, String, u64)> {
        let plan = plan::read(&mut Cursor::new(plan.as_bytes()), strings).unwrap();
        let text = |strings: &Strings, local| strings.get(local).to_owned();
        plan.metrics
            .iter()
            .map(|metric| (text(strings, metric.name), text(strings, metric.kind), metric.accumulator))
            .collect()
    }

    proptest! {
        /// What was read before changes nothing.
        #[test]
        fn metrics_are_read_as_without_a_memory(
            plans in prop::collection::vec(
                prop::collection::vec(("[a-c\\\\\"ü]{0,3}", prop::sample::select(vec!["sum", "size"]), any::<u32>(), 0..4), 0..6),
                1..6,
            ),
        ) {
            let mut remembering = Strings::default();
            for metrics_of_plan in plans {
                let written: Vec<String> = metrics_of_plan
                    .iter()
                    .map(|(name, kind, id, spelling)| {
                        let (name, kind) = (serde_json::to_string(name).unwrap(), serde_json::to_string(kind).unwrap());
                        match spelling {
                            0 => format!("{{\"name\":{name}, \"accumulatorId\":{id},\"metricType\":{kind}}}"),
                            1 => format!("{{\"accumulatorId\":{id},\"name\":{name},\"metricType\":{kind}}}"),
                            2 => format!("{{\"name\":{name},\"accumulatorId\":{id},\"metricType\":{kind},\"x\":1}}"),
                            _ => format!("{{\"name\":{name},\"accumulatorId\":{id},\"metricType\":{kind}}}"),
                        }
                    })
                    .collect();
                let plan = format!("{{\"nodeName\":\"Scan\",\"metrics\":[{}]}}", written.join(","));
                let found = metrics(&plan, &mut remembering);
                prop_assert_eq!(&found, &metrics(&plan, &mut Strings::default()));
                let expected: Vec<(String, String, u64)> = metrics_of_plan
                    .iter()
                    .map(|(name, kind, id, _)| (name.clone(), (*kind).to_owned(), u64::from(*id)))
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
