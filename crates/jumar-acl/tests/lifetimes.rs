//! What is made anew where something was destroyed a moment before, through the safe functions.

use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use jumar_acl::generated::{calls, enums};
use jumar_acl::{Cx, Raw, Result, device, enter, hccl, mbuf, memory, rtc, tdt_channel};

/// The tests reset the device that they share.
static DEVICE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn call<T>(body: impl FnOnce(&Cx<'_>) -> Result<T>) -> std::result::Result<T, i32> {
    enter(&calls::aclrtMalloc, body)
}

fn set_device() {
    call(|cx| device::aclrtSetDevice(cx, 0)).expect("there is a device");
}

fn reset_device() {
    call(|cx| device::aclrtResetDevice(cx, 0)).expect("it is set");
}

fn dataset(with_item: bool) -> Raw {
    let made = call(|cx| {
        let made = tdt_channel::acltdtCreateDataset(cx)?;
        if with_item {
            let end = enums::ACL_TENSOR_DATA_END_OF_SEQUENCE;
            let nothing = jumar::engine::Span::EMPTY;
            let item = tdt_channel::acltdtCreateDataItem(cx, end, None, 0, 0, nothing, 0)?;
            tdt_channel::acltdtAddDataItem(cx, made, item)?;
        }
        Ok(made)
    });
    made.expect("a dataset")
}

#[test]
fn a_channel_works_whose_name_a_destroyed_one_had_that_a_thread_still_waits_for() {
    let _alone = alone();
    set_device();
    let channel = || {
        let name = Some(c"batches");
        call(|cx| tdt_channel::acltdtCreateChannelWithCapacity(cx, 0, name, 2))
    };
    let (full, empty) = (dataset(true), dataset(false));
    // The thread wakes a moment after the channel was destroyed, at a moment of its own.
    for round in 0..100 {
        let first = channel().expect("a channel");
        let (begins, begun) = mpsc::channel();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                set_device();
                begins.send(()).expect("it is received");
                let received = call(|cx| tdt_channel::acltdtReceiveTensor(cx, first, empty, -1));
                reset_device();
                received
            });
            begun.recv().expect("it begins");
            for _ in 0..200 {
                thread::yield_now();
            }
            call(|cx| tdt_channel::acltdtDestroyChannel(cx, first)).expect("it is alive");
            let second = channel().expect("a channel");
            let sent = call(|cx| tdt_channel::acltdtSendTensor(cx, second, full, 0));
            assert_eq!(sent, Ok(()), "round {round}");
            call(|cx| tdt_channel::acltdtDestroyChannel(cx, second)).expect("it is alive");
            assert!(waiting.join().expect("no panic").is_err());
        });
    }
    reset_device();
}

#[test]
fn a_communicator_frees_no_memory_of_the_program_at_the_address_of_its_buffer() {
    let _alone = alone();
    set_device();
    let made = call(|cx| hccl::HcclCommInitAll(cx, 1, Some(&[0])));
    let comm = made.expect("a communicator")[0];
    let buffer = || call(|cx| hccl::HcclGetHcclBuffer(cx, comm)).expect("a buffer");
    let (address, bytes) = buffer();
    reset_device();
    set_device();
    let own = call(|cx| memory::aclrtMalloc(cx, bytes as usize, 0)).expect("memory");
    assert_eq!(own, address, "the address is free again");
    // Its buffer went with the device, so that it has another one now.
    assert_ne!(buffer().0, own);
    reset_device();
    set_device();
    let own = call(|cx| memory::aclrtMalloc(cx, bytes as usize, 0)).expect("memory");
    let beside = call(|cx| memory::aclrtMalloc(cx, bytes as usize, 0)).expect("memory");
    call(|cx| hccl::HcclCommDestroy(cx, comm)).expect("it is alive");
    for address in [own, beside] {
        call(|cx| memory::aclrtFree(cx, address)).expect("it is the program's own");
    }
    reset_device();
}

#[test]
fn a_lowered_name_stays_where_it_is_when_its_program_is_compiled_again() {
    let _alone = alone();
    set_device();
    let source = Some(c"extern \"C\" void kernel() {}");
    let made = call(|cx| rtc::aclrtcCreateProg(cx, source, Some(c"program"), 0, None, None));
    let program = made.expect("there is a compiler");
    let name = Some(c"kernel");
    call(|cx| rtc::aclrtcAddNameExpr(cx, program, name)).expect("it is in time");
    let lowered = || {
        call(|cx| rtc::aclrtcCompileProg(cx, program, 0, None)).expect("it compiles");
        call(|cx| rtc::aclrtcGetLoweredName(cx, program, name)).expect("it is exported")
    };
    let first = lowered();
    assert_eq!(
        lowered(),
        first,
        "a program may have kept the first address"
    );
    reset_device();
}

#[test]
fn buffers_that_two_threads_append_to_each_other_form_one_chain() {
    let _alone = alone();
    set_device();
    let allocate = || call(|cx| mbuf::aclrtAllocBuf(cx, 64)).expect("memory");
    for round in 0..20_000 {
        let (a, b) = (allocate(), allocate());
        let start = Barrier::new(2);
        let append = |head, added| {
            start.wait();
            call(|cx| mbuf::aclrtAppendBufChain(cx, head, added)).is_ok()
        };
        let (first, second) = thread::scope(|scope| {
            let other = scope.spawn(|| append(b, a));
            (append(a, b), other.join().expect("no panic"))
        });
        assert!(first != second, "round {round}: one of them comes first");
        let (head, added) = if first { (a, b) } else { (b, a) };
        call(|cx| mbuf::aclrtFreeBuf(cx, added)).expect_err("it is in a chain");
        call(|cx| mbuf::aclrtFreeBuf(cx, head)).expect("it is the head");
        call(|cx| mbuf::aclrtFreeBuf(cx, added)).expect_err("it was freed with the head");
    }
    reset_device();
}
