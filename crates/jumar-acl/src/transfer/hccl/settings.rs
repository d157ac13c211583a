//! What environment variables and configuration structures say.

use std::time::Duration;

use jumar::config;
use jumar_hccl::{Network, Options, digest};
use jumar_types::{Error, ErrorKind, Result};

/// What the environment says; a field of a configuration comes first.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// How long ranks wait for each other when a communicator is created.
    pub(super) connect: Duration,
    /// How long operations wait; `None` forever.
    pub(super) exec: Option<Duration>,
    /// 0, 1 or 2.
    pub(super) deterministic: u32,
    /// In MB.
    pub(super) buffer: u32,
    /// A word of the program's own that keeps jobs with the same rank table apart.
    pub(super) job: String,
    /// How this process takes part in communicators of several machines.
    pub(super) network: Network,
}

/// What comes on top of `HCCL_CONNECT_TIMEOUT`, as on a card.
const CONNECT_EXTRA: Duration = Duration::from_secs(20);
/// The largest value of `HCCL_EXEC_TIMEOUT` and `hcclExecTimeOut`.
const LONGEST: f64 = 2_147_483_647.0;

pub(super) fn bad<T>(name: &str, value: &str, expected: &str) -> Result<T> {
    Err(Error::new(
        ErrorKind::CommVariable,
        format!("{name} is \"{value}\"; it must be {expected}"),
    ))
}

/// Reads a variable as a number in a range.
pub(super) fn number(name: &str, least: f64, most: f64, expected: &str) -> Result<Option<f64>> {
    let Some(value) = config::collectives_variable(name) else {
        return Ok(None);
    };
    match value.trim().parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
        _ => bad(name, &value, expected),
    }
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    /// `CommVariable`: a value is not valid.
    pub(super) fn read() -> Result<Settings> {
        let seconds = Duration::from_secs_f64;
        let connect = number("HCCL_CONNECT_TIMEOUT", 120.0, 7200.0, "120 to 7200 seconds")?;
        let exec = number(
            "HCCL_EXEC_TIMEOUT",
            0.0,
            LONGEST,
            "0 (never) to 2147483647 seconds",
        )?;
        let both = number(
            "JUMAR_HCCL_TIMEOUT",
            0.001,
            LONGEST,
            "a number of seconds from 0.001 on",
        )?;
        let buffer = number("HCCL_BUFFSIZE", 1.0, f64::from(u32::MAX), "1 or more (MB)")?;
        let deterministic = match config::collectives_variable("HCCL_DETERMINISTIC") {
            None => 0,
            Some(value) => match value.to_ascii_lowercase().as_str() {
                "false" => 0,
                "true" => 1,
                "strict" => 2,
                _ => return bad("HCCL_DETERMINISTIC", &value, "false, true or strict"),
            },
        };
        let exec = exec.unwrap_or(1836.0);
        Ok(Settings {
            connect: match both {
                Some(both) => seconds(both),
                None => seconds(connect.unwrap_or(120.0)) + CONNECT_EXTRA,
            },
            exec: match both {
                Some(both) => Some(seconds(both)),
                None if exec == 0.0 => None,
                None => Some(seconds(exec)),
            },
            deterministic,
            buffer: buffer.unwrap_or(200.0) as u32,
            job: config::collectives_variable("JUMAR_JOB").unwrap_or_default(),
            network: super::network::read()?,
        })
    }
}

/// What a communicator is created with.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) options: Options,
    pub(super) deterministic: u32,
    /// In MB.
    pub(super) buffer: u32,
    pub(super) expansion: u32,
    pub(super) algorithm: String,
}

impl Chosen {
    /// What applies without a configuration.
    pub(super) fn by_default(settings: &Settings, deterministic: u32) -> Chosen {
        let mut chosen = Chosen {
            options: Options {
                limit: settings.exec,
                ..Options::default()
            },
            deterministic,
            buffer: settings.buffer,
            expansion: 0,
            algorithm: String::new(),
        };
        chosen.agree();
        chosen
    }

