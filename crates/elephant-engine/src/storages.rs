//! The storages that this build reads.

use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_input::storage::Storages;

/// The files of this machine by their addresses, and with the feature `remote` those across a network. Their requests
/// observe the limits.
#[must_use]
pub fn all(limits: &Limits) -> Storages {
    #[cfg(feature = "remote")]
    return Storages::local_and(elephant_remote::all(limits));
    #[cfg(not(feature = "remote"))]
    {
        let _ = limits;
        Storages::default()
    }
}

/// The storages that the addresses in `named` may be in.
#[must_use]
pub fn of(named: Named<'_>, limits: &Limits) -> Storages {
    named.storages.cloned().unwrap_or_else(|| all(limits))
}
