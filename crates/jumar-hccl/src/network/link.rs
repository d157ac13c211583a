//! What both ends of a gathering use: frames of bounded length, and proofs that an end knows the key.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use siphasher::sip128::{Hasher128, SipHasher24};

pub(super) const PROOF_BYTES: usize = 16;
/// What a conversation begins with: the last digit is the version.
pub(super) const GREETING: &[u8; 8] = b"JMRCOMM3";

/// The key of a communicator.
pub(super) struct Secret(u64, u64);

impl Secret {
    pub(super) fn new(key: u128) -> Secret {
        Secret(key as u64, (key >> 64) as u64)
    }

    fn proof(&self, role: &[u8], values: &[&[u8]]) -> [u8; PROOF_BYTES] {
        let mut hasher = SipHasher24::new_with_keys(self.0, self.1);
        hasher.write(role);
        for value in values {
            hasher.write(value);
        }
        hasher.finish128().as_u128().to_le_bytes()
    }

    /// Returns what shows the client that the server knows the key.
    pub(super) fn proof_of_server(&self, client: &[u8; 16], server: &[u8; 16]) -> [u8; 16] {
        self.proof(b"server--", &[client, server])
    }

    /// Returns what shows the server that the client knows the key.
    pub(super) fn proof_of_client(&self, client: &[u8; 16], server: &[u8; 16]) -> [u8; 16] {
        self.proof(b"client--", &[client, server])
    }

    /// Returns what shows one rank that the other knows the key.
    pub(super) fn proof_of_pair(&self, session: u128, from: u32, to: u32) -> [u8; PROOF_BYTES] {
        let (from, to) = (from.to_le_bytes(), to.to_le_bytes());
        self.proof(b"pair----", &[&session.to_le_bytes(), &from, &to])
    }
}

/// The longest frame.
const LONGEST: usize = 256 << 10;

/// The length and the kind.
pub(super) const FRAME_HEAD: usize = 5;

/// Writes a frame: its length, its kind, its content.
pub(super) fn write_frame(mut to: impl Write, kind: u8, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(content.len() + FRAME_HEAD);
    frame.extend(length.to_le_bytes());
    frame.push(kind);
    frame.extend(content);
    to.write_all(&frame)
}

/// Reads a frame.
pub(super) fn read_frame(mut from: impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; FRAME_HEAD];
    from.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length > LONGEST {
        return Err(damaged());
    }
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    Ok((head[4], content))
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message is damaged")
}

/// Reads values from the content of a frame.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn u32(&mut self) -> io::Result<u32> {
        let bytes = self.take(4)?.try_into().map_err(|_| damaged())?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(super) fn u64(&mut self) -> io::Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| damaged())?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads bytes behind their length.
    pub(super) fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }
}

/// Appends bytes behind their length.
pub(super) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u32).to_le_bytes());
    to.extend(bytes);
}