    /// Reads a configuration structure of any version.
    ///
    /// # Errors
    /// `CommConfig`: it was not initialised, or a field is out of range.
    pub(super) fn read(bytes: &[u8], settings: &Settings, deterministic: u32) -> Result<Chosen> {
        let fields = Fields::new(bytes)?;
        let mut chosen = Chosen::by_default(settings, deterministic);
        match fields.u32(24) {
            None | Some(u32::MAX) => {}
            Some(0) => return field("hcclBufferSize", "0", "1 or more (MB)"),
            Some(size) => chosen.buffer = size,
        }
        match fields.u32(28) {
            None | Some(u32::MAX) => {}
            Some(value @ 0..=2) => chosen.deterministic = value,
            Some(other) => return field("hcclDeterministic", other, "0, 1 or 2"),
        }
        chosen.options.name = fields.text(32, 128, "hcclCommName")?;
        chosen.options.label = fields.text(160, 128, "hcclUdi")?;
        match fields.u32(288) {
            None => {}
            Some(mode @ 0..=6) => chosen.expansion = mode,
            Some(other) => return field("hcclOpExpansionMode", other, "0 to 6"),
        }
        match fields.u32(292) {
            None | Some(u32::MAX) => {}
            Some(class) if class <= 255 && class % 4 == 0 => {}
            Some(other) => {
                return field("hcclRdmaTrafficClass", other, "0 to 255 in steps of 4");
            }
        }
        match fields.u32(296) {
            None | Some(u32::MAX) => {}
            Some(0..=7) => {}
            Some(other) => return field("hcclRdmaServiceLevel", other, "0 to 7"),
        }
        match fields.u32(316).map(u32::cast_signed) {
            None | Some(-1) => {}
            Some(0) => chosen.options.limit = None,
            Some(seconds @ 1..) => {
                chosen.options.limit = Some(Duration::from_secs(seconds.unsigned_abs().into()));
            }
            Some(other) => {
                return field("hcclExecTimeOut", other, "-1, 0 or a number of seconds");
            }
        }
        chosen.algorithm = fields.text(320, 1600, "hcclAlgo")?;
        fields.text(1920, 50, "hcclRetryEnable")?;
        fields.text(1970, 128, "hcclRetryParams")?;
        fields.text(2098, 128, "hcclBufferName")?;
        chosen.agree();
        Ok(chosen)
    }

    /// Notes what the ranks have to agree on.
    fn agree(&mut self) {
        let numbers = [self.deterministic, self.buffer, self.expansion];
        self.options.digest = digest(numbers.map(u64::from));
    }
}

fn field<T>(name: &str, value: impl std::fmt::Display, expected: &str) -> Result<T> {
    Err(Error::new(
        ErrorKind::CommConfig,
        format!("the configuration's {name} is {value}; it must be {expected}"),
    ))
}

/// The bytes of a configuration that count.
struct Fields<'a>(&'a [u8]);

/// The head of every configuration, and the least size of one.
pub const CONFIG_HEAD: usize = 24;
const LEAST: usize = 32;
const MAGIC: u32 = 0xf0f0_f0f0;
/// A version of a few days, whose later fields are somewhere else, and up to where it is as the others.
const ODD_VERSION: u32 = 8;
const ODD_END: usize = 313;
/// The largest configuration whose fields are known.
const MOST: usize = 2248;

/// Returns how many bytes of a configuration are to be read, from its head.
///
/// # Errors
/// `CommConfig`: it was not initialised.
pub fn config_bytes(head: &[u8]) -> Result<usize> {
    let word = |at: usize| head.get(at..at + 4).and_then(|x| x.try_into().ok());
    let magic = word(8).map_or(0, u32::from_ne_bytes);
    if magic != MAGIC {
        return Err(Error::new(
            ErrorKind::CommConfig,
            format!(
                "the configuration was not initialised: its magic word is {magic:#x}, not {MAGIC:#x}"
            ),
        ));
    }
    let size = head.get(..8).and_then(|x| x.try_into().ok());
    let size = size.map_or(0, usize::from_ne_bytes);
    if size < LEAST {
        return Err(Error::new(
            ErrorKind::CommConfig,
            format!("the configuration says it has {size} bytes; it has {LEAST} or more"),
        ));
    }
    Ok(size.min(MOST))
}

