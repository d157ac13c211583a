//! Every kind of operation, over every type, with 1 to 8 ranks.

use std::sync::Arc;

use jumar_hal::Span;
use jumar_hccl::{
    Collective, Communicator, DataType, Kind, Operation, Pieces, Reduction, Signature, digest,
};

use crate::harness::{Machine, Random, Way, all, run, ways};
use crate::reference::{combined, elements, same};

/// The buffers of one rank.
struct Buffers {
    send: Span,
    receive: Span,
}

/// One operation with the counts that each rank provides to each rank.
struct Case {
    kind: Kind,
    of: DataType,
    by: Option<Reduction>,
    root: usize,
    /// By the rank that sends, then by the one that receives.
    counts: Vec<Vec<usize>>,
}

fn each(spans: impl Iterator<Item = Option<Span>>) -> Pieces {
    Pieces::Each(spans.collect())
}

impl Case {
    fn size(&self) -> usize {
        self.counts.len()
    }

    /// How many elements a rank sends, laid out for each rank behind each other where the kind has it so.
    fn send_count(&self, rank: usize) -> usize {
        match self.kind {
            Kind::AllReduce | Kind::Reduce | Kind::AllGather | Kind::AllGatherV => {
                self.counts[rank].iter().copied().max().unwrap_or(0)
            }
            Kind::Broadcast if rank == self.root => {
                self.counts[rank].iter().copied().max().unwrap_or(0)
            }
            Kind::Broadcast | Kind::Barrier => 0,
            Kind::Scatter if rank != self.root => 0,
            _ => self.counts[rank].iter().sum(),
        }
    }

    fn receive_count(&self, rank: usize) -> usize {
        match self.kind {
            Kind::AllReduce | Kind::ReduceScatter | Kind::ReduceScatterV => self.counts[0][rank],
            Kind::Reduce if rank == self.root => self.counts[0][rank],
            Kind::Reduce | Kind::Barrier => 0,
            Kind::Broadcast if rank == self.root => 0,
            Kind::Broadcast | Kind::Scatter => self.counts[self.root][rank],
            _ => self.counts.iter().map(|sender| sender[rank]).sum(),
        }
    }

    fn operation(&self, rank: usize, buffers: &Buffers) -> Operation {
        let size = self.size();
        let width = self.of.bytes();
        let cut = |span: Span, at: usize, count: usize| span.part(at * width, count * width);
        let separate = |counts: &[usize]| {
            let mut at = 0;
            let spans: Vec<_> = counts
                .iter()
                .map(|count| {
                    at += count;
                    cut(buffers.send, at - count, *count)
                })
                .collect();
            each(spans.into_iter())
        };
        let gathered = || {
            let mut at = 0;
            let spans: Vec<_> = (0..size)
                .map(|from| {
                    at += self.counts[from][rank];
                    cut(
                        buffers.receive,
                        at - self.counts[from][rank],
                        self.counts[from][rank],
                    )
                })
                .collect();
            each(spans.into_iter())
        };
        let only = |one: usize, span: Span| each((0..size).map(|at| (at == one).then_some(span)));
        let (send, receive) = match self.kind {
            Kind::AllReduce => (Pieces::Same(buffers.send), Pieces::Same(buffers.receive)),
            Kind::Reduce => (
                only(self.root, buffers.send),
                match rank == self.root {
                    true => Pieces::Same(buffers.receive),
                    false => Pieces::None,
                },
            ),
            Kind::ReduceScatter | Kind::ReduceScatterV => {
                (separate(&self.counts[rank]), Pieces::Same(buffers.receive))
            }
            Kind::Broadcast if rank == self.root => (
                each((0..size).map(|to| (to != rank).then_some(buffers.send))),
                Pieces::None,
            ),
            Kind::Broadcast => (Pieces::None, only(self.root, buffers.receive)),
            Kind::Scatter => (
                match rank == self.root {
                    true => separate(&self.counts[rank]),
                    false => Pieces::None,
                },
                only(self.root, buffers.receive),
            ),
            Kind::AllGather | Kind::AllGatherV | Kind::Barrier => {
                (Pieces::Same(buffers.send), gathered())
            }
            Kind::AllToAll | Kind::AllToAllV | Kind::AllToAllVC => {
                (separate(&self.counts[rank]), gathered())
            }
        };
        let rooted = matches!(self.kind, Kind::Reduce | Kind::Broadcast | Kind::Scatter);
        Operation::Collective(Collective {
            signature: Signature {
                kind: self.kind,
                data_type: self.of,
                reduction: self.by,
                root: rooted.then_some(self.root as u32),
                count: self.counts[0].iter().map(|count| *count as u64).sum(),
                digest: digest(self.counts.iter().flatten().map(|count| *count as u64)),
            },
            send,
            receive,
        })
    }

