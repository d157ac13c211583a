//! The life of executors over several threads, through the safe functions.

use std::sync::Barrier;

use jumar_acl::aclnn::{self, RawArg};
use jumar_acl::generated::calls;
use jumar_acl::{Call, Cx, Raw, Result, device, enter, memory, stream};

static FIRST: Call = Call {
    name: "aclnnAddGetWorkspaceSize",
    number: u16::MAX,
};
static SECOND: Call = Call {
    name: "aclnnAdd",
    number: u16::MAX,
};
/// `ACL_FLOAT`, `ACL_FORMAT_ND`.
const FLOAT: i32 = 0;
const ND: i32 = 2;

fn number() -> usize {
    let signatures = jumar_eager::signatures::ALL.iter();
    let mut names = signatures.map(|signature| signature.name);
    let found = names.position(|name| name == "aclnnAdd");
    found.expect("aclnnAdd has a signature")
}

fn on_a_device<T>(work: impl FnOnce(&Cx<'_>) -> Result<T>) -> T {
    enter(&calls::aclrtSetDevice, |cx| device::aclrtSetDevice(cx, 0)).expect("there is a device");
    enter(&calls::aclrtMalloc, work).expect("the call works")
}

/// Plans an addition of four elements of `memory` to themselves.
fn plan(memory: usize) -> Raw {
    let planned = enter(&FIRST, |cx| {
        let dims = [4i64];
        let shape = Some(&dims[..]);
        let tensor = aclnn::aclCreateTensor(cx, shape, 1, FLOAT, None, 0, ND, shape, 1, memory)?;
        let alpha = aclnn::aclCreateScalar(cx, Some(&1f32.to_le_bytes()), FLOAT)?;
        let args = [tensor, tensor, alpha, tensor].map(|object| RawArg::Bits(object.0));
        let planned = aclnn::answer(cx, || aclnn::first_phase(cx, number(), &args))?;
        aclnn::aclDestroyTensor(cx, tensor)?;
        aclnn::aclDestroyScalar(cx, alpha)?;
        Ok(planned)
    });
    let (workspace, executor) = planned.expect("an addition can be planned");
    assert_eq!(workspace, 0);
    executor
}

fn run(executor: Raw) -> std::result::Result<(), i32> {
    enter(&SECOND, |cx| {
        aclnn::answer(cx, || {
            aclnn::second_phase(cx, number(), (0, 0), executor, Raw(0))
        })
    })
}

#[test]
fn of_threads_that_run_one_executor_at_once_exactly_one_succeeds() {
    const THREADS: usize = 4;
    let memory = on_a_device(|cx| memory::aclrtMalloc(cx, 64, 0));
    for _ in 0..50 {
        // Planned on this thread, run on others.
        let executor = plan(memory);
        let start = Barrier::new(THREADS);
        let ran: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        on_a_device(|_| Ok(()));
                        start.wait();
                        run(executor)
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|ran| ran.expect("no thread panics")).collect()
        });
        let succeeded = ran.iter().filter(|ran| ran.is_ok()).count();
        assert_eq!(succeeded, 1, "{ran:?}");
        assert!(
            ran.iter()
                .flat_map(|ran| ran.err())
                .all(|code| code == 561_103)
        );
    }
    on_a_device(|cx| stream::aclrtSynchronizeStream(cx, Raw(0)));
}

#[test]
fn a_repeatable_executor_runs_on_many_threads_until_it_is_destroyed() {
    let memory = on_a_device(|cx| memory::aclrtMalloc(cx, 64, 0));
    let executor = plan(memory);
    on_a_device(|cx| aclnn::aclSetAclOpExecutorRepeatable(cx, executor));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                on_a_device(|_| Ok(()));
                for _ in 0..20 {
                    assert_eq!(run(executor), Ok(()));
                }
            });
        }
    });
    on_a_device(|cx| aclnn::aclDestroyAclOpExecutor(cx, executor));
    assert_eq!(run(executor), Err(561_103));
    on_a_device(|cx| stream::aclrtSynchronizeStream(cx, Raw(0)));
}