impl Fields<'_> {
    fn new(bytes: &[u8]) -> Result<Fields<'_>> {
        let known = config_bytes(bytes)?.min(bytes.len());
        let version = bytes.get(12..16).and_then(|x| x.try_into().ok());
        let odd = version.map(u32::from_ne_bytes) == Some(ODD_VERSION);
        let end = if odd { known.min(ODD_END) } else { known };
        Ok(Fields(&bytes[..end]))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at..at + 4)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    }

    fn text(&self, at: usize, length: usize, name: &str) -> Result<String> {
        let Some(bytes) = self.0.get(at..at + length) else {
            return Ok(String::new());
        };
        let Some(end) = bytes.iter().position(|byte| *byte == 0) else {
            return field(name, "a text without a zero byte at its end", "shorter");
        };
        match std::str::from_utf8(&bytes[..end]) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => field(name, "not UTF-8", "a text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration as `HcclCommConfigInit` fills it, of a size and version.
    fn config(size: usize, version: u32) -> Vec<u8> {
        let mut bytes = vec![0; size];
        bytes[..8].copy_from_slice(&size.to_ne_bytes());
        bytes[8..12].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[12..16].copy_from_slice(&version.to_ne_bytes());
        for at in [24, 28, 292, 296, 316] {
            if at + 4 <= size {
                bytes[at..at + 4].copy_from_slice(&u32::MAX.to_ne_bytes());
            }
        }
        bytes
    }

    fn settings() -> Settings {
        Settings {
            connect: Duration::from_secs(140),
            exec: Some(Duration::from_secs(1836)),
            deterministic: 0,
            buffer: 200,
            job: String::new(),
            network: Network::default(),
        }
    }

    fn read(bytes: &[u8]) -> Result<Chosen> {
        Chosen::read(bytes, &settings(), 1)
    }

    #[test]
    fn every_form_is_read_as_far_as_it_goes() {
        for (size, version) in [
            (32, 1),
            (160, 2),
            (288, 3),
            (300, 5),
            (312, 6),
            (448, 8),
            (2232, 10),
            (2240, 10),
            (2248, 11),
            (4000, 12),
        ] {
            let mut bytes = config(size, version);
            bytes[28..32].copy_from_slice(&2u32.to_ne_bytes());
            if size >= 160 {
                bytes[32..36].copy_from_slice(b"name");
            }
            if size >= 320 && version != 8 {
                bytes[316..320].copy_from_slice(&7i32.to_ne_bytes());
            }
            let chosen = read(&bytes).expect("a configuration");
            assert_eq!(chosen.deterministic, 2);
            assert_eq!(chosen.options.name, if size >= 160 { "name" } else { "" });
            let seconds = chosen.options.limit.expect("limited").as_secs();
            let own = size >= 320 && version != 8;
            assert_eq!(seconds, if own { 7 } else { 1836 });
        }
        assert_eq!(read(&config(32, 1)).expect("defaults").deterministic, 1);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = config(2248, 11);
            change(&mut bytes);
            let error = read(&bytes).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::CommConfig);
            error.sentence().to_owned()
        };
        assert!(refused(&|bytes| bytes[8] = 0).contains("not initialised"));
        assert!(
            refused(&|bytes| bytes[..8].copy_from_slice(&31usize.to_ne_bytes()))
                .contains("31 bytes")
        );
        assert!(refused(&|bytes| bytes[24..28].fill(0)).contains("hcclBufferSize"));
        assert!(
            refused(&|bytes| bytes[28..32].copy_from_slice(&3u32.to_ne_bytes()))
                .contains("hcclDeterministic")
        );
        assert!(refused(&|bytes| bytes[32..160].fill(b'x')).contains("hcclCommName"));
        assert!(refused(&|bytes| bytes[288] = 7).contains("hcclOpExpansionMode"));
        assert!(
            refused(&|bytes| bytes[292..296].copy_from_slice(&6u32.to_ne_bytes()))
                .contains("TrafficClass")
        );
        assert!(
            refused(&|bytes| bytes[296..300].copy_from_slice(&8u32.to_ne_bytes()))
                .contains("ServiceLevel")
        );
    }
}