    /// What each rank has to have received.
    fn expected(&self, rank: usize, sent: &[Vec<u8>]) -> Vec<u8> {
        let width = self.of.bytes();
        let part =
            |from: usize, at: usize, count: usize| &sent[from][at * width..(at + count) * width];
        let start = |from: usize, to: usize| self.counts[from][..to].iter().sum::<usize>();
        match (self.kind, self.by) {
            (Kind::AllReduce | Kind::Reduce, Some(by)) => {
                if self.receive_count(rank) == 0 {
                    return Vec::new();
                }
                let inputs: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
                combined(self.of, by, &inputs)
            }
            (_, Some(by)) => {
                let count = self.counts[0][rank];
                let inputs: Vec<&[u8]> = (0..self.size())
                    .map(|from| part(from, start(from, rank), count))
                    .collect();
                combined(self.of, by, &inputs)
            }
            (Kind::Barrier, _) => Vec::new(),
            (Kind::Broadcast, _) if rank == self.root => Vec::new(),
            (Kind::Broadcast, _) => sent[self.root].clone(),
            (Kind::Scatter, _) => {
                let (at, count) = (start(self.root, rank), self.counts[self.root][rank]);
                part(self.root, at, count).to_vec()
            }
            (Kind::AllGather | Kind::AllGatherV, _) => sent.concat(),
            _ => (0..self.size())
                .flat_map(|from| part(from, start(from, rank), self.counts[from][rank]).to_vec())
                .collect(),
        }
    }
}

/// Counts for a kind: equal ones, or different ones where the kind allows it.
fn counts(kind: Kind, size: usize, count: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let mut vary = || (count as u64 / 2 + random.below(count as u64 + 1)) as usize;
    match kind {
        Kind::Barrier => vec![vec![0; size]; size],
        Kind::AllGatherV => (0..size).map(|_| vec![vary(); size]).collect(),
        Kind::ReduceScatterV => {
            let row: Vec<usize> = (0..size).map(|_| vary()).collect();
            vec![row; size]
        }
        Kind::AllToAllV | Kind::AllToAllVC => (0..size)
            .map(|_| (0..size).map(|_| vary()).collect())
            .collect(),
        _ => vec![vec![count; size]; size],
    }
}

fn check(
    machine: &Machine,
    ranks: &[Arc<Communicator>],
    case: &Case,
    random: &mut Random,
    way: Way,
) {
    let size = case.size();
    let sent: Vec<Vec<u8>> = (0..size)
        .map(|rank| elements(case.of, case.send_count(rank), random))
        .collect();
    let buffers: Vec<Buffers> = (0..size)
        .map(|rank| Buffers {
            send: machine.buffer(&sent[rank]),
            receive: machine.buffer(&vec![0x5a; case.receive_count(rank) * case.of.bytes()]),
        })
        .collect();
    let operations = (0..size)
        .map(|rank| case.operation(rank, &buffers[rank]))
        .collect();
    for (rank, outcome) in all(ranks, operations).into_iter().enumerate() {
        outcome.unwrap_or_else(|error| panic!("{way:?}, rank {rank}: {error}"));
        let got = machine.read(buffers[rank].receive);
        let expected = case.expected(rank, &sent);
        let by = case.by.unwrap_or(Reduction::Sum);
        let exact = case.by.is_none() && got == expected;
        assert!(
            exact || case.by.is_some() && same(case.of, by, &got, &expected),
            "{way:?}, rank {rank} of {size}: {:?} of {:?} with {:?}, counts {:?}",
            case.kind,
            case.of,
            case.by,
            case.counts
        );
        assert_eq!(
            machine.read(buffers[rank].send),
            sent[rank],
            "inputs are only read"
        );
    }
    for Buffers { send, receive } in buffers {
        machine.free(send);
        machine.free(receive);
    }
}

fn check_kind(kind: Kind) {
    let machine = Machine::new();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ kind as u64);
    for way in ways() {
        for size in 1..=8 {
            let ranks = machine.ranks(way, size as u32);
            for &of in DataType::ALL {
                let reductions = match kind.reduces() {
                    true => Reduction::ALL.map(Some).to_vec(),
                    false => vec![None],
                };
                for by in reductions {
                    if kind.unsupported(of, by).is_some() {
                        continue;
                    }
                    for count in [0, 1, 3, 41] {
                        let case = Case {
                            kind,
                            of,
                            by,
                            root: random.below(size) as usize,
                            counts: counts(kind, size as usize, count, &mut random),
                        };
                        check(&machine, &ranks, &case, &mut random, way);
                    }
                }
            }
        }
    }
}

