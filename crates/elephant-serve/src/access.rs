//! Who may ask, and who it is.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::request::Parts;
use ipnet::IpNet;

use super::failure::Failure;
use super::names::is_own_name;
use super::route::ForWhom;
use super::server::Shared;
use super::viewers::{Viewer, Viewers};

/// Who may ask. There is no login: that is a proxy's work.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Where proxies are; if there are any, only these and this machine are answered.
    pub proxies: Vec<Proxies>,
    /// Whether everyone who reaches the server may ask.
    pub anyone: bool,
    /// Who asks and what they may see, if the proxies tell.
    pub viewers: Option<Viewers>,
}

/// One proxy, or a network of them, such as the pods of an ingress: `10.0.0.7` or `10.244.0.0/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxies(IpNet);

/// Why addresses cannot be those of proxies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxiesError {
    /// It is neither an address nor a network.
    #[error("expected an address, such as 10.0.0.7, or a network, such as 10.244.0.0/16")]
    Unknown,
    /// Every address is in it, so that everyone could say who they are.
    #[error("every address is in this network; to answer everyone, without a login, use --allow-anyone")]
    Everyone,
}

impl FromStr for Proxies {
    type Err = ProxiesError;

    fn from_str(text: &str) -> Result<Self, ProxiesError> {
        let one = || text.parse::<IpAddr>().map(IpNet::from);
        let network = text.parse::<IpNet>().or_else(|_| one()).map_err(|_| ProxiesError::Unknown)?;
        if network.prefix_len() == 0 { Err(ProxiesError::Everyone) } else { Ok(Self(network)) }
    }
}

impl Access {
    /// Whether a proxy has this address, which is canonical: an IPv4 address is not written as an IPv6 one.
    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.proxies.iter().any(|Proxies(network)| network.contains(&peer))
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl Shared {
    /// Refuses clients that may not ask.
    pub(crate) fn admit(&self, head: &Parts) -> Result<(), Failure> {
        let peer = head.extensions.get::<Peer>().map(|Peer(peer)| peer.to_canonical());
        let is_known = peer.is_some_and(|peer| peer.is_loopback() || self.access.is_proxy(peer));
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
        let is_proxy = peer.is_some_and(|peer| self.access.is_proxy(peer));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_addresses_and_networks() {
        let access = |texts: &[&str]| Access {
            proxies: texts.iter().map(|text| text.parse().unwrap()).collect(),
            ..Access::default()
        };
        let is_proxy = |access: &Access, address: &str| access.is_proxy(address.parse().unwrap());
        let some = access(&["10.0.0.7", "10.244.3.9/16", "fd00::/8"]);
        for (address, expected) in [
            ("10.0.0.7", true),
            ("10.0.0.8", false),
            ("10.244.255.1", true),
            ("10.245.0.1", false),
            ("fd12::1", true),
            ("fe80::1", false),
        ] {
            assert_eq!(is_proxy(&some, address), expected, "{address}");
        }
        assert!(!is_proxy(&access(&[]), "10.0.0.7"));
    }

    #[test]
    fn not_everyone_is_a_proxy() {
        for text in ["0.0.0.0/0", "::/0"] {
            assert_eq!(text.parse::<Proxies>(), Err(ProxiesError::Everyone));
        }
        for text in ["", "proxy.example", "10.0.0.0/33", "10.0.0/8", "10.0.0.7:80"] {
            assert_eq!(text.parse::<Proxies>(), Err(ProxiesError::Unknown), "{text}");
        }
    }
}
