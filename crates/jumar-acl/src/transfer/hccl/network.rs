//! What the environment says about connections between machines.

use std::net::IpAddr;
use std::path::Path;

use jumar::config::collectives_variable as variable;
use jumar_hccl::{Interfaces, Network, choose_host};
use jumar_types::{Error, ErrorKind, Result};
use serde_json::Value;

use super::settings::{bad, number};
use crate::files;

/// How many ports there are from `HCCL_IF_BASE_PORT` on.
const PORTS: u16 = 32;
/// The most ports that a list may have.
const MOST_PORTS: usize = 4096;
/// The longest list of permitted addresses.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Reads the variables.
///
/// # Errors
/// `CommVariable`: a value is not valid.
pub(super) fn read() -> Result<Network> {
    port_list("HCCL_NPU_SOCKET_PORT_RANGE")?;
    for (name, most, step, expected) in [
        ("HCCL_RDMA_TC", 255.0, 4.0, "0 to 255 in steps of 4"),
        ("HCCL_RDMA_SL", 7.0, 1.0, "0 to 7"),
        ("HCCL_RDMA_RETRY_CNT", 7.0, 1.0, "1 to 7"),
    ] {
        let least = if expected.starts_with('1') { 1.0 } else { 0.0 };
        if let Some(found) = number(name, least, most, expected)?
            && found % step != 0.0
        {
            return bad(name, &found.to_string(), expected);
        }
    }
    Ok(Network {
        host: host()?,
        ports: ports()?,
        allowed: allowed()?,
    })
}

fn host() -> Result<Option<IpAddr>> {
    const ADDRESS: &str = "HCCL_IF_IP";
    const NAMES: &str = "HCCL_SOCKET_IFNAME";
    const FAMILY: &str = "HCCL_SOCKET_FAMILY";
    if let Some(text) = variable(ADDRESS) {
        return match text.trim().parse() {
            Ok(address) => Ok(Some(address)),
            Err(_) => bad(ADDRESS, &text, "an IPv4 or IPv6 address"),
        };
    }
    let (names, family) = (variable(NAMES), variable(FAMILY));
    let six = match family.as_deref() {
        None => None,
        Some("AF_INET") => Some(false),
        Some("AF_INET6") => Some(true),
        Some(other) => return bad(FAMILY, other, "AF_INET or AF_INET6"),
    };
    if names.is_none() && six.is_none() {
        return Ok(None);
    }
    let text = names.clone().unwrap_or_default();
    let interfaces = Interfaces {
        six,
        ..Interfaces::read(&text)
    };
    let found = choose_host(&interfaces).map_err(|error| {
        Error::new(
            ErrorKind::RuntimeInternal,
            format!("the list of network interfaces was refused: {error}"),
        )
    })?;
    match (found, family) {
        (Some(address), _) => Ok(Some(address)),
        (None, Some(family)) if names.is_none() => bad(
            FAMILY,
            &family,
            "a family of which this machine has an address",
        ),
        (None, _) => bad(
            NAMES,
            &text,
            "a list that fits an interface of this machine which is up",
        ),
    }
}

fn ports() -> Result<Vec<u16>> {
    const BASE: &str = "HCCL_IF_BASE_PORT";
    let listed = port_list("HCCL_HOST_SOCKET_PORT_RANGE")?;
    let base = number(BASE, 1024.0, 65520.0, "1024 to 65520")?;
    match (listed, base) {
        (Some(listed), _) => Ok(listed),
        (None, Some(base)) => {
            let first = base as u16;
            Ok((first..=first.saturating_add(PORTS - 1)).collect())
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// Reads a list of ports and ranges of ports; empty for any port.
fn port_list(name: &str) -> Result<Option<Vec<u16>>> {
    let Some(text) = variable(name) else {
        return Ok(None);
    };
    match read_ports(&text) {
        Some(ports) => Ok(Some(ports)),
        None => bad(
            name,
            &text,
            "\"auto\", or ports from 1 on and ranges of them such as 60000-60050, separated by commas",
        ),
    }
}

fn read_ports(text: &str) -> Option<Vec<u16>> {
    if text.trim() == "auto" {
        return Some(Vec::new());
    }
    let mut ports = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first == 0 || first > last {
            return None;
        }
        ports.extend(first..=last);
        if ports.len() > MOST_PORTS {
            return None;
        }
    }
    Some(ports)
}

/// Returns the addresses that may connect, `None` for all.
fn allowed() -> Result<Option<Vec<IpAddr>>> {
    const DISABLE: &str = "HCCL_WHITELIST_DISABLE";
    const FILE: &str = "HCCL_WHITELIST_FILE";
    match variable(DISABLE).as_deref() {
        None | Some("1") => return Ok(None),
        Some("0") => {}
        Some(other) => return bad(DISABLE, other, "1 (every address may connect) or 0"),
    }
    let Some(path) = variable(FILE) else {
        return bad(FILE, "", "a file while HCCL_WHITELIST_DISABLE is 0");
    };
    let expected = "a file with {\"host_ip\": [\"10.0.0.1\"]}";
    let Ok(bytes) = files::read(Path::new(&path), MAX_FILE_BYTES) else {
        return bad(FILE, &path, expected);
    };
    match permitted(&bytes) {
        Some(list) => Ok(Some(list)),
        None => bad(FILE, &path, expected),
    }
}

fn permitted(bytes: &[u8]) -> Option<Vec<IpAddr>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let list = value.get("host_ip")?.as_array()?;
    list.iter()
        .map(|address| address.as_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_single_ones_and_ranges() {
        assert_eq!(read_ports("auto"), Some(Vec::new()));
        assert_eq!(read_ports("60000"), Some(vec![60000]));
        assert_eq!(read_ports("5-7, 9"), Some(vec![5, 6, 7, 9]));
        for wrong in ["", "x", "7-5", "0", "1-65536", "1-65535", "5-"] {
            assert_eq!(read_ports(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn permitted_addresses_are_read_and_nothing_else() {
        let list = permitted(br#"{"host_ip": ["10.0.0.1", "fd00::1"], "device_ip": []}"#);
        let expected = ["10.0.0.1", "fd00::1"].map(|one| one.parse().expect("an address"));
        assert_eq!(list, Some(expected.to_vec()));
        assert_eq!(permitted(br#"{"host_ip": ["10.0.0"]}"#), None);
        assert_eq!(permitted(br#"{"device_ip": []}"#), None);
        assert_eq!(permitted(b"host_ip"), None);
    }
}