macro_rules! every_type_and_size {
    ($($name:ident $kind:ident)*) => {
        $(
            #[test]
            fn $name() {
                check_kind(Kind::$kind);
            }
        )*
    };
}

every_type_and_size! {
    all_reduce_combines_in_rank_order AllReduce
    reduce_combines_on_the_root Reduce
    reduce_scatter_leaves_each_rank_its_part ReduceScatter
    reduce_scatter_v_leaves_each_rank_a_part_of_its_own_length ReduceScatterV
    broadcast_copies_from_the_root Broadcast
    scatter_distributes_from_the_root Scatter
    all_gather_concatenates AllGather
    all_gather_v_concatenates_different_lengths AllGatherV
    all_to_all_exchanges AllToAll
    all_to_all_v_exchanges_different_lengths AllToAllV
    all_to_all_vc_exchanges_by_a_matrix AllToAllVC
    barrier_needs_no_data Barrier
}

/// More than staging memory holds at once, and more than one helper takes.
#[test]
fn large_operations_pass_in_pieces() {
    check_large(&Machine::new(), ways());
}

/// A rank reads device memory of another process directly, and everything else through staging memory.
#[test]
fn large_operations_of_host_memory_pass_in_pieces() {
    check_large(&Machine::with_pinned_buffers(), vec![Way::SharedMemory]);
}

fn check_large(machine: &Machine, ways: Vec<Way>) {
    let mut random = Random(7);
    for way in ways {
        for size in [2, 3] {
            let ranks = machine.ranks(way, size);
            for kind in Kind::ALL {
                let by = kind.reduces().then_some(Reduction::Sum);
                for (of, count) in [(DataType::Float32, 400_003), (DataType::BFloat16, 16_411)] {
                    let case = Case {
                        kind,
                        of,
                        by,
                        root: 1,
                        counts: counts(kind, size as usize, count, &mut random),
                    };
                    check(machine, &ranks, &case, &mut random, way);
                }
            }
        }
    }
}

#[test]
fn results_have_the_same_bits_whatever_carries_them() {
    let machine = Machine::new();
    let size = 4;
    let mut random = Random(99);
    let sent: Vec<Vec<u8>> = (0..size)
        .map(|_| elements(DataType::Float32, 70_001, &mut random))
        .collect();
    let results = ways().into_iter().map(|way| {
        let ranks = machine.ranks(way, size);
        let buffers: Vec<Buffers> = sent
            .iter()
            .map(|bytes| Buffers {
                send: machine.buffer(bytes),
                receive: machine.buffer(&vec![0; bytes.len()]),
            })
            .collect();
        let case = Case {
            kind: Kind::AllReduce,
            of: DataType::Float32,
            by: Some(Reduction::Sum),
            root: 0,
            counts: vec![vec![70_001; 4]; 4],
        };
        let operations = (0..4).map(|rank| case.operation(rank, &buffers[rank]));
        for outcome in all(&ranks, operations.collect()) {
            outcome.expect("it ends");
        }
        buffers
            .iter()
            .map(|buffers| machine.read(buffers.receive))
            .collect::<Vec<_>>()
    });
    for ranks in results.collect::<Vec<_>>().windows(2) {
        assert_eq!(ranks[0], ranks[1]);
        assert!(ranks[1].iter().all(|rank| *rank == ranks[0][0]));
    }
}

