//! The tables of `sysstat`. `sar` and `sadf` print them in different layouts with the same columns (sar(1)).

use super::NodeMetric;
use super::recorder::Reading;

/// A table of a known or unknown kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) kind: Kind,
    columns: usize,
}

/// The kind of a table, with the indices of the columns used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `sar -u`: the processors.
    Cpu { cpu: usize, iowait: Option<usize>, steal: Option<usize>, idle: usize },
    /// `sar -d`: the block devices.
    Disk { device: usize, util: usize },
    /// `sar -n TCP`.
    Tcp { sent: usize },
    /// `sar -n ETCP`.
    TcpErrors { resent: usize },
    /// Anything else.
    Other,
}

impl Table {
    pub(super) fn of(names: &[&str]) -> Self {
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let kind = if let (Some(cpu), Some(idle)) = (place("CPU"), place("%idle")) {
            Kind::Cpu { cpu, iowait: place("%iowait"), steal: place("%steal"), idle }
        } else if let (Some(device), Some(util)) = (place("DEV"), place("%util")) {
            Kind::Disk { device, util }
        } else if let Some(sent) = place("oseg/s") {
            Kind::Tcp { sent }
        } else if let Some(resent) = place("retrans/s") {
            Kind::TcpErrors { resent }
        } else {
            Kind::Other
        };
        Self { kind, columns: names.len() }
    }

    /// The reading of a row; `None` if it is about a single processor, or a device that is not a disk.
    ///
    /// # Errors
    /// The row does not have the table's columns, or a value is not a number.
    pub(super) fn read(&self, fields: &[&str]) -> Result<Option<Reading>, Damaged> {
        if self.kind == Kind::Other {
            return Ok(None);
        }
        if fields.len() != self.columns {
            return Err(Damaged);
        }
        let field = |place: usize| fields.get(place).copied().unwrap_or_default();
        let value = |place: usize| number(field(place)).ok_or(Damaged);
        let optional = |place: Option<usize>| place.map_or(Ok(0.0), value);
        let reading = match self.kind {
            // `sar` writes "all", `sadf` "-1".
            Kind::Cpu { cpu, .. } if !matches!(field(cpu), "all" | "-1") => return Ok(None),
            Kind::Cpu { iowait, steal, idle, .. } => {
                // As in tsar (info.md, "cpu"): util = 1 - idle - iowait - steal.
                let unused = value(idle)? + optional(iowait)? + optional(steal)?;
                // Each value is rounded, so the sum may exceed 100.
                Reading::Metric(NodeMetric::CpuUtil, (100.0 - unused).max(0.0))
            }
            Kind::Disk { device, .. } if !is_disk(field(device)) => return Ok(None),
            Kind::Disk { util, .. } => Reading::Metric(NodeMetric::DiskUtil, value(util)?),
            Kind::Tcp { sent } => Reading::SegmentsSent(value(sent)?),
            Kind::TcpErrors { resent } => Reading::SegmentsResent(value(resent)?),
            Kind::Other => return Ok(None),
        };
        Ok(Some(reading))
    }
}

/// The row cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

/// Parses a number; some locales use a decimal comma.
fn number(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok().or_else(|| text.replace(',', ".").parse().ok())?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Whether a block device is a disk that tasks wait for. Excludes RAM disks (`dev1-`), loop devices (`dev7-`)
/// and optical drives (`dev11-`); without `-p`, devices are named by major number.
pub(super) fn is_disk(device: &str) -> bool {
    const OTHERS: [&str; 9] = ["loop", "ram", "zram", "sr", "fd", "dev1-", "dev2-", "dev7-", "dev11-"];
    !OTHERS.iter().any(|prefix| {
        device.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utilisation_excludes_iowait_and_steal() {
        let names = ["CPU", "%user", "%nice", "%system", "%iowait", "%steal", "%idle"];
        let table = Table::of(&names);
        let row = ["all", "60.00", "0.00", "20.00", "10.00", "5.00", "5.00"];
        assert_eq!(table.read(&row), Ok(Some(Reading::Metric(NodeMetric::CpuUtil, 80.0))));
        assert_eq!(table.read(&["0", "1", "1", "1", "1", "1", "1"]), Ok(None));
        assert_eq!(table.read(&row[..6]), Err(Damaged));
        assert_eq!(table.read(&["all", "a", "a", "a", "a", "a", "a"]), Err(Damaged));
        let comma = ["all", "60,00", "0,00", "20,00", "10,00", "5,00", "5,00"];
        assert_eq!(table.read(&comma), table.read(&row));
    }

    #[test]
    fn disks_are_told_from_other_devices() {
        for disk in ["sda", "nvme0n1", "dev8-0", "dm-0", "srv", "ramdisk"] {
            assert!(is_disk(disk), "{disk}");
        }
        for other in ["loop0", "ram12", "sr0", "dev7-0", "dev11-0", "dev1-0"] {
            assert!(!is_disk(other), "{other}");
        }
    }
}
