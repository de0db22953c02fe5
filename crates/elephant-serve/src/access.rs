//! Who may ask, and who it is.

use std::net::IpAddr;

use axum::http::request::Parts;

use super::failure::Failure;
use super::names::is_own_name;
use super::route::ForWhom;
use super::server::Shared;
use super::viewers::{Viewer, Viewers};

/// Who may ask. There is no login: that is a proxy's work.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The addresses of proxies; if there are any, only these and this machine are answered.
    pub proxies: Vec<IpAddr>,
    /// Whether everyone who reaches the server may ask.
    pub anyone: bool,
    /// Who asks and what they may see, if the proxies tell.
    pub viewers: Option<Viewers>,
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl Shared {
    /// Refuses clients that may not ask.
    pub(crate) fn admit(&self, head: &Parts) -> Result<(), Failure> {
        let peer = head.extensions.get::<Peer>().map(|Peer(peer)| peer.to_canonical());
        let is_known = peer.is_some_and(|peer| peer.is_loopback() || self.access.proxies.contains(&peer));
        if !self.is_local && !self.access.anyone && !is_known {
            return Err(Failure::Forbidden("this server only answers its proxy"));
        }
        if self.is_local && self.access.proxies.is_empty() && !is_own_name(&head.headers) {
            return Err(Failure::Forbidden(
                "this server only answers to the names of its own machine, such as localhost; if a proxy passes other \
                 names on, name the proxy (--trust-proxy 127.0.0.1)",
            ));
        }
        Ok(())
    }

    /// Who asks a route, if they may.
    pub(crate) fn viewer(&self, head: &Parts, for_whom: ForWhom) -> Result<Viewer, Failure> {
        if for_whom == ForWhom::Everyone {
            return Ok(Viewer::Anyone);
        }
        self.admit(head)?;
        let Some(viewers) = &self.access.viewers else { return Ok(Viewer::Anyone) };
        let peer = head.extensions.get::<Peer>().map(|Peer(peer)| peer.to_canonical());
        let is_proxy = peer.is_some_and(|peer| self.access.proxies.contains(&peer));
        let told = if is_proxy { Some(viewers.told(&head.headers)) } else { None };
        match (told, for_whom) {
            (Some(Ok(viewer)), ForWhom::Operators) if viewer.visible().is_some() => {
                Err(Failure::Forbidden("only those who may see all applications are answered here"))
            }
            (Some(Ok(viewer)), _) => Ok(viewer),
            // A program of an operator has no login, and whoever has one is named.
            (_, ForWhom::Operators) => Ok(Viewer::Anyone),
            (Some(Err(failure)), _) => Err(failure),
            (None, _) if viewers.have_rows() => {
                Err(Failure::Forbidden("what may be seen depends on who asks, which only the proxy can tell"))
            }
            (None, _) => Ok(Viewer::Anyone),
        }
    }

    /// Who asks by messages, which have all that is stored.
    #[cfg(feature = "mcp")]
    pub(crate) fn admit_to_all(&self, head: &Parts) -> Result<(), Failure> {
        let viewer = self.viewer(head, ForWhom::Viewers)?;
        match viewer.visible() {
            None => Ok(()),
            Some(_) => Err(Failure::Forbidden("only those who may see all applications are answered here")),
        }
    }
}
