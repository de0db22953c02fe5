//! A name node and a data node on this machine that fail in ways that a test chooses. They know just enough of Hadoop's
//! protocols: messages are fields of protocol buffers, with the numbers of `ClientNamenodeProtocol.proto` and
//! `datatransfer.proto`.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A message of protocol buffers that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        self.0.push(u8::try_from(value).unwrap());
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    fn fixed64(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn fixed32(mut self, field: u64, value: u32) -> Self {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// With its length in front.
    fn delimited(&self) -> Vec<u8> {
        let mut out = Self::default();
        out.varint(self.0.len() as u64);
        out.0.extend(&self.0);
        out.0
    }
}

fn read_varint(from: &mut impl Read) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        from.read_exact(&mut byte).ok()?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            return Some(value);
        }
    }
    None
}

fn read_bytes(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(read_varint(from)?).ok()?];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// The fields of a message that are numbers or bytes; if a field is repeated, the last one.
fn fields(mut message: &[u8]) -> (BTreeMap<u64, u64>, BTreeMap<u64, Vec<u8>>) {
    let (mut numbers, mut texts) = (BTreeMap::new(), BTreeMap::new());
    while let Some(tag) = read_varint(&mut message) {
        match tag & 7 {
            0 => drop(numbers.insert(tag >> 3, read_varint(&mut message).unwrap())),
            2 => drop(texts.insert(tag >> 3, read_bytes(&mut message).unwrap())),
            kind => panic!("fields of kind {kind} are not expected"),
        }
    }
    (numbers, texts)
}

/// The faults to simulate. A function gets the number of earlier requests of its kind.
#[derive(Clone, Copy)]
pub(super) struct Faults {
    /// The exception that the name node answers a method with: its class and what it says.
    pub refuses: fn(&str, usize) -> Option<(&'static str, &'static str)>,
    /// After how many bytes of a block the data node closes the connection.
    pub cuts: fn(usize) -> Option<usize>,
    /// The time of the file, in milliseconds.
    pub modified: fn(usize) -> u64,
    /// Whether the last block is not complete, so that its bytes are unknown.
    pub is_open: bool,
    /// Whether no data node has the block.
    pub is_missing: bool,
    /// The names of files with the same content that are listed before the file, in this order.
    pub others: &'static [&'static str],
    /// How many files an answer lists.
    pub page: usize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            refuses: |_, _| None,
            cuts: |_| None,
            modified: |_| 1_386_000_000_000,
            is_open: false,
            is_missing: false,
            others: &[],
            page: 1000,
        }
    }
}

/// A name node with a file in `/logs`, and its data node. They run until the process ends.
pub(super) struct FakeHadoop {
    /// Host and port of the name node.
    pub host: String,
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    content: Vec<u8>,
    faults: Faults,
    data_port: u16,
    calls: Mutex<BTreeMap<String, usize>>,
    reads: AtomicUsize,
    starts: Mutex<Vec<u64>>,
}

impl FakeHadoop {
    pub(super) fn start(name: &str, content: Vec<u8>, faults: Faults) -> Self {
        let (names, data) =
            (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let host = names.local_addr().unwrap().to_string();
        let data_port = data.local_addr().unwrap().port();
        let (calls, reads, starts) = (Mutex::default(), AtomicUsize::new(0), Mutex::default());
        let shared =
            Arc::new(Shared { name: name.to_owned(), content, faults, data_port, calls, reads, starts });
        for (listener, serve) in
            [(names, Shared::name_node as fn(&Shared, &TcpStream) -> Option<()>), (data, Shared::data)]
        {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || serve(&shared, &stream.unwrap()));
                }
            });
        }
        Self { host, shared }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("hdfs://{}/{path}", self.host)
    }

    /// Where the reads of the data node started.
    pub(super) fn starts(&self) -> Vec<u64> {
        self.shared.starts.lock().unwrap().clone()
    }

    /// How often a method was called.
    pub(super) fn calls(&self, method: &str) -> usize {
        self.shared.calls.lock().unwrap().get(method).copied().unwrap_or_default()
    }
}

impl Shared {
    /// Answers the calls of a connection to the name node.
    fn name_node(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        reader.read_exact(&mut [0; 7]).ok()?;
        loop {
            let mut length = [0; 4];
            reader.read_exact(&mut length).ok()?;
            let mut frame = vec![0; u32::from_be_bytes(length) as usize];
            reader.read_exact(&mut frame).ok()?;
            let mut frame = frame.as_slice();
            let call = fields(&read_bytes(&mut frame)?).0[&3];
            // Calls about the connection itself have negative numbers, which are odd in this encoding.
            if call % 2 == 1 {
                continue;
            }
            let method = String::from_utf8(fields(&read_bytes(&mut frame)?).1[&1].clone()).unwrap();
            let request = read_bytes(&mut frame)?;
            let before = {
                let mut calls = self.calls.lock().unwrap();
                let count = calls.entry(method.clone()).or_default();
                *count += 1;
                *count - 1
            };
            let header = Message::default().number(1, call / 2);
            let answer = match (self.faults.refuses)(&method, before) {
                Some((class, said)) => {
                    let header = header.number(2, 1).bytes(4, class.as_bytes()).bytes(5, said.as_bytes());
                    header.delimited()
                }
                None => [header.number(2, 0).delimited(), self.answer(&method, &request, before).delimited()]
                    .concat(),
            };
            let mut out = stream;
            out.write_all(&u32::try_from(answer.len()).unwrap().to_be_bytes()).ok()?;
            out.write_all(&answer).ok()?;
        }
    }