/// Sums in place, and gathers and scatters whose own part lies in the large buffer.
#[test]
fn the_usual_overlaps_of_input_and_output_work() {
    let machine = Machine::new();
    let mut random = Random(3);
    let (size, count) = (4_usize, 150_007_usize);
    let of = DataType::Float32;
    for way in ways() {
        let ranks = machine.ranks(way, size as u32);
        let full = |random: &mut Random| -> (Vec<Vec<u8>>, Vec<Span>) {
            let bytes: Vec<Vec<u8>> = (0..size)
                .map(|_| elements(of, size * count, random))
                .collect();
            let spans = bytes.iter().map(|bytes| machine.buffer(bytes)).collect();
            (bytes, spans)
        };
        let signature = |kind, by| Signature {
            kind,
            data_type: of,
            reduction: by,
            root: None,
            count: count as u64,
            digest: 0,
        };
        let part = |span: Span, rank: usize| span.part(rank * count * 4, count * 4);
        let run_all = |make: &dyn Fn(usize) -> Collective| {
            let operations = (0..size).map(|rank| Operation::Collective(make(rank)));
            for outcome in all(&ranks, operations.collect()) {
                outcome.expect("it ends");
            }
        };
        // AllReduce with one buffer.
        let (bytes, spans) = full(&mut random);
        run_all(&|rank| Collective {
            signature: signature(Kind::AllReduce, Some(Reduction::Sum)),
            send: Pieces::Same(spans[rank]),
            receive: Pieces::Same(spans[rank]),
        });
        let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let expected = combined(of, Reduction::Sum, &inputs);
        for span in spans {
            assert!(same(of, Reduction::Sum, &machine.read(span), &expected));
        }
        // ReduceScatter into the own part of the input.
        let (bytes, spans) = full(&mut random);
        run_all(&|rank| Collective {
            signature: signature(Kind::ReduceScatter, Some(Reduction::Sum)),
            send: each((0..size).map(|to| part(spans[rank], to))),
            receive: part(spans[rank], rank).map_or(Pieces::None, Pieces::Same),
        });
        for (rank, span) in spans.iter().enumerate() {
            let cut = rank * count * 4..(rank + 1) * count * 4;
            let inputs: Vec<&[u8]> = bytes.iter().map(|bytes| &bytes[cut.clone()]).collect();
            let got = part(*span, rank).map(|part| machine.read(part));
            let expected = combined(of, Reduction::Sum, &inputs);
            assert!(same(of, Reduction::Sum, &got.expect("a part"), &expected));
        }
        // AllGather of the own part of the output.
        let (bytes, spans) = full(&mut random);
        run_all(&|rank| Collective {
            signature: signature(Kind::AllGather, None),
            send: part(spans[rank], rank).map_or(Pieces::None, Pieces::Same),
            receive: each((0..size).map(|from| part(spans[rank], from))),
        });
        let expected: Vec<u8> = (0..size)
            .flat_map(|rank| bytes[rank][rank * count * 4..(rank + 1) * count * 4].to_vec())
            .collect();
        for span in spans {
            assert!(machine.read(span) == expected);
        }
    }
}

/// Ranks that are ahead queue operations of which the others know nothing yet, on two communicators at once.
#[test]
fn ranks_may_run_ahead_and_use_several_communicators() {
    let machine = Machine::new();
    for way in ways() {
        let first = machine.ranks(way, 3);
        let second = machine.ranks(way, 3);
        let buffers: Vec<Span> = (0..6).map(|_| machine.buffer(&[0; 4])).collect();
        std::thread::scope(|scope| {
            for rank in 0..3 {
                for (index, ranks) in [&first, &second].into_iter().enumerate() {
                    let span = buffers[2 * rank + index];
                    let own = ranks[rank].clone();
                    scope.spawn(move || {
                        for round in 0..200 {
                            let root = round % 3;
                            let only =
                                |at: usize| each((0..3).map(|to| (to == at).then_some(span)));
                            let (send, receive) = match root == rank {
                                true => {
                                    jumar_cpu::write(span, &(round as u32).to_le_bytes());
                                    let others = (0..3).map(|to| (to != rank).then_some(span));
                                    (each(others), Pieces::None)
                                }
                                false => (Pieces::None, only(root)),
                            };
                            let operation = Operation::Collective(Collective {
                                signature: Signature {
                                    kind: Kind::Broadcast,
                                    data_type: DataType::Int32,
                                    reduction: None,
                                    root: Some(root as u32),
                                    count: 1,
                                    digest: 0,
                                },
                                send,
                                receive,
                            });
                            let queued = own.prepare(operation, false).expect("accepted");
                            run(&queued).expect("it ends");
                            let mut got = [0; 4];
                            jumar_cpu::read(span, &mut got);
                            assert_eq!(u32::from_le_bytes(got), round as u32);
                        }
                    });
                }
            }
        });
    }
}

/// A captured operation runs many times, and each time it takes the next number.
#[test]
fn a_captured_operation_runs_again_and_again_beside_others() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks(way, 2);
        let spans: Vec<Span> = (0..2u32)
            .map(|rank| machine.buffer(&(rank + 1).to_le_bytes()))
            .collect();
        let operation = |rank: usize| {
            Operation::Collective(Collective {
                signature: Signature {
                    kind: Kind::AllReduce,
                    data_type: DataType::Int32,
                    reduction: Some(Reduction::Sum),
                    root: None,
                    count: 1,
                    digest: 0,
                },
                send: Pieces::Same(spans[rank]),
                receive: Pieces::Same(spans[rank]),
            })
        };
        std::thread::scope(|scope| {
            for (rank, own) in ranks.iter().enumerate() {
                let captured = own.prepare(operation(rank), true).expect("accepted");
                let plain = operation(rank);
                scope.spawn(move || {
                    run(&captured).expect("3 on both");
                    run(&captured).expect("6 on both");
                    run(&own.prepare(plain, false).expect("accepted")).expect("12 on both");
                    run(&captured).expect("24 on both");
                });
            }
        });
        for span in spans {
            assert_eq!(machine.read(span), 24u32.to_le_bytes());
        }
    }
}
