//! Rank tables: which rank works on which device of which server.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::net::IpAddr;
use std::path::Path;

use jumar_types::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::files;

/// The longest path of a rank table.
const LONGEST_PATH: usize = 4096;
/// The size of the largest file that is read as a rank table.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The most ranks of a table.
const MOST_RANKS: usize = 65_536;
/// The most layers of the network that a rank of version 2.0 is in, and the most addresses that it has in each.
const MOST_LAYERS: usize = 8;
const MOST_ADDRESSES: usize = 24;

/// The ranks of a table, by number.
#[derive(Debug)]
pub(super) struct RankTable {
    ranks: Vec<Rank>,
}

/// A rank of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    /// The physical number of its device.
    pub(super) device: u32,
    server: String,
    /// The address of its server, where the table has it.
    host: Option<IpAddr>,
}

fn key<T>(sentence: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::CommTableKey, sentence))
}

/// Returns a member of an object.
fn member<'a>(object: &'a Value, name: &str, of: &str) -> Result<&'a Value> {
    match object.get(name) {
        Some(value) => Ok(value),
        None => key(format!("the rank table's {of} has no \"{name}\"")),
    }
}

/// Reads a number, which may be written as a text.
fn number(object: &Value, name: &str, of: &str) -> Result<u32> {
    let value = member(object, name, of)?;
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    match number {
        Some(number) => Ok(number),
        None => key(format!(
            "the rank table's \"{name}\" is {value}; it must be a number"
        )),
    }
}

fn text(object: &Value, name: &str, of: &str) -> Result<String> {
    match member(object, name, of)? {
        Value::String(text) if !text.is_empty() && text.len() <= 64 => Ok(text.clone()),
        other => key(format!(
            "the rank table's \"{name}\" is {other}; it must be a text of 1 to 64 characters"
        )),
    }
}

fn list<'a>(object: &'a Value, name: &str, of: &str) -> Result<&'a Vec<Value>> {
    match member(object, name, of)? {
        Value::Array(list) if !list.is_empty() => Ok(list),
        _ => key(format!(
            "the rank table's \"{name}\" has to be a list that is not empty"
        )),
    }
}

fn matches(found: usize, object: &Value, name: &str) -> Result<()> {
    if object.get(name).is_none() {
        return Ok(());
    }
    let said = number(object, name, "top level")?;
    match said as usize == found {
        true => Ok(()),
        false => key(format!(
            "the rank table's \"{name}\" is {said}, but it lists {found}"
        )),
    }
}

/// Checks that the table says that it is complete. The forms with servers have to.
fn check_status(value: &Value, version: &str) -> Result<()> {
    match value.get("status") {
        Some(Value::String(status)) if status == "completed" => Ok(()),
        None if !matches!(version, "1.0" | "1.2") => Ok(()),
        None => key(format!(
            "the rank table has no \"status\"; in version {version} it must be \"completed\""
        )),
        Some(other) => key(format!(
            "the rank table's \"status\" is {other}; it must be \"completed\""
        )),
    }
}

/// Reads an address, if there is one.
fn address(object: &Value, name: &str) -> Result<Option<IpAddr>> {
    let wrong = |found: &Value| {
        key(format!(
            "the rank table's \"{name}\" is {found}; it must be an IPv4 or IPv6 address"
        ))
    };
    match object.get(name) {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(found @ Value::String(text)) => match text.trim().parse() {
            Ok(address) => Ok(Some(address)),
            Err(_) => wrong(found),
        },
        Some(other) => wrong(other),
    }
}

/// Checks a port, if there is one.
fn check_port(object: &Value, name: &str, of: &str) -> Result<()> {
    let Some(found) = object.get(name) else {
        return Ok(());
    };
    match found.as_str() == Some("") || (1..=65_535).contains(&number(object, name, of)?) {
        true => Ok(()),
        false => key(format!(
            "the rank table's \"{name}\" is {found}; it must be a port, 1 to 65535"
        )),
    }
}

