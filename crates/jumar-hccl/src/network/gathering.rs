//! How ranks that may be on several machines find each other: at a socket of the process that made the root information.
//!
//! Both ends prove that they know the key before anything else is read. Each rank says who it is. When all have come, the
//! process sends each of them the list of the others, and if they are on several machines it hands on the addresses at which they
//! connect to each other. It moves no data of operations. What is read is untrusted all the same: lengths are bounded
//! and numbers are checked.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind as IoKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicUsize, Instant, Mutex, Ordering, thread};
use jumar_types::{Error, ErrorKind, Result};

use super::link::{Fields, GREETING, Secret, damaged, put_bytes, read_frame, write_frame};
use super::outbox::Outbox;
use super::{Interfaces, MOST_ADDRESS_BYTES, Network, choose_host};
use crate::os;
use crate::words::ranks;

/// The most ranks that gather.
const MOST_RANKS: u32 = 1024;
/// The most conversations at a time.
const MOST_CONVERSATIONS: usize = 2048;
/// The most of them that have not proved to be ranks. The one that has taken longest makes way for the next.
const MOST_STRANGERS: usize = if cfg!(test) { 8 } else { 1024 };
/// How long a stranger may take to prove that it is none.
const GREETING_TIME: Duration = Duration::from_secs(5);
/// The pause between two looks for connections, at first and later.
const PAUSE: Duration = Duration::from_millis(2);
const LONG_PAUSE: Duration = Duration::from_millis(20);
const AT_FIRST: Duration = Duration::from_secs(2);

// Kinds of frames: of ranks.
const HELLO: u8 = 1;
const WHO: u8 = 2;
const ADDRESSES: u8 = 3;
const ASK: u8 = 4;
// Of the root.
const REFUSED: u8 = 10;
const PRESENT: u8 = 11;
const TABLE: u8 = 12;
const PEERS: u8 = 13;
const ENDED: u8 = 14;
const INFO: u8 = 15;

fn system(error: io::Error) -> Error {
    Error::new(
        ErrorKind::RuntimeInternal,
        format!("the socket at which ranks gather was refused: {error}"),
    )
}

/// The socket at which ranks gather. It is closed when this is dropped.
pub(crate) struct Gathering {
    stop: Arc<AtomicBool>,
    root: Arc<Root>,
}

impl Drop for Gathering {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// A rank that has come.
struct Record {
    machine: u64,
    process: u32,
    digest: u64,
    name: Vec<u8>,
    host: String,
    outbox: Arc<Outbox>,
    /// Its conversation has ended; its number stays taken.
    ended: bool,
    /// Where the other ranks connect to it.
    addresses: Option<Vec<Vec<u8>>>,
}

impl Record {
    /// Describes to others that the rank has ended.
    fn farewell(&self, rank: u32) -> Vec<u8> {
        let mut content = rank.to_le_bytes().to_vec();
        content.extend(self.process.to_le_bytes());
        put_bytes(&mut content, self.host.as_bytes());
        content
    }
}

#[derive(Default)]
struct Ranks {
    size: u32,
    come: BTreeMap<u32, Record>,
    /// A rank may end its conversation: it has all that it needs.
    done: bool,
    /// The addresses were sent.
    handed: bool,
}

/// What the conversations share.
struct Root {
    secret: Secret,
    session: u128,
    ranks: Mutex<Ranks>,
    conversations: AtomicUsize,
    strangers: Strangers,
    /// The root information, for ranks that know the key and the address.
    info: Mutex<String>,
}

/// Those that have connected and not yet proved to be ranks, the earliest first.
#[derive(Default)]
struct Strangers(Mutex<(u64, VecDeque<(u64, TcpStream)>)>);

impl Strangers {
    /// Takes in a stranger, for which the one that has taken longest makes way if there are too many. Returns its number.
    fn enter(&self, socket: TcpStream) -> u64 {
        let mut inner = self.0.lock();
        let (next, all) = &mut *inner;
        if all.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = all.pop_front()
        {
            // Its conversation ends with that.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        *next += 1;
        all.push_back((*next, socket));
        *next
    }

    fn leave(&self, number: u64) {
        self.0.lock().1.retain(|(other, _)| *other != number);
    }
}

impl Gathering {
    /// Hands root information to ranks that ask for it.
    pub(crate) fn offer(&self, info: String) {
        *self.root.info.lock() = info;
    }

