//! Large graphs and many shapes: work and memory grow as the input does.

use std::time::Duration;

use super::*;
use crate::sync::thread;

/// Returns the time that the calling thread has been on a processor; waiting for one does not count.
fn busy() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    let nanoseconds = text.split_whitespace().next().map(str::parse);
    Duration::from_nanos(nanoseconds.expect("a number").expect("nanoseconds"))
}

/// Returns the work of linking, adding, building and dropping a chain of additions that all read one constant.
fn work(nodes: usize) -> Duration {
    // A thread of its own: no other test's work is counted.
    thread::scope(|scope| {
        let chain = scope.spawn(|| {
            let before = busy();
            let x = Op::data("x", 0, &[8], FLOAT);
            let one = Op::constant("one", &[1], FLOAT, &bytes_of(&[1.0]));
            let mut all = vec![x, one];
            let mut last = x;
            for index in 0..nodes {
                let add = Op::new("Add", &format!("add_{index}"));
                last = add.input("x1", last).input("x2", one);
                all.push(last);
            }
            let id = graph("chain", &[x, one], &[last]);
            let session = OwnedSession::new();
            session.add(1, id, &[]);
            session.build(1);
            drop(session);
            for op in all {
                send(number::OP_RELEASE, |to| to.u64(op.0));
            }
            send(number::GRAPH_RELEASE, |to| to.u64(id));
            busy() - before
        });
        chain.join().expect("a chain")
    })
}

#[test]
fn a_graph_of_twenty_thousand_nodes_is_built_in_linear_work() {
    let _turn = alone();
    // The least of three: what else the machine does to the caches only adds.
    let least = |nodes| (0..3).map(|_| work(nodes)).min().expect("three");
    let (small, large) = (least(5_000), least(20_000));
    // Four times the nodes: linear work is 4 times as much, quadratic work 16 times.
    assert!(large < small * 8, "5,000: {small:?}, 20,000: {large:?}");
}

#[test]
fn a_thousand_shapes_of_a_graph_leave_as_much_memory_as_a_few() {
    let _turn = alone();
    let device = Device::new();
    let session = OwnedSession::new();
    let x = Op::data("x", 0, &[-1], FLOAT);
    let one = Op::constant("one", &[1], FLOAT, &bytes_of(&[1.0]));
    let y = Op::new("Add", "y").input("x1", x).input("x2", one);
    session.add(1, graph("plus_one", &[x], &[y]), &[]);
    let run = |count: usize| {
        let y = session.run(1, &[host_floats(&vec![2.0; count])]);
        assert_eq!(floats(&y.expect("a run")[0])[count - 1], 3.0);
    };
    // The same shapes are the latest each time, so that the same plans remain.
    let rest = |last: &dyn Fn()| {
        last();
        (16..32).for_each(run);
        let plans = session
            .inner()
            .graph(1)
            .expect("graph 1")
            .state
            .lock()
            .plans
            .len();
        (device.used(), plans)
    };
    let few = rest(&|| ());
    let many = rest(&|| (1..=1000).for_each(run));
    assert_eq!(many, few);
}