/// Checks what a CPU does not use of a device's entry: a card would not start with it if it were wrong.
fn check_connections(device: &Value) -> Result<()> {
    for name in ["device_ip", "backup_device_ip"] {
        address(device, name)?;
    }
    for name in ["device_port", "backup_device_port", "host_port"] {
        check_port(device, name, "device")?;
    }
    Ok(())
}

/// Checks the layers of a rank of version 2.0.
fn check_layers(rank: &Value) -> Result<()> {
    let lists = |object: &Value, name: &str, most: usize| -> Result<Vec<Value>> {
        match object.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(all)) if all.len() <= most => Ok(all.clone()),
            Some(_) => key(format!(
                "the rank table's \"{name}\" has to be a list of up to {most} entries"
            )),
        }
    };
    for layer in lists(rank, "level_list", MOST_LAYERS)? {
        for entry in lists(&layer, "rank_addr_list", MOST_ADDRESSES)? {
            if matches!(entry["addr_type"].as_str(), Some("IPV4" | "IPV6")) {
                address(&entry, "addr")?;
            }
        }
    }
    Ok(())
}

impl RankTable {
    /// Reads a file, and returns its bytes too.
    ///
    /// # Errors
    /// `CommTableFile`: it cannot be read; `CommTableKey`: a key is missing or wrong.
    pub(super) fn read(path: &CStr) -> Result<(RankTable, Vec<u8>)> {
        let name = path.to_string_lossy();
        let unreadable = |why: String| {
            Err(Error::new(
                ErrorKind::CommTableFile,
                format!("the rank table \"{name}\" {why}"),
            ))
        };
        if path.count_bytes() > LONGEST_PATH {
            return unreadable(format!("has a path of more than {LONGEST_PATH} bytes"));
        }
        let bytes = match files::read(Path::new(&*name), MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(why) => return unreadable(why),
        };
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) => Ok((RankTable::parse(&value)?, bytes)),
            Err(error) => unreadable(format!("is not JSON: {error}")),
        }
    }

    fn parse(value: &Value) -> Result<RankTable> {
        let version = match value.get("version") {
            Some(Value::String(version)) => version.as_str(),
            None if value.get("group_count").is_some() => "groups",
            None => return key("the rank table has no \"version\""),
            Some(other) => return key(format!("the rank table's \"version\" is {other}")),
        };
        check_status(value, version)?;
        let found = match version {
            "1.0" | "1.2" => servers(value, version == "1.2")?,
            "2.0" => plain_ranks(value)?,
            "groups" => groups(value)?,
            other => {
                return key(format!(
                    "the rank table's \"version\" is \"{other}\"; it must be 1.0, 1.2 or 2.0"
                ));
            }
        };
        RankTable::sorted(found)
    }

    /// Puts the ranks into order, and checks that they are 0 to n - 1 and stand together by server.
    fn sorted(mut found: Vec<(u32, Rank)>) -> Result<RankTable> {
        if found.len() > MOST_RANKS {
            return key(format!("the rank table has {} ranks", found.len()));
        }
        found.sort_by_key(|(rank, _)| *rank);
        for (at, (rank, _)) in found.iter().enumerate() {
            if *rank as usize != at {
                return key(format!(
                    "the ranks of the rank table are not 0 to {}, each once: rank {at} is missing or rank {rank} is there twice",
                    found.len() - 1
                ));
            }
        }
        let mut earlier = BTreeSet::new();
        for pair in found.windows(2) {
            let (before, after) = (&pair[0].1.server, &pair[1].1.server);
            if before != after {
                earlier.insert(before);
            }
            if earlier.contains(after) {
                return key(format!(
                    "the ranks of server \"{after}\" in the rank table are not consecutive"
                ));
            }
        }
        let mut devices = BTreeSet::new();
        for (_, rank) in &found {
            if !devices.insert((&rank.server, rank.device)) {
                return key(format!(
                    "device_id {} of server \"{}\" is in the rank table twice",
                    rank.device, rank.server
                ));
            }
        }
        Ok(RankTable {
            ranks: found.into_iter().map(|(_, rank)| rank).collect(),
        })
    }

    /// Returns the number of ranks.
    pub(super) fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Returns the address of rank 0's server, if there are others.
    pub(super) fn root_address(&self) -> Option<IpAddr> {
        let root = self.ranks.first()?;
        let several = self.ranks.iter().any(|rank| rank.server != root.server);
        root.host.filter(|_| several)
    }

    /// Returns a rank.
    ///
    /// # Errors
    /// `CommTableRank`: the table does not have it.
    pub(super) fn rank(&self, rank: u32) -> Result<&Rank> {
        self.ranks.get(rank as usize).ok_or_else(|| {
            Error::new(
                ErrorKind::CommTableRank,
                format!(
                    "rank {rank} is not in the rank table, which has {}",
                    self.ranks.len()
                ),
            )
        })
    }
}