    /// Opens a socket, at which ranks gather for `limit`.
    ///
    /// # Errors
    /// `CommPortTaken`: none of the ports is free; `RuntimeInternal`: the system refused the socket.
    pub(crate) fn open(
        key: u128,
        network: &Network,
        limit: Duration,
    ) -> Result<(Gathering, SocketAddr)> {
        let host = match network.host {
            Some(host) => host,
            None => choose_host(&Interfaces::default())
                .map_err(system)?
                .unwrap_or(Ipv4Addr::LOCALHOST.into()),
        };
        let listener = listen(host, &network.ports)?;
        let address = listener.local_addr().map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let stop = Arc::new(AtomicBool::new(false));
        let root = Arc::new(Root {
            secret: Secret::new(key),
            session: os::random().map_err(system)?,
            ranks: Mutex::default(),
            conversations: AtomicUsize::new(0),
            strangers: Strangers::default(),
            info: Mutex::default(),
        });
        // Ranks that come after those that gave up learn why.
        let (stopped, opened) = (stop.clone(), Instant::now());
        let gathering = Gathering {
            stop,
            root: root.clone(),
        };
        let limit = limit.saturating_mul(2).saturating_add(GREETING_TIME);
        let allowed = network.allowed.clone();
        thread::Builder::new()
            .name("jumar-hccl-root".to_owned())
            .spawn(move || {
                os::block_signals();
                while !stopped.load(Ordering::Acquire) && opened.elapsed() < limit {
                    match listener.accept() {
                        Ok((socket, from)) if may_connect(&allowed, from.ip(), host) => {
                            root.clone().converse(socket, from.ip());
                        }
                        Ok(_) => {}
                        Err(_) if opened.elapsed() < AT_FIRST => thread::sleep(PAUSE),
                        Err(_) => thread::sleep(LONG_PAUSE),
                    }
                }
            })
            .map_err(system)?;
        Ok((gathering, address))
    }
}

fn may_connect(allowed: &Option<Vec<IpAddr>>, from: IpAddr, own: IpAddr) -> bool {
    let Some(allowed) = allowed else { return true };
    from == own || allowed.contains(&from)
}

fn listen(host: IpAddr, ports: &[u16]) -> Result<TcpListener> {
    if ports.is_empty() {
        return TcpListener::bind((host, 0)).map_err(system);
    }
    let mut last = None;
    for port in ports {
        match TcpListener::bind((host, *port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == IoKind::AddrInUse => last = Some(*port),
            Err(error) => return Err(system(error)),
        }
    }
    let first = ports[0];
    Err(Error::new(
        ErrorKind::CommPortTaken,
        match last {
            Some(last) if last != first => {
                format!("the ports {first} to {last} of {host} are all in use")
            }
            _ => format!("port {first} of {host} is in use"),
        },
    ))
}

impl Root {
    fn converse(self: Arc<Self>, socket: TcpStream, from: IpAddr) {
        if self.conversations.fetch_add(1, Ordering::AcqRel) >= MOST_CONVERSATIONS {
            self.conversations.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let root = self.clone();
        let started = thread::Builder::new()
            .name("jumar-hccl-root".to_owned())
            .spawn(move || {
                os::block_signals();
                // A stranger, or a rank that ended: it is described to the others where it matters.
                let _ = root.listen_to(socket, from);
                root.conversations.fetch_sub(1, Ordering::AcqRel);
            });
        if started.is_err() {
            self.conversations.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn listen_to(&self, mut socket: TcpStream, from: IpAddr) -> io::Result<()> {
        socket.set_nonblocking(false)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(GREETING_TIME))?;
        socket.set_write_timeout(Some(GREETING_TIME))?;
        let number = self.strangers.enter(socket.try_clone()?);
        let greeted = self.greet(&mut socket);
        self.strangers.leave(number);
        greeted?;
        let (kind, hello) = read_frame(&socket)?;
        if kind == ASK {
            let info = self.info.lock().clone();
            return write_frame(&socket, INFO, info.as_bytes());
        }
        if kind != HELLO {
            return Err(damaged());
        }
        let mut fields = Fields(&hello);
        let (size, rank) = (fields.u32()?, fields.u32()?);
        let (machine, process) = (fields.u64()?, fields.u32()?);
        let digest = fields.u64()?;
        let name = fields.bytes()?.to_vec();
        let record = Record {
            machine,
            process,
            digest,
            name,
            host: from.to_string(),
            outbox: Outbox::new(socket.try_clone()?),
            ended: false,
            addresses: None,
        };
        if let Err(sentence) = self.enter(size, rank, record) {
            return write_frame(&socket, REFUSED, sentence.as_bytes());
        }
        socket.set_read_timeout(None)?;
        let outcome = self.answer(&socket, size, rank);
        self.leave(rank);
        outcome
    }

    /// Proves that this end knows the key, and has the other end prove it.
    fn greet(&self, socket: &mut TcpStream) -> io::Result<()> {
        let mut greeting = [0; 24];
        socket.read_exact(&mut greeting)?;
        let (form, client) = greeting.split_at(GREETING.len());
        if form != GREETING {
            return Err(damaged());
        }
        let client: [u8; 16] = client.try_into().map_err(|_| damaged())?;
        let own = os::random()?.to_le_bytes();
        socket.write_all(&own)?;
        let mut proof = [0; 16];
        socket.read_exact(&mut proof)?;
        if proof != self.secret.proof_of_client(&client, &own) {
            return Err(damaged());
        }
        // Answered last: a stranger gets no proof for a number of its own.
        socket.write_all(&self.secret.proof_of_server(&client, &own))
    }

    fn enter(&self, size: u32, rank: u32, record: Record) -> std::result::Result<(), String> {
        let mut ranks = self.ranks.lock();
        if size == 0 || size > MOST_RANKS || rank >= size {
            return Err(format!(
                "rank {rank} of {size}; there can be up to {MOST_RANKS} ranks"
            ));
        }
        if ranks.size != 0 && ranks.size != size {
            return Err(format!(
                "rank {rank} says there are {size} ranks, another rank with the same root information says {}",
                ranks.size
            ));
        }
        if let Some(other) = ranks.come.get(&rank) {
            return Err(format!(
                "rank {rank} was taken by process {} of {} before, with the same root information",
                other.process, other.host
            ));
        }
        ranks.size = size;
        let ended = ranks.come.iter().find(|(_, record)| record.ended);
        if let Some((gone, of)) = ended {
            record.outbox.send(ENDED, &of.farewell(*gone));
        }
        ranks.come.insert(rank, record);
        let all = ranks.come.values().all(|record| !record.ended);
        if all && ranks.come.len() == size as usize {
            ranks.send_table(self.session);
        }
        Ok(())
    }

    fn answer(&self, socket: &TcpStream, size: u32, rank: u32) -> io::Result<()> {
        loop {
            let (kind, content) = read_frame(socket)?;
            let mut ranks = self.ranks.lock();
            match kind {
                WHO => {
                    let present = ranks.come.iter().filter(|(_, record)| !record.ended);
                    let present = present.flat_map(|(rank, _)| rank.to_le_bytes());
                    let present: Vec<u8> = present.collect();
                    if let Some(record) = ranks.come.get(&rank) {
                        record.outbox.send(PRESENT, &present);
                    }
                }
                ADDRESSES => {
                    let mut fields = Fields(&content);
                    let addresses = (0..size).map(|_| Ok(fields.bytes()?.to_vec()));
                    let addresses: io::Result<Vec<Vec<u8>>> = addresses.collect();
                    if let Some(record) = ranks.come.get_mut(&rank) {
                        record.addresses = Some(addresses?);
                    }
                    ranks.send_addresses();
                }
                _ => return Err(damaged()),
            }
        }
    }

    /// Notes that a rank's conversation has ended.
    fn leave(&self, rank: u32) {
        let mut ranks = self.ranks.lock();
        if ranks.done {
            return;
        }
        let Some(gone) = ranks.come.get_mut(&rank) else {
            return;
        };
        gone.ended = true;
        let content = gone.farewell(rank);
        for other in ranks.come.values().filter(|other| !other.ended) {
            other.outbox.send(ENDED, &content);
        }
    }
}

impl Ranks {
    /// Sends each rank the list of all.
    fn send_table(&mut self, session: u128) {
        let mut content = session.to_le_bytes().to_vec();
        for record in self.come.values() {
            content.extend(record.machine.to_le_bytes());
            content.extend(record.process.to_le_bytes());
            content.extend(record.digest.to_le_bytes());
            put_bytes(&mut content, &record.name);
            put_bytes(&mut content, record.host.as_bytes());
        }
        for record in self.come.values() {
            record.outbox.send(TABLE, &content);
        }
        let first = self.come.values().next().map(|record| record.machine);
        self.done = self.come.values().all(|one| Some(one.machine) == first);
    }

    /// Sends each rank the addresses of the others, once all are known.
    fn send_addresses(&mut self) {
        let all = self.come.values().all(|one| one.addresses.is_some());
        if !all || self.come.len() != self.size as usize || self.handed {
            return;
        }
        for (rank, record) in &self.come {
            let mut content = Vec::new();
            for other in self.come.values() {
                let address = other
                    .addresses
                    .as_ref()
                    .and_then(|all| all.get(*rank as usize));
                put_bytes(&mut content, address.map_or(&[], Vec::as_slice));
            }
            record.outbox.send(PEERS, &content);
        }
        self.handed = true;
        self.done = true;
    }
}

/// A rank that gathers with others.
pub(crate) struct Guest<'a> {
    pub(crate) size: u32,
    pub(crate) rank: u32,
    pub(crate) name: &'a str,
    pub(crate) digest: u64,
    pub(crate) machine: u64,
    pub(crate) until: Instant,
    pub(crate) limit: Duration,
}

/// A rank that all others have gathered with.
pub(crate) struct GatheredRank {
    socket: TcpStream,
    session: u128,
    /// This machine's address on the way to the root.
    pub(super) local: IpAddr,
    size: u32,
    until: Instant,
    limit: Duration,
    /// All ranks are on one machine.
    pub(crate) one_machine: bool,
    peers: Vec<Peer>,
}

/// What a rank knows of another one.
struct Peer {
    machine: u64,
    process: u32,
    digest: u64,
    name: Vec<u8>,
    host: String,
}

fn incomplete(sentence: String) -> Error {
    Error::new(ErrorKind::CommIncomplete, sentence)
}

fn gone(address: SocketAddr, why: &dyn std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::CommRootGone,
        format!("the process that made the root information cannot be reached at {address}: {why}"),
    )
}

/// Connects to the root and waits for all ranks.
///
/// # Errors
/// `CommRootGone`: it has ended, or something else answers; `CommIncomplete`: not all ranks came; `CommDisagreement`: other
/// numbers of ranks or configurations, a rank that is taken.
pub(crate) fn gather(address: SocketAddr, key: u128, own: &Guest<'_>) -> Result<GatheredRank> {
    let socket = reach(address, own.until)?;
    let stranger = |error: io::Error| gone(address, &error);
    let local = greet(&socket, key, GREETING_TIME).map_err(stranger)?;
    let mut hello = Vec::new();
    hello.extend(own.size.to_le_bytes());
    hello.extend(own.rank.to_le_bytes());
    hello.extend(own.machine.to_le_bytes());
    hello.extend(std::process::id().to_le_bytes());
    hello.extend(own.digest.to_le_bytes());
    put_bytes(&mut hello, own.name.as_bytes());
    write_frame(&socket, HELLO, &hello).map_err(stranger)?;
    let mut gathered = GatheredRank {
        socket,
        session: 0,
        local,
        size: own.size,
        until: own.until,
        limit: own.limit,
        one_machine: true,
        peers: Vec::new(),
    };
    let table = gathered.next(TABLE)?;
    gathered.read_table(&table).map_err(stranger)?;
    for (rank, other) in gathered.peers.iter().enumerate() {
        if other.digest != own.digest || other.name != own.name.as_bytes() {
            return Err(Error::new(
                ErrorKind::CommDisagreement,
                format!(
                    "ranks {} and {rank} configure the communicator differently",
                    own.rank
                ),
            ));
        }
    }
    Ok(gathered)
}

fn reach(address: SocketAddr, until: Instant) -> Result<TcpStream> {
    loop {
        let rest = until.saturating_duration_since(Instant::now());
        let patience = rest.clamp(Duration::from_millis(1), GREETING_TIME);
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            // No process listens there any more.
            Err(error) if error.kind() == IoKind::ConnectionRefused => {
                return Err(gone(address, &error));
            }
            Err(error) if Instant::now() >= until => return Err(gone(address, &error)),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Asks the process that listens at an address for its root information.
///
/// # Errors
/// None listens there, it does not know the key, or it has none.
pub(crate) fn ask(address: SocketAddr, key: u128, patience: Duration) -> io::Result<Vec<u8>> {
    let socket = TcpStream::connect_timeout(&address, patience)?;
    greet(&socket, key, patience)?;
    write_frame(&socket, ASK, &[])?;
    match read_frame(&socket)? {
        (INFO, content) if !content.is_empty() => Ok(content),
        _ => Err(damaged()),
    }
}

fn greet(mut socket: &TcpStream, key: u128, patience: Duration) -> io::Result<IpAddr> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(patience))?;
    socket.set_write_timeout(Some(patience))?;
    let secret = Secret::new(key);
    let own = os::random()?.to_le_bytes();
    let mut greeting = GREETING.to_vec();
    greeting.extend(own);
    socket.write_all(&greeting)?;
    let mut server = [0; 16];
    socket.read_exact(&mut server)?;
    socket.write_all(&secret.proof_of_client(&own, &server))?;
    let mut proof = [0; 16];
    socket.read_exact(&mut proof)?;
    match proof == secret.proof_of_server(&own, &server) {
        true => Ok(socket.local_addr()?.ip()),
        false => Err(io::Error::other("another program answers there")),
    }
}

impl GatheredRank {
    /// Waits for a frame from the root.
    fn next(&mut self, wanted: u8) -> Result<Vec<u8>> {
        let mut asked = false;
        loop {
            let rest = self.until.saturating_duration_since(Instant::now());
            let rest = match asked {
                true => GREETING_TIME,
                false => rest.max(Duration::from_millis(1)),
            };
            let lost = |error: io::Error| {
                incomplete(format!(
                    "the process that made the root information ended while {} ranks were creating a communicator: {error}",
                    self.size
                ))
            };
            self.socket.set_read_timeout(Some(rest)).map_err(lost)?;
            let (kind, content) = match read_frame(&self.socket) {
                Ok(frame) => frame,
                Err(error) if !asked && is_timeout(&error) => {
                    asked = true;
                    write_frame(&self.socket, WHO, &[]).map_err(lost)?;
                    continue;
                }
                Err(error) => return Err(lost(error)),
            };
            match kind {
                kind if kind == wanted => return Ok(content),
                REFUSED => {
                    let sentence = String::from_utf8_lossy(&content).into_owned();
                    return Err(Error::new(ErrorKind::CommDisagreement, sentence));
                }
                ENDED => return Err(self.ended(&content).map_err(lost)?),
                PRESENT => {
                    let come: Vec<u32> = content
                        .chunks_exact(4)
                        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                        .collect();
                    let missing: Vec<u32> =
                        (0..self.size).filter(|rank| !come.contains(rank)).collect();
                    let who = match missing.is_empty() {
                        true => "the addresses of all ranks".to_owned(),
                        false => ranks(&missing),
                    };
                    return Err(incomplete(format!(
                        "{who} of {} did not come within {} s",
                        self.size,
                        self.limit.as_secs_f64()
                    )));
                }
                _ => return Err(lost(damaged())),
            }
        }
    }

    fn ended(&self, content: &[u8]) -> io::Result<Error> {
        let mut fields = Fields(content);
        let (rank, process) = (fields.u32()?, fields.u32()?);
        let host = String::from_utf8_lossy(fields.bytes()?).into_owned();
        Ok(incomplete(format!(
            "rank {rank} (process {process} of {host}) ended while {} ranks were creating a communicator",
            self.size
        )))
    }

    fn read_table(&mut self, content: &[u8]) -> io::Result<()> {
        let mut fields = Fields(content);
        let (low, high) = (fields.u64()?, fields.u64()?);
        self.session = u128::from(low) | u128::from(high) << 64;
        for _ in 0..self.size {
            self.peers.push(Peer {
                machine: fields.u64()?,
                process: fields.u32()?,
                digest: fields.u64()?,
                name: fields.bytes()?.to_vec(),
                host: String::from_utf8_lossy(fields.bytes()?).into_owned(),
            });
        }
        let first = self.peers.first().map(|peer| peer.machine);
        self.one_machine = self.peers.iter().all(|peer| Some(peer.machine) == first);
        Ok(())
    }

    pub(super) fn session(&self) -> u128 {
        self.session
    }

    /// Returns how messages name the process of each rank.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.peers.iter();
        names
            .map(|peer| format!("process {} of {}", peer.process, peer.host))
            .collect()
    }

    /// Sends the addresses at which each rank finds this one, and returns those at which this one finds each rank.
    ///
    /// # Errors
    /// `CommIncomplete`: a rank ended or did not come.
    pub(super) fn exchange(&mut self, own: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let lost = |error: io::Error| incomplete(format!("the root was lost: {error}"));
        let mut content = Vec::new();
        own.iter()
            .for_each(|address| put_bytes(&mut content, address));
        write_frame(&self.socket, ADDRESSES, &content).map_err(lost)?;
        let content = self.next(PEERS)?;
        let mut fields = Fields(&content);
        let peers = (0..self.size).map(|_| {
            let address = fields.bytes()?;
            match address.len() <= MOST_ADDRESS_BYTES {
                true => Ok(address.to_vec()),
                false => Err(damaged()),
            }
        });
        peers.collect::<io::Result<Vec<_>>>().map_err(lost)
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), IoKind::WouldBlock | IoKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u128 = 77;
    const LIMIT: Duration = Duration::from_secs(30);

    fn local(ports: Vec<u16>) -> Network {
        Network {
            host: Some(Ipv4Addr::LOCALHOST.into()),
            ports,
            allowed: None,
        }
    }

    fn come(address: SocketAddr, key: u128, rank: u32, limit: Duration) -> Result<GatheredRank> {
        let guest = Guest {
            size: 2,
            rank,
            name: "tested",
            digest: 5,
            machine: u64::from(rank),
            until: Instant::now() + limit,
            limit,
        };
        gather(address, key, &guest)
    }

    #[test]
    fn a_port_that_is_taken_is_refused_and_the_next_one_is_used() {
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = |of: &TcpListener| of.local_addr().expect("an address").port();
        let (holder, other) = (bind(), bind());
        let (taken, free) = (port(&holder), port(&other));
        drop(other);
        let open = |ports| Gathering::open(KEY, &local(ports), LIMIT);
        let error = open(vec![taken]).map(drop).expect_err("it is in use");
        assert_eq!(error.kind(), ErrorKind::CommPortTaken);
        assert!(error.sentence().contains(&taken.to_string()), "{error}");
        let (_gathering, address) = open(vec![taken, free]).expect("the second is free");
        assert_eq!(address.port(), free);
        drop(holder);
    }

    #[test]
    fn ranks_learn_of_each_other_and_strangers_of_nothing() {
        let (_gathering, address) =
            Gathering::open(KEY, &local(Vec::new()), LIMIT).expect("a port");
        let stranger = come(address, KEY + 1, 0, LIMIT)
            .map(drop)
            .expect_err("a wrong key");
        assert_eq!(stranger.kind(), ErrorKind::CommRootGone);
        let mut noise = TcpStream::connect(address).expect("it listens");
        noise.write_all(&[0xff; 64]).expect("it reads");
        thread::scope(|scope| {
            let first = scope.spawn(|| come(address, KEY, 0, LIMIT));
            let second = come(address, KEY, 1, LIMIT).expect("both come");
            let first = first.join().expect("no panic").expect("both come");
            assert_eq!(first.session(), second.session());
            assert!(!first.one_machine && !second.one_machine);
            let twice = come(address, KEY, 1, LIMIT)
                .map(drop)
                .expect_err("it is taken");
            assert_eq!(twice.kind(), ErrorKind::CommDisagreement);
        });
    }

    #[test]
    fn strangers_that_say_nothing_make_way_for_ranks() {
        let (_gathering, address) =
            Gathering::open(KEY, &local(Vec::new()), LIMIT).expect("a port");
        let connect = |_| TcpStream::connect(address).expect("it listens");
        let mut silent: Vec<TcpStream> = (0..2 * MOST_STRANGERS).map(connect).collect();
        thread::scope(|scope| {
            let first = scope.spawn(|| come(address, KEY, 0, LIMIT));
            come(address, KEY, 1, LIMIT).expect("both come");
            first.join().expect("no panic").expect("both come");
        });
        // Without others each could stay for as long as a greeting may take. Which come first is the system's choice.
        let until = Instant::now() + GREETING_TIME / 2;
        for stranger in &silent {
            stranger.set_nonblocking(true).expect("a socket");
        }
        let mut is_cut_off = || {
            silent
                .iter_mut()
                .any(|stranger| matches!(stranger.read(&mut [0; 16]), Ok(0)))
        };
        while !is_cut_off() {
            assert!(Instant::now() < until, "none has been cut off");
            thread::yield_now();
        }
    }

    #[test]
    fn ranks_that_know_the_key_are_handed_the_root_information() {
        let (gathering, address) = Gathering::open(KEY, &local(Vec::new()), LIMIT).expect("a port");
        assert!(ask(address, KEY, LIMIT).is_err(), "there is none yet");
        gathering.offer("information".to_owned());
        assert_eq!(
            ask(address, KEY, LIMIT).expect("it has some"),
            b"information"
        );
        assert!(ask(address, KEY + 1, LIMIT).is_err());
    }

    #[test]
    fn ranks_that_do_not_come_are_named() {
        let (_gathering, address) =
            Gathering::open(KEY, &local(Vec::new()), LIMIT).expect("a port");
        let limit = Duration::from_millis(50);
        let error = come(address, KEY, 0, limit)
            .map(drop)
            .expect_err("rank 1 is missing");
        assert_eq!(error.kind(), ErrorKind::CommIncomplete);
        assert!(
            error
                .sentence()
                .contains("rank 1 of 2 did not come within 0.05 s"),
            "{error}"
        );
    }

    #[test]
    fn addresses_that_are_not_permitted_are_dropped() {
        let network = Network {
            allowed: Some(vec!["10.0.0.1".parse().expect("an address")]),
            ..local(Vec::new())
        };
        let own: IpAddr = Ipv4Addr::LOCALHOST.into();
        let other = "10.0.0.2".parse().expect("an address");
        assert!(may_connect(&network.allowed, own, own));
        assert!(!may_connect(&network.allowed, other, own));
        assert!(may_connect(
            &network.allowed,
            "10.0.0.1".parse().expect("one"),
            own
        ));
        assert!(may_connect(&None, other, own));
    }
}
