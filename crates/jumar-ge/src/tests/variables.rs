//! Variables: what a run wrote counts when it succeeded, and only then.

use jumar::engine::{Stream, StreamOptions};

use super::*;

/// state = x[which], or state += x[which].
fn pick(kind: &str) -> u64 {
    let x = Op::data("x", 0, &[4], FLOAT);
    let which = Op::data("which", 1, &[1], INT32);
    let axis = Op::constant("axis", &[1], INT32, &0i32.to_le_bytes());
    let gathered = Op::new("GatherV2", "picked")
        .input("x", x)
        .input("indices", which)
        .input("axis", axis);
    let variable = Op::new("Variable", "state").described(&[1], FLOAT);
    let assign = Op::new(kind, "assign")
        .input("ref", variable)
        .input("value", gathered);
    graph("pick", &[x, which, variable], &[assign])
}

/// A session with both graphs, and a stream; inputs may lie on the host.
struct Setup {
    device: Device,
    stream: Arc<Stream>,
    session: OwnedSession,
}

const ASSIGN: u32 = 1;
const ADD: u32 = 2;

impl Setup {
    fn new() -> Setup {
        let device = Device::new();
        let stream = device
            .0
            .create_stream(StreamOptions::default())
            .expect("a stream");
        let session = OwnedSession::new();
        let options = [("ge.exec.hostInputIndexes", "0,1")];
        session.add(ASSIGN, pick("Assign"), &options);
        session.add(ADD, pick("AssignAdd"), &options);
        session.build(ASSIGN);
        session.build(ADD);
        Setup {
            device,
            stream,
            session,
        }
    }

    /// Queues `state = x[which]` or `state += x[which]`, where x is 10, 20, 30, 40.
    fn queue(&self, graph: u32, which: i32) -> GeResult<()> {
        let inputs = [host_floats(&[10.0, 20.0, 30.0, 40.0]), host_int(which)];
        self.session.run_on(self.stream.id(), graph, &inputs)
    }

    fn synchronize(&self) -> GeResult<()> {
        session::with_runtime(|_, caller| Ok(self.stream.synchronize(None, caller)?))
    }

    fn state(&self) -> std::result::Result<Vec<f32>, String> {
        self.session.variable("state")
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        let destroyed = session::with_runtime(|_, caller| {
            Ok(self.device.0.destroy_stream(&self.stream, true, caller)?)
        });
        drop(destroyed);
    }
}

const BEYOND: i32 = 1000;

#[test]
fn a_run_on_a_stream_that_fails_leaves_variables_as_they_were() {
    let _turn = alone();
    let setup = Setup::new();
    setup.queue(ASSIGN, 1).expect("queued");
    setup.synchronize().expect("assigned");
    assert_eq!(setup.state().as_deref(), Ok(&[20.0][..]));
    setup.queue(ASSIGN, BEYOND).expect("queued");
    setup.synchronize().expect_err("the index is beyond x");
    assert_eq!(setup.state().as_deref(), Ok(&[20.0][..]));
    // What comes next adds to what was there before the failure.
    setup.queue(ADD, 2).expect("queued");
    setup.synchronize().expect("added");
    assert_eq!(setup.state().as_deref(), Ok(&[50.0][..]));
}

#[test]
fn runs_that_are_queued_together_read_what_the_ones_before_wrote() {
    let _turn = alone();
    let setup = Setup::new();
    setup.queue(ASSIGN, 0).expect("queued");
    for which in [1, 2, 3] {
        setup.queue(ADD, which).expect("queued");
    }
    setup.synchronize().expect("all of them");
    assert_eq!(setup.state().as_deref(), Ok(&[100.0][..]));
}

#[test]
fn a_variable_that_only_a_failed_run_assigned_has_no_contents() {
    let _turn = alone();
    let setup = Setup::new();
    // Nothing was queued that assigns it.
    let refused = setup.queue(ADD, 0).expect_err("there are no contents");
    assert!(
        refused.text.contains("before anything was assigned"),
        "{}",
        refused.text
    );
    setup.queue(ASSIGN, BEYOND).expect("queued");
    setup
        .queue(ADD, 0)
        .expect("it is not known yet that the run before fails");
    setup.synchronize().expect_err("the index is beyond x");
    assert!(setup.state().is_err());
}

#[test]
fn a_run_from_host_memory_that_fails_leaves_variables_as_they_were() {
    let _turn = alone();
    let setup = Setup::new();
    let x = host_floats(&[10.0, 20.0, 30.0, 40.0]);
    setup
        .session
        .run(ASSIGN, &[x.clone(), host_int(3)])
        .expect("assigned");
    setup
        .session
        .run(ASSIGN, &[x, host_int(BEYOND)])
        .expect_err("the index is beyond x");
    assert_eq!(setup.state().as_deref(), Ok(&[40.0][..]));
}