/// Reads versions 1.0 and 1.2.
fn servers(value: &Value, super_nodes: bool) -> Result<Vec<(u32, Rank)>> {
    let servers = list(value, "server_list", "top level")?;
    if !super_nodes {
        member(value, "server_count", "top level")?;
    }
    matches(servers.len(), value, "server_count")?;
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for server in servers {
        let name = text(server, "server_id", "server")?;
        if !names.insert(name.clone()) {
            return key(format!("server \"{name}\" is in the rank table twice"));
        }
        let host = address(server, "host_ip")?.or_else(|| name.parse().ok());
        for device in list(server, "device", "server")? {
            if super_nodes && device.get("super_device_id").and_then(Value::as_str) == Some("") {
                return key("a \"super_device_id\" of the rank table is empty");
            }
            check_connections(device)?;
            let rank = Rank {
                device: number(device, "device_id", "device")?,
                server: name.clone(),
                host,
            };
            found.push((number(device, "rank_id", "device")?, rank));
        }
    }
    Ok(found)
}

/// Reads version 2.0.
fn plain_ranks(value: &Value) -> Result<Vec<(u32, Rank)>> {
    let ranks = list(value, "rank_list", "top level")?;
    member(value, "rank_count", "top level")?;
    matches(ranks.len(), value, "rank_count")?;
    let read = |rank: &Value| {
        check_connections(rank)?;
        check_layers(rank)?;
        // Which machine a rank is on stands in the lowest layer; without layers there is one machine.
        let layer = rank.get("level_list").and_then(|layers| layers.get(0));
        let server = layer
            .and_then(|layer| layer.get("net_instance_id"))
            .and_then(Value::as_str);
        let own = Rank {
            device: number(rank, "device_id", "rank")?,
            server: server.unwrap_or("").to_owned(),
            host: server.and_then(|server| server.parse().ok()),
        };
        Ok((number(rank, "rank_id", "rank")?, own))
    };
    ranks.iter().map(read).collect()
}

