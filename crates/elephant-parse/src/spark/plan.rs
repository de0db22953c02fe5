//! Physical plans of SQL executions (`SparkPlanInfo`).

use super::event::MAX_LISTED;
use super::metric_forms::Naming;
use super::strings::{Local, Strings};
use crate::reading::truncate;
use crate::scan::{Cursor, Scan};
use elephant_model::model::spark::{OperatorKind, PlanText, SqlCounter};

/// Maximum length of a text of an operator. Those of real plans have up to 1,700 bytes, schemas more.
const MAX_TEXT_LEN: usize = 4 << 10;

/// Maximum depth of a plan: its longest chain of operators. Catalyst itself fails on some thousands.
const MAX_DEPTH: usize = 10_000;

/// Ends a text that was truncated.
const CUT: &str = "…";

/// A plan: parents before children.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) operators: Vec<Operator>,
    pub(super) metrics: Vec<Metric>,
    pub(super) facts: Vec<Fact>,
    pub(super) texts: String,
}

#[derive(Debug)]
pub(super) struct Operator {
    pub(super) name: Option<Local>,
    pub(super) kind: OperatorKind,
    pub(super) parent: Option<u32>,
    pub(super) text: PlanText,
}

#[derive(Debug)]
pub(super) struct Metric {
    pub(super) operator: u32,
    pub(super) name: Local,
    pub(super) kind: Local,
    pub(super) counter: Option<SqlCounter>,
    pub(super) accumulator: u64,
}

#[derive(Debug)]
pub(super) struct Fact {
    pub(super) operator: u32,
    pub(super) key: Local,
    pub(super) value: PlanText,
}

