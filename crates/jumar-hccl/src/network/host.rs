//! Which address of this machine other machines connect to.

use std::net::IpAddr;

use crate::os::addresses;

/// Which interfaces may be used, as `HCCL_SOCKET_IFNAME` lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// The names, or the beginnings of names; none for any.
    pub names: Vec<String>,
    /// The names are whole names.
    pub exact: bool,
    /// The interfaces that have these names are not used.
    pub others: bool,
    /// IPv6 (true) or IPv4 (false) alone; `None` for IPv4 before IPv6.
    pub six: Option<bool>,
}

impl Interfaces {
    /// Reads a list as `HCCL_SOCKET_IFNAME` has it: `eth,enp`, `^docker`, `=eth0`, `^=eth0`.
    pub fn read(text: &str) -> Interfaces {
        let (others, text) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (exact, text) = match text.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let names = text.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        Interfaces {
            names: names.map(str::to_owned).collect(),
            exact,
            others,
            six: None,
        }
    }

    /// Returns how good an interface is, smaller first; `None` if it may not be used.
    fn order(&self, name: &str) -> Option<usize> {
        let matches = |wanted: &String| match self.exact {
            true => name == wanted,
            false => name.starts_with(wanted.as_str()),
        };
        let position = self.names.iter().position(matches);
        if !self.names.is_empty() && !self.others {
            return position;
        }
        if position.is_some() {
            return None;
        }
        Some(match name {
            "lo" => 2,
            name if name.starts_with("docker") => 1,
            _ => 0,
        })
    }

    fn choose(&self, all: &[(String, IpAddr)]) -> Option<IpAddr> {
        let usable = all.iter().filter_map(|(name, address)| {
            let six = address.is_ipv6();
            // Addresses of a link alone need the name of an interface, which others do not know.
            let of_link = matches!(address, IpAddr::V6(six) if six.is_unicast_link_local());
            let family = self.six.is_none_or(|wanted| wanted == six);
            let order = self.order(name).filter(|_| family && !of_link)?;
            Some(((order, six, name), *address))
        });
        let best = usable.min_by(|(one, _), (other, _)| one.cmp(other));
        best.map(|(_, address)| address)
    }
}

/// Returns the address of this machine on the first interface that fits, `None` without any.
///
/// # Errors
/// What the system refused.
pub fn choose_host(interfaces: &Interfaces) -> std::io::Result<Option<IpAddr>> {
    Ok(interfaces.choose(&addresses::interfaces()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, six: Option<bool>) -> Option<String> {
        let all = [
            ("lo", "127.0.0.1"),
            ("docker0", "172.17.0.1"),
            ("eth0", "fe80::1"),
            ("eth0", "fd00::1"),
            ("eth0", "10.0.0.1"),
            ("eth1", "10.0.1.1"),
        ];
        let all =
            all.map(|(name, address)| (name.to_owned(), address.parse().expect("an address")));
        let interfaces = Interfaces {
            six,
            ..Interfaces::read(text)
        };
        interfaces.choose(&all).map(|address| address.to_string())
    }

    #[test]
    fn interfaces_are_chosen_as_the_variable_says() {
        let is = |address: &str| Some(address.to_owned());
        assert_eq!(chosen("", None), is("10.0.0.1"));
        assert_eq!(chosen("", Some(true)), is("fd00::1"));
        assert_eq!(chosen("eth1,eth0", None), is("10.0.1.1"));
        assert_eq!(chosen("^eth", None), is("172.17.0.1"));
        assert_eq!(chosen("^eth,docker", None), is("127.0.0.1"));
        assert_eq!(chosen("=eth", None), None);
        assert_eq!(chosen("=eth1", None), is("10.0.1.1"));
        assert_eq!(chosen("^=eth0", None), is("10.0.1.1"));
        assert_eq!(chosen("docker", None), is("172.17.0.1"));
        assert_eq!(chosen("wlan", None), None);
    }
}