/// Reads the form without a version: ranks count through in order.
fn groups(value: &Value) -> Result<Vec<(u32, Rank)>> {
    let groups = list(value, "group_list", "top level")?;
    matches(groups.len(), value, "group_count")?;
    let mut found = Vec::new();
    for group in groups {
        for instance in list(group, "instance_list", "group")? {
            let server = text(instance, "server_id", "instance")?;
            for device in list(instance, "devices", "instance")? {
                check_connections(device)?;
                let rank = Rank {
                    device: number(device, "device_id", "device")?,
                    server: server.clone(),
                    host: server.parse().ok(),
                };
                found.push((found.len() as u32, rank));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RankTable> {
        RankTable::parse(&serde_json::from_str(text).expect("JSON"))
    }

    const PLAIN: &str = r#"{"version":"1.0","status":"completed","server_count":"1","server_list":[
        {"server_id":"node_0","device":[{"device_id":"1","rank_id":"1"},{"device_id":"0","rank_id":"0"}]}]}"#;

    #[test]
    fn every_form_is_read() {
        let table = parse(PLAIN).expect("1.0");
        assert_eq!(table.size(), 2);
        assert_eq!(table.rank(1).expect("there").device, 1);
        let super_nodes = PLAIN.replace("1.0", "1.2");
        assert_eq!(parse(&super_nodes).expect("1.2").size(), 2);
        let numbers = r#"{"version":"2.0","rank_count":2,"rank_list":[
            {"rank_id":0,"local_id":0,"device_id":3},{"rank_id":1,"local_id":1,"device_id":4}]}"#;
        assert_eq!(
            parse(numbers).expect("2.0").rank(0).expect("there").device,
            3
        );
        let old = r#"{"group_count":"1","group_list":[{"group_name":"g","instance_count":"2","device_count":"2",
            "instance_list":[{"pod_name":"a","server_id":"10.0.0.1","devices":[{"device_id":"0"}]},
            {"pod_name":"b","server_id":"10.0.0.2","devices":[{"device_id":"0"}]}]}]}"#;
        assert_eq!(parse(old).expect("groups").size(), 2);
    }

    #[test]
    fn ranks_of_several_servers_find_rank_0_at_the_address_of_its_server() {
        let table = |server: &str| {
            let text = format!(
                r#"{{"version":"1.0","status":"completed","server_count":"2","server_list":[
                {{{server},"device":[{{"device_id":"0","rank_id":"0"}}]}},
                {{"server_id":"10.0.0.2","device":[{{"device_id":"0","rank_id":"1"}}]}}]}}"#
            );
            parse(&text).map(|table| table.root_address().map(|found| found.to_string()))
        };
        let is = |address: &str| Some(address.to_owned());
        assert_eq!(
            table(r#""server_id":"10.0.0.1""#).expect("1.0"),
            is("10.0.0.1")
        );
        let both = table(r#""server_id":"10.0.0.1","host_ip":"10.0.0.3""#);
        assert_eq!(both.expect("1.0"), is("10.0.0.3"));
        assert_eq!(table(r#""server_id":"node""#).expect("1.0"), None);
        assert!(table(r#""server_id":"node","host_ip":"10.0""#).is_err());
        assert_eq!(parse(PLAIN).expect("1.0").root_address(), None);
    }

    #[test]
    fn a_table_with_servers_has_to_say_that_it_is_complete() {
        let without = PLAIN.replace("\"status\":\"completed\",", "");
        for version in ["1.0", "1.2"] {
            let error = parse(&without.replace("1.0", version)).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::CommTableKey);
            let wanted = format!("no \"status\"; in version {version} it must be \"completed\"");
            assert!(error.sentence().contains(&wanted), "{error}");
        }
        for wrong in ["null", "1", "[\"completed\"]", "\"Completed\""] {
            let table = PLAIN.replace("\"completed\"", wrong);
            let error = parse(&table).expect_err("refused");
            assert!(
                error.sentence().contains(&format!("is {wrong};")),
                "{error}"
            );
        }
        let newer = r#"{"version":"2.0","rank_count":1,"rank_list":[{"rank_id":0,"device_id":0}]}"#;
        assert!(parse(newer).is_ok(), "version 2.0 need not");
    }

    #[test]
    fn addresses_and_ports_are_of_the_right_form_though_a_cpu_uses_none() {
        let device = |more: &str| {
            let table = PLAIN.replace(
                "\"device_id\":\"1\"",
                &format!("\"device_id\":\"1\",{more}"),
            );
            parse(&table)
                .map(drop)
                .map_err(|error| error.sentence().to_owned())
        };
        for fits in [
            r#""device_ip":"192.168.1.30""#,
            r#""device_ip":"fd00::1","device_port":"16666","host_port":60000"#,
            r#""device_ip":"","backup_device_ip":"10.0.0.2","backup_device_port":"65535""#,
            r#""something_else":300"#,
        ] {
            assert_eq!(device(fits), Ok(()), "{fits}");
        }
        for (name, value) in [
            ("device_ip", "\"192.168.1.300\""),
            ("device_ip", "300"),
            ("device_ip", "\"192.168.1\""),
            ("backup_device_ip", "\"fd00::g\""),
        ] {
            let sentence = device(&format!("\"{name}\":{value}")).expect_err("refused");
            let wanted = format!("\"{name}\" is {value}; it must be an IPv4 or IPv6 address");
            assert!(sentence.contains(&wanted), "{sentence}");
        }
        for name in ["device_port", "host_port", "backup_device_port"] {
            for value in ["\"0\"", "65536", "\"x\"", "-1"] {
                let sentence = device(&format!("\"{name}\":{value}")).expect_err("refused");
                assert!(
                    sentence.contains(&format!("\"{name}\" is {value};")),
                    "{sentence}"
                );
            }
        }
        let newer = |layers: &str| {
            let table = format!(
                r#"{{"version":"2.0","rank_count":1,"rank_list":[{{"rank_id":0,"device_id":0,"level_list":{layers}}}]}}"#
            );
            parse(&table)
                .map(drop)
                .map_err(|error| error.sentence().to_owned())
        };
        let at = |kind: &str, address: &str| {
            newer(&format!(
                r#"[{{"net_layer":0,"net_instance_id":"a","rank_addr_list":[{{"addr_type":"{kind}","addr":"{address}"}}]}}]"#
            ))
        };
        assert_eq!(at("IPV4", "10.0.0.1"), Ok(()));
        assert_eq!(at("EID", "000000000000002000100000df0010cd"), Ok(()));
        assert!(
            at("IPV4", "10.0.0.300")
                .expect_err("refused")
                .contains("\"10.0.0.300\"")
        );
        let many = ["{}"; MOST_LAYERS + 1].join(",");
        assert!(
            newer(&format!("[{many}]"))
                .expect_err("refused")
                .contains("up to 8")
        );
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_before_it_is_read() {
        for path in [c"/dev/zero", c"/"] {
            let error = RankTable::read(path).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::CommTableFile);
            assert!(error.sentence().contains("is not a regular file"));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |from: &str, to: &str| {
            let error = parse(&PLAIN.replacen(from, to, 1)).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::CommTableKey);
            error.sentence().to_owned()
        };
        assert!(refused("completed", "initializing").contains("initializing"));
        assert!(refused("\"version\":\"1.0\",", "").contains("version"));
        assert!(refused("1.0", "7").contains("\"7\""));
        assert!(refused("\"server_count\":\"1\"", "\"server_count\":\"2\"").contains("lists 1"));
        assert!(refused("\"server_count\":\"1\",", "").contains("server_count"));
        assert!(refused("\"rank_id\":\"1\"", "\"rank_id\":\"2\"").contains("not 0 to 1"));
        assert!(refused("\"rank_id\":\"1\"", "\"rank_id\":\"x\"").contains("a number"));
        assert!(refused("\"device_id\":\"1\"", "\"device_id\":\"0\"").contains("twice"));
        assert!(refused("\"server_id\":\"node_0\",", "").contains("server_id"));
        assert_eq!(
            parse(PLAIN)
                .expect("1.0")
                .rank(2)
                .expect_err("two ranks")
                .kind(),
            ErrorKind::CommTableRank
        );
        let split = r#"{"version":"1.0","status":"completed","server_count":2,"server_list":[
            {"server_id":"a","device":[{"device_id":0,"rank_id":0},{"device_id":1,"rank_id":2}]},
            {"server_id":"b","device":[{"device_id":0,"rank_id":1}]}]}"#;
        assert!(
            parse(split)
                .expect_err("refused")
                .sentence()
                .contains("not consecutive")
        );
    }
}