/// Reads a plan; skips any other value.
pub(super) fn read(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Plan> {
    let mut reader = Reader { strings, plan: Plan::default(), open: Vec::new() };
    reader.operators(cursor)?;
    let mut plan = reader.plan;
    plan.metrics.sort_by_key(|metric| metric.operator);
    plan.facts.sort_by_key(|fact| fact.operator);
    Ok(plan)
}

/// Reads metrics that belong to no operator of the plan, as those of an operator without a name.
pub(super) fn read_metrics(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Plan> {
    let mut reader = Reader { strings, plan: Plan::default(), open: Vec::new() };
    let operator = reader.push(None);
    reader.metrics(cursor, operator)?;
    Ok(reader.plan)
}

struct Reader<'s> {
    strings: &'s mut Strings,
    plan: Plan,
    /// The operators that are being read, from the topmost. A list, because plans nest deeper than a stack allows.
    open: Vec<u32>,
}

impl Reader<'_> {
    fn operators(&mut self, cursor: &mut Cursor<'_>) -> Scan<()> {
        if !self.begin(cursor)? {
            return Ok(());
        }
        while let Some(&operator) = self.open.last() {
            if self.member(cursor, operator)? {
                continue;
            }
            while !cursor.take(b',') {
                cursor.expect(b'}')?;
                self.open.pop();
                if self.open.is_empty() {
                    return Ok(());
                }
                if self.next_child(cursor)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Begins an operator; skips any other value and an operator without members. Returns whether one began.
    fn begin(&mut self, cursor: &mut Cursor<'_>) -> Scan<bool> {
        if self.open.len() >= MAX_DEPTH || !cursor.take(b'{') {
            return cursor.skip_value().map(|()| false);
        }
        let operator = self.push(self.open.last().copied());
        let begins = !cursor.take(b'}');
        if begins {
            self.open.push(operator);
        }
        Ok(begins)
    }

    /// Moves past the end of a child; returns whether another one began.
    fn next_child(&mut self, cursor: &mut Cursor<'_>) -> Scan<bool> {
        while cursor.take(b',') {
            if self.begin(cursor)? {
                return Ok(true);
            }
        }
        cursor.expect(b']').map(|()| false)
    }

    /// Reads a member of an operator; returns whether a child began in it.
    fn member(&mut self, cursor: &mut Cursor<'_>, operator: u32) -> Scan<bool> {
        const KEYS: [&[u8]; 5] =
            [b"\"nodeName\":", b"\"simpleString\":", b"\"children\":", b"\"metadata\":", b"\"metrics\":"];
        match cursor.key_among(&KEYS)? {
            Some(0) => self.name(cursor, operator)?,
            Some(1) => {
                let text = self.text(cursor)?;
                if let Some(operator) = self.at(operator) {
                    operator.text = text;
                }
            }
            Some(2) if cursor.take(b'[') => {
                if cursor.take(b']') {
                    return Ok(false);
                }
                return if self.begin(cursor)? { Ok(true) } else { self.next_child(cursor) };
            }
            Some(3) => self.facts(cursor, operator)?,
            Some(4) => self.metrics(cursor, operator)?,
            _ => cursor.skip_value()?,
        }
        Ok(false)
    }

    fn name(&mut self, cursor: &mut Cursor<'_>, operator: u32) -> Scan<()> {
        let Some(name) = cursor.string_or_skip()? else { return Ok(()) };
        let name = self.strings.intern(truncate(name.text().trim(), MAX_TEXT_LEN));
        let kind = name.map_or(OperatorKind::Other, |name| self.strings.operator_kind(name));
        if let Some(operator) = self.at(operator) {
            operator.name = name;
            operator.kind = kind;
        }
        Ok(())
    }

    /// Keeps a text, truncated; skips any other value.
    fn text(&mut self, cursor: &mut Cursor<'_>) -> Scan<PlanText> {
        let Some(text) = cursor.string_or_skip()? else { return Ok(PlanText::default()) };
        let (text, texts) = (text.text(), &mut self.plan.texts);
        let start = texts.len();
        let kept = truncate(&text, MAX_TEXT_LEN);
        texts.push_str(kept);
        if kept.len() < text.len() {
            texts.push_str(CUT);
        }
        let range = u32::try_from(start).ok().zip(u32::try_from(texts.len()).ok());
        Ok(range.map_or_else(PlanText::default, |(start, end)| PlanText { start, end }))
    }

    fn facts(&mut self, cursor: &mut Cursor<'_>, operator: u32) -> Scan<()> {
        cursor.each_member(|key, cursor| {
            let value = self.text(cursor)?;
            if let Some(key) = self.strings.intern(truncate(&key.text(), MAX_TEXT_LEN))
                && self.plan.facts.len() <= MAX_LISTED
            {
                self.plan.facts.push(Fact { operator, key, value });
            }
            Ok(())
        })
    }

    fn metrics(&mut self, cursor: &mut Cursor<'_>, operator: u32) -> Scan<()> {
        let Self { strings, plan, .. } = self;
        cursor.elements(|cursor| metric(cursor, strings, operator, &mut plan.metrics))
    }

    fn at(&mut self, operator: u32) -> Option<&mut Operator> {
        self.plan.operators.get_mut(usize::try_from(operator).ok()?)
    }

    /// Adds an operator, up to one too many.
    fn push(&mut self, parent: Option<u32>) -> u32 {
        let operators = &mut self.plan.operators;
        let place = u32::try_from(operators.len()).unwrap_or(u32::MAX);
        if operators.len() <= MAX_LISTED {
            let name = self.strings.intern("");
            operators.push(Operator { name, kind: OperatorKind::Other, parent, text: PlanText::default() });
        }
        place
    }
}

fn metric(
    cursor: &mut Cursor<'_>,
    strings: &mut Strings,
    operator: u32,
    metrics: &mut Vec<Metric>,
) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"name\":", b"\"accumulatorId\":", b"\"metricType\":"];
    if let Some((naming, accumulator)) = strings.forms.read(cursor) {
        push_metric(metrics, operator, naming, accumulator);
        return Ok(());
    }
    let start = cursor.rest();
    let (mut name, mut accumulator, mut kind) = (None, None, None);
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => name = strings.read(cursor)?,
            1 => accumulator = cursor.integer_or_skip()?,
            _ => kind = strings.read(cursor)?,
        }
        Ok(())
    })?;
    let accumulator = accumulator.and_then(|id| u64::try_from(id).ok());
    if let (Some(name), Some(kind), Some(accumulator)) = (name, kind, accumulator) {
        let naming = Naming { name, kind, counter: strings.sql_counter(name) };
        let written = start.get(..start.len().saturating_sub(cursor.rest().len())).unwrap_or_default();
        strings.remember_metric(written, naming);
        push_metric(metrics, operator, naming, accumulator);
    }
    Ok(())
}

fn push_metric(metrics: &mut Vec<Metric>, operator: u32, naming: Naming, accumulator: u64) {
    let Naming { name, kind, counter } = naming;
    if metrics.len() <= MAX_LISTED {
        metrics.push(Metric { operator, name, kind, counter, accumulator });
    }
}