    fn answer(&self, method: &str, request: &[u8], before: usize) -> Message {
        let path = fields(request).1.remove(&1).map(|path| String::from_utf8(path).unwrap());
        let name = path.as_deref().and_then(|path| path.strip_prefix("/logs/"));
        let is_file = name.is_some_and(|name| self.names().any(|known| known == name));
        match (method, path.as_deref()) {
            ("getFileInfo", Some("/logs")) => Message::default().message(1, &self.status("", false, 0)),
            ("getFileInfo", _) if is_file => Message::default().message(1, &self.status("", true, before)),
            ("getListing", Some("/logs")) => {
                // The name of the last file that the client knows.
                let after = String::from_utf8(fields(request).1.remove(&2).unwrap_or_default()).unwrap();
                let known = self.names().position(|name| name == after).map_or(0, |place| place + 1);
                let names: Vec<&str> = self.names().skip(known).take(self.faults.page).collect();
                let left = self.names().count() - known - names.len();
                let listing = names.into_iter().fold(Message::default(), |listing, name| {
                    listing.message(1, &self.status(name, true, 0))
                });
                Message::default().message(1, &listing.number(2, left as u64))
            }
            ("getBlockLocations", _) if is_file => Message::default().message(1, &self.blocks()),
            ("getServerDefaults", _) => Message::default().message(1, &Message::default()),
            _ => Message::default(),
        }
    }

    /// The files in the order in which they are listed.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.faults.others.iter().copied().chain([self.name.as_str()])
    }

    fn status(&self, name: &str, is_file: bool, before: usize) -> Message {
        let length = if is_file { self.content.len() as u64 } else { 0 };
        let status = Message::default().number(1, if is_file { 2 } else { 1 }).bytes(2, name.as_bytes());
        let status = status.number(3, length).message(4, &Message::default().number(1, 0o644));
        status.bytes(5, b"owner").bytes(6, b"group").number(7, (self.faults.modified)(before)).number(8, 0)
    }

    fn blocks(&self) -> Message {
        let length = self.content.len() as u64;
        if self.faults.is_open {
            return Message::default().number(1, 0).number(3, 1).number(5, 0);
        }
        let block = Message::default().bytes(1, b"pool").number(2, 1).number(3, 1).number(4, length);
        let token = Message::default().bytes(1, b"").bytes(2, b"").bytes(3, b"").bytes(4, b"");
        let id = Message::default().bytes(1, b"127.0.0.1").bytes(2, b"localhost").bytes(3, b"data-node");
        let node = id.number(4, u64::from(self.data_port)).number(5, 0).number(6, 0);
        let mut located = Message::default().message(1, &block).number(2, 0);
        if !self.faults.is_missing {
            located = located.message(3, &Message::default().message(1, &node));
        }
        let located = located.number(4, 0).message(5, &token);
        Message::default().number(1, length).message(2, &located).number(3, 0).number(5, 1)
    }

    /// Answers the reads of a connection to the data node.
    fn data(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            // The version of the protocol, and the operation: 81 reads a block.
            let mut operation = [0; 3];
            reader.read_exact(&mut operation).ok()?;
            assert_eq!(operation, [0, 28, 81]);
            let (numbers, _) = fields(&read_bytes(&mut reader)?);
            let start = numbers.get(&2).copied().unwrap_or_default();
            self.starts.lock().unwrap().push(start);
            let start = usize::try_from(start).unwrap();
            let end = start + usize::try_from(numbers[&3]).unwrap();
            let cut = (self.faults.cuts)(self.reads.fetch_add(1, Ordering::Relaxed));
            let mut out = stream;
            // Without checksums.
            let checksum = Message::default().number(1, 0).number(2, 512);
            let info = Message::default().message(1, &checksum).number(2, start as u64);
            out.write_all(&Message::default().number(1, 0).message(4, &info).delimited()).ok()?;
            let sent = cut.map_or(end, |cut| end.min(start + cut));
            for (at, piece) in (start..).step_by(1000).zip(self.content[start..sent].chunks(1000)) {
                out.write_all(&packet(at, piece)).ok()?;
            }
            if cut.is_some() {
                return stream.shutdown(Shutdown::Both).ok();
            }
            out.write_all(&packet(end, b"")).ok()?;
            read_bytes(&mut reader)?;
        }
    }
}

/// A part of a block; an empty one ends it.
fn packet(at: usize, piece: &[u8]) -> Vec<u8> {
    let length = u32::try_from(piece.len()).unwrap();
    let header = Message::default().fixed64(1, at as u64).fixed64(2, 0);
    let header = header.number(3, u64::from(piece.is_empty())).fixed32(4, length).0;
    let mut packet = (length + 4).to_be_bytes().to_vec();
    packet.extend(u16::try_from(header.len()).unwrap().to_be_bytes());
    packet.extend(header);
    packet.extend(piece);
    packet
}
