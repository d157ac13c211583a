//! The calls whose C shims are written by hand: functions of the program become closures, as a Rust program has them.

use std::sync::Arc;

use jumar_acl::dump::DumpCallback;
use jumar_acl::enter;
use jumar_acl::error::ExceptionCallback;
use jumar_acl::generated::{calls, enums, types};
use jumar_acl::hooks::{
    AbortHook, DeviceStateHook, FinalizeHook, InitHook, SnapshotHook, StreamStateHook,
};
use jumar_acl::memcpy::{BatchCopy, NO_COPY_FAILED, batch, batch_async};
use jumar_acl::memory::MallocConfig;
use jumar_acl::prof::RangeAttributes;
use jumar_acl::tdt_queue::QueueAttrValue;
use jumar_acl::{Raw, allocator, capture, himpi, memory};

use crate::callbacks;
use crate::generated::calls::Player;
use crate::raw;
use crate::raw_args::{CallAnswer, RawArgs, Stop, span, status, value};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("aclrtLaunchCallback", launch_callback),
    ("aclrtLaunchHostFunc", launch_host_function),
    ("aclrtProcessReport", process_report),
    ("aclrtSetExceptionInfoCallback", set_exception_callback),
    ("aclrtAllocatorGetByStream", allocator_by_stream),
    ("hi_mpi_venc_get_stream", fetch_stream),
    ("hi_mpi_dvpp_get_image_info", |w| {
        let data = image_data(w, 1)?;
        with_info(
            w,
            2,
            enter(&calls::hi_mpi_dvpp_get_image_info, |cx| {
                himpi::hi_mpi_dvpp_get_image_info(cx, w.plain(0), data.as_deref())
            }),
        )
    }),
    ("hi_mpi_vdec_get_jpegd_output_info", |w| {
        let data = image_data(w, 0)?;
        with_info(
            w,
            2,
            enter(&calls::hi_mpi_vdec_get_jpegd_output_info, |cx| {
                himpi::hi_mpi_vdec_get_jpegd_output_info(cx, data.as_deref(), w.plain(1))
            }),
        )
    }),
    ("hi_mpi_png_get_image_info", |w| {
        let stream = w.input::<types::hi_img_stream>(0);
        let data = match stream {
            Some(stream) => RawArgs(&[stream.addr as u64]).slice::<u8>(0, stream.len as usize)?,
            None => None,
        };
        with_info(
            w,
            1,
            enter(&calls::hi_mpi_png_get_image_info, |cx| {
                himpi::hi_mpi_png_get_image_info(cx, data.as_deref())
            }),
        )
    }),
    ("aclrtAllocatorSetAllocAdviseFuncToDesc", |w| {
        status(enter(
            &calls::aclrtAllocatorSetAllocAdviseFuncToDesc,
            |cx| allocator::aclrtAllocatorSetAllocAdviseFuncToDesc(cx, w.plain(0), w.plain(1)),
        ))
    }),
    ("aclrtAllocatorSetAllocFuncToDesc", |w| {
        status(enter(&calls::aclrtAllocatorSetAllocFuncToDesc, |cx| {
            allocator::aclrtAllocatorSetAllocFuncToDesc(cx, w.plain(0), allocates(w.plain(1)))
        }))
    }),
    ("aclrtAllocatorSetFreeFuncToDesc", |w| {
        status(enter(&calls::aclrtAllocatorSetFreeFuncToDesc, |cx| {
            allocator::aclrtAllocatorSetFreeFuncToDesc(cx, w.plain(0), frees(w.plain(1)))
        }))
    }),
    ("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", |w| {
        status(enter(
            &calls::aclrtAllocatorSetGetAddrFromBlockFuncToDesc,
            |cx| {
                let function = addresses(w.plain(1));
                allocator::aclrtAllocatorSetGetAddrFromBlockFuncToDesc(cx, w.plain(0), function)
            },
        ))
    }),
    ("aclrtMallocForTaskScheduler", |w| {
        let attributes = attributes(w, 3)?;
        with_result(
            w,
            enter(&calls::aclrtMallocForTaskScheduler, |cx| {
                memory::aclrtMallocForTaskScheduler(cx, w.plain(1), w.plain(2), config(&attributes))
            }),
        )
    }),
    ("aclrtMallocHostWithCfg", |w| {
        let attributes = attributes(w, 2)?;
        with_result(
            w,
            enter(&calls::aclrtMallocHostWithCfg, |cx| {
                memory::aclrtMallocHostWithCfg(cx, w.plain(1), config(&attributes))
            }),
        )
    }),
    ("aclrtMallocWithCfg", |w| {
        let attributes = attributes(w, 3)?;
        with_result(
            w,
            enter(&calls::aclrtMallocWithCfg, |cx| {
                memory::aclrtMallocWithCfg(cx, w.plain(1), w.plain(2), config(&attributes))
            }),
        )
    }),
    ("acldvppMallocWithCfg", |w| {
        let attributes = attributes(w, 3)?;
        with_result(
            w,
            enter(&calls::acldvppMallocWithCfg, |cx| {
                memory::acldvppMallocWithCfg(cx, w.plain(1), w.plain(2), config(&attributes))
            }),
        )
    }),
    ("aclvdecCreateChannel", |w| {
        status(enter(&calls::aclvdecCreateChannel, |cx| {
            jumar_acl::dvpp::aclvdecCreateChannel(cx, w.plain(0), report)
        }))
    }),
    ("aclvencCreateChannel", |w| {
        status(enter(&calls::aclvencCreateChannel, |cx| {
            jumar_acl::dvpp::aclvencCreateChannel(cx, w.plain(0), report)
        }))
    }),
    ("aclvdecSetChannelDescCallback", |w| {
        status(enter(&calls::aclvdecSetChannelDescCallback, |cx| {
            jumar_acl::dvpp::aclvdecSetChannelDescCallback(cx, w.plain(0), w.plain(1))
        }))
    }),
    ("aclvencSetChannelDescCallback", |w| {
        status(enter(&calls::aclvencSetChannelDescCallback, |cx| {
            jumar_acl::dvpp::aclvencSetChannelDescCallback(cx, w.plain(0), w.plain(1))
        }))
    }),
    ("aclvdecGetChannelDescCallback", |w| {
        let call = &calls::aclvdecGetChannelDescCallback;
        value(
            enter(call, |cx| {
                jumar_acl::dvpp::aclvdecGetChannelDescCallback(cx, w.plain(0))
            }),
            0_usize,
        )
    }),
    ("aclvencGetChannelDescCallback", |w| {
        let call = &calls::aclvencGetChannelDescCallback;
        value(
            enter(call, |cx| {
                jumar_acl::dvpp::aclvencGetChannelDescCallback(cx, w.plain(0))
            }),
            0_usize,
        )
    }),
    ("aclrtMemManagedGetAttrs", managed_attributes),
    ("acltdtDequeueData", dequeue_data),
    ("acltdtSetQueueAttr", set_queue_attr),
    ("aclrtMemcpyBatch", memcpy_batch),
    ("aclmdlSetConfigOpt", set_config_option),
    ("aclopSetAttrListListInt", set_attr_lists),
    ("aclmdlLoadWithConfig", load_with_config),
    ("aclmdlRICaptureEnd", capture_end),
    ("aclmdlRICaptureGetInfo", capture_info),
    ("aclmdlRIGetStreams", graph_streams),
    ("aclmdlRIGetTasksByStream", graph_tasks),
    ("aclmdlRIDestroyRegisterCallback", on_graph_destroy),
    ("aclmdlRIDestroyUnregisterCallback", forget_on_graph_destroy),
    ("aclmdlRIAddCondTask", choose),
    ("aclrtMemcpyBatchAsync", memcpy_batch_async),
    ("aclrtMemcpyBatchAsyncV2", memcpy_batch_async_v2),
    ("aclrtMemcpyBatchV2", memcpy_batch_v2),
    ("acldumpRegCallback", dump_callback),
    ("aclprofModelUnSubscribe", |w| {
        // The descriptor stays open: it is one of the process that runs the cases.
        status(
            enter(&calls::aclprofModelUnSubscribe, |cx| {
                jumar_acl::prof::aclprofModelUnSubscribe(cx, w.plain(0))
            })
            .map(drop),
        )
    }),
    ("aclprofRangePushEx", range_with_attributes),
    ("aclrtRegDeviceStateCallback", device_state),
    ("aclrtRegStreamStateCallback", stream_state),
    ("aclrtSetDeviceTaskAbortCallback", abort_callback),
    ("aclInitCallbackRegister", init_register),
    ("aclInitCallbackUnRegister", init_unregister),
    ("aclFinalizeCallbackRegister", finalize_register),
    ("aclFinalizeCallbackUnRegister", finalize_unregister),
    ("aclrtSnapShotCallbackRegister", snapshot_register),
    ("aclrtSnapShotCallbackUnregister", snapshot_unregister),
];

/// The word of a function, and what it answers, which its name says; none for null.
fn answering(word: u64, failure: i32) -> Option<(usize, i32)> {
    let at = usize::try_from(word).ok()?.checked_sub(1)?;
    let name = jumar_testkit::language::CALLBACKS.get(at)?;
    Some((
        word as usize,
        if name.ends_with("_fails") { failure } else { 0 },
    ))
}

fn dump_callback(w: &RawArgs<'_>) -> CallAnswer {
    let function = answering(w.plain(0), 0).map(|_| {
        let taken: DumpCallback = Arc::new(|_, bytes, _| {
            callbacks::record_value(bytes.len() as u64);
            0
        });
        taken
    });
    status(enter(&calls::acldumpRegCallback, |cx| {
        jumar_acl::dump::acldumpRegCallback(cx, function, w.plain(1))
    }))
}

fn range_with_attributes(w: &RawArgs<'_>) -> CallAnswer {
    let attributes = match w.slice::<u64>(0, 2)? {
        None => None,
        Some(words) => {
            let (message, info) = ((words[0] >> 32) as u32, RawArgs(&words[1..]));
            let is_operator = message == enums::ACL_PROF_MESSAGE_TYPE_TENSOR_INFO;
            let info = info.slice::<u64>(0, if is_operator { 2 } else { 0 })?;
            Some(RangeAttributes {
                message,
                operator: info.filter(|_| is_operator).map(|info| (info[0], info[1])),
            })
        }
    };
    status(enter(&calls::aclprofRangePushEx, |cx| {
        jumar_acl::prof::aclprofRangePushEx(cx, attributes)
    }))
}

fn device_state(w: &RawArgs<'_>) -> CallAnswer {
    let name = w.text(0);
    let function = answering(w.plain(1), 0).map(|_| {
        let callback: DeviceStateHook = Arc::new(|_, state| callbacks::record_value(state.into()));
        callback
    });
    status(enter(&calls::aclrtRegDeviceStateCallback, |cx| {
        jumar_acl::device::aclrtRegDeviceStateCallback(cx, name.as_deref(), function)
    }))
}

fn stream_state(w: &RawArgs<'_>) -> CallAnswer {
    let name = w.text(0);
    let function = answering(w.plain(1), 0).map(|_| {
        let callback: StreamStateHook = Arc::new(|_, state| callbacks::record_value(state.into()));
        callback
    });
    status(enter(&calls::aclrtRegStreamStateCallback, |cx| {
        jumar_acl::stream::aclrtRegStreamStateCallback(cx, name.as_deref(), function)
    }))
}

fn abort_callback(w: &RawArgs<'_>) -> CallAnswer {
    let name = w.text(0);
    let function = answering(w.plain(1), -1).map(|(_, answer)| {
        let callback: AbortHook = Arc::new(move |_, stage, _| {
            callbacks::record_value(stage.into());
            answer
        });
        callback
    });
    status(enter(&calls::aclrtSetDeviceTaskAbortCallback, |cx| {
        jumar_acl::device::aclrtSetDeviceTaskAbortCallback(cx, name.as_deref(), function)
    }))
}

fn init_register(w: &RawArgs<'_>) -> CallAnswer {
    let function = answering(w.plain(1), 12345).map(|(address, answer)| {
        let callback: InitHook = Arc::new(move |text| {
            callbacks::record_value(text.count_bytes() as u64);
            answer
        });
        (address, callback)
    });
    status(enter(&calls::aclInitCallbackRegister, |cx| {
        jumar_acl::init::aclInitCallbackRegister(cx, w.plain(0), function)
    }))
}

fn init_unregister(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclInitCallbackUnRegister, |cx| {
        jumar_acl::init::aclInitCallbackUnRegister(cx, w.plain(0), w.plain(1))
    }))
}

fn finalize_register(w: &RawArgs<'_>) -> CallAnswer {
    let user = w.plain::<u64>(2);
    let function = answering(w.plain(1), 54321).map(|(address, answer)| {
        let callback: FinalizeHook = Arc::new(move || {
            callbacks::record_value(user);
            answer
        });
        (address, callback)
    });
    status(enter(&calls::aclFinalizeCallbackRegister, |cx| {
        jumar_acl::init::aclFinalizeCallbackRegister(cx, w.plain(0), function)
    }))
}

fn finalize_unregister(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclFinalizeCallbackUnRegister, |cx| {
        jumar_acl::init::aclFinalizeCallbackUnRegister(cx, w.plain(0), w.plain(1))
    }))
}

fn snapshot_register(w: &RawArgs<'_>) -> CallAnswer {
    let user = w.plain::<u64>(2);
    let function = answering(w.plain(1), 1).map(|(address, answer)| {
        let callback: SnapshotHook = Arc::new(move |_| {
            callbacks::record_value(user);
            answer.unsigned_abs()
        });
        (address, callback)
    });
    status(enter(&calls::aclrtSnapShotCallbackRegister, |cx| {
        jumar_acl::snapshot::aclrtSnapShotCallbackRegister(cx, w.plain(0), function)
    }))
}

fn snapshot_unregister(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclrtSnapShotCallbackUnregister, |cx| {
        jumar_acl::snapshot::aclrtSnapShotCallbackUnregister(cx, w.plain(0), w.plain(1))
    }))
}

/// Calls the table's function that a word stands for.
fn report(function: usize, _input: u64, _output: u64, data: usize) {
    if let Some(function) = callbacks::closure(function as u64, data as u64) {
        function();
    }
}

fn launch_callback(w: &RawArgs<'_>) -> CallAnswer {
    let function = callbacks::closure(w.plain(0), w.plain(1));
    status(enter(&calls::aclrtLaunchCallback, |cx| {
        jumar_acl::callback::aclrtLaunchCallback(cx, function, w.plain(2), w.plain(3))
    }))
}

fn launch_host_function(w: &RawArgs<'_>) -> CallAnswer {
    let function = callbacks::closure(w.plain(1), w.plain(2));
    status(enter(&calls::aclrtLaunchHostFunc, |cx| {
        jumar_acl::callback::aclrtLaunchHostFunc(cx, w.plain(0), function)
    }))
}

fn process_report(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclrtProcessReport, |cx| {
        jumar_acl::callback::aclrtProcessReport(cx, raw::this_thread(), w.plain(0))
    }))
}

fn set_exception_callback(w: &RawArgs<'_>) -> CallAnswer {
    let function: Option<ExceptionCallback> = (w.plain::<u64>(0) != 0).then(|| {
        let callback: ExceptionCallback = Arc::new(|_info| callbacks::counted());
        callback
    });
    status(enter(&calls::aclrtSetExceptionInfoCallback, |cx| {
        jumar_acl::error::aclrtSetExceptionInfoCallback(cx, function)
    }))
}

/// C's four parallel arrays are one list of copies here.
struct Batch {
    copies: Vec<BatchCopy>,
    attributes: Option<Vec<types::aclrtMemcpyBatchAttr>>,
    indexes: Option<Vec<usize>>,
}

fn batch_of(w: &RawArgs<'_>) -> Result<Batch, Stop> {
    let number = w.plain(4);
    let entries = |at| {
        let entries = w.slice::<usize>(at, number)?;
        entries.ok_or_else(|| Stop::NotForRust("a copy has both ends and their sizes".to_string()))
    };
    let (to, capacities, from, sizes) = (entries(0)?, entries(1)?, entries(2)?, entries(3)?);
    let copies = (0..number)
        .map(|at| {
            Ok(BatchCopy {
                to: span(to[at], sizes[at])?,
                capacity: capacities[at],
                from: span(from[at], sizes[at])?,
            })
        })
        .collect::<Result<Vec<_>, Stop>>()?;
    Ok(Batch {
        copies,
        attributes: w.slice(5, w.plain(7))?,
        indexes: w.slice(6, w.plain(7))?,
    })
}

fn failed_at(done: &Result<(), (usize, jumar_acl::Error)>) -> usize {
    done.as_ref().err().map_or(NO_COPY_FAILED, |(at, _)| *at)
}

fn memcpy_batch(w: &RawArgs<'_>) -> CallAnswer {
    let b = batch_of(w)?;
    let failed = w.out(8)?;
    status(enter(&calls::aclrtMemcpyBatch, |cx| {
        let done = batch(cx, &b.copies, b.attributes.as_deref(), b.indexes.as_deref());
        failed.set(&failed_at(&done));
        done.map_err(|(_, error)| error)
    }))
}

fn set_attr_lists(w: &RawArgs<'_>) -> CallAnswer {
    let count: i32 = w.plain(2);
    let length = usize::try_from(count).unwrap_or(0);
    let counts = w.slice::<i32>(3, length)?;
    let starts = w.slice::<usize>(4, length)?;
    let mut lists = Vec::new();
    for (&count, &start) in counts.iter().flatten().zip(starts.iter().flatten()) {
        let length = usize::try_from(count).unwrap_or(0);
        let list = RawArgs(&[start as u64]).slice::<i64>(0, length)?;
        lists.push((count, list));
    }
    let given = counts.is_some() && starts.is_some();
    let name = w.text(1);
    status(enter(&calls::aclopSetAttrListListInt, |cx| {
        for (count, list) in &lists {
            jumar_acl::single_op::check_list(*count, list.is_none())?;
        }
        let lists = lists
            .iter()
            .map(|(_, list)| list.clone().unwrap_or_default());
        let lists = given.then(|| lists.collect());
        let attr = w.plain(0);
        jumar_acl::single_op::aclopSetAttrListListInt(cx, attr, name.as_deref(), count, lists)
    }))
}

/// The value of an option may be the address of a text.
fn set_config_option(w: &RawArgs<'_>) -> CallAnswer {
    let (attr, size) = (w.plain(1), w.plain(3));
    let value = w.slice::<u8>(2, size)?;
    let text = value
        .as_ref()
        .and_then(|value| value.first_chunk())
        .filter(|_| jumar_acl::model_config::takes_text(attr))
        .and_then(|bytes| raw::text(usize::from_ne_bytes(*bytes)));
    status(enter(&calls::aclmdlSetConfigOpt, |cx| {
        jumar_acl::model_config::aclmdlSetConfigOpt(
            cx,
            w.plain(0),
            attr,
            value.as_deref(),
            size,
            text.as_deref(),
        )
    }))
}

/// A model in memory lies where the configuration says, and so do the numbers of queues.
fn load_with_config(w: &RawArgs<'_>) -> CallAnswer {
    let id = w.out(1)?;
    status(enter(&calls::aclmdlLoadWithConfig, |cx| {
        let there = jumar_acl::model_config::pointed_to(cx, w.plain(0))?;
        let bytes = there.model.map(|(address, size)| raw::read(address, size));
        let queues = there.queues.map(|queues| {
            let (address, count) = queues?;
            let bytes = raw::read(address, count * size_of::<u32>());
            let numbers = bytes.as_chunks().0.iter();
            Some(numbers.map(|number| u32::from_ne_bytes(*number)).collect())
        });
        let [inputs, outputs]: [Option<Vec<u32>>; 2] = queues;
        let read = jumar_acl::model_config::Read {
            model: bytes.as_deref(),
            queues: [inputs.as_deref(), outputs.as_deref()],
        };
        let loaded = jumar_acl::model_config::aclmdlLoadWithConfig(cx, w.plain(0), read)?;
        id.set(&loaded);
        Ok(())
    }))
}

/// The model is null when the capture failed.
fn capture_end(w: &RawArgs<'_>) -> CallAnswer {
    let model = w.out(1)?;
    status(enter(&calls::aclmdlRICaptureEnd, |cx| {
        let ended = capture::aclmdlRICaptureEnd(cx, w.plain(0));
        model.set(ended.as_ref().unwrap_or(&Raw(0)));
        ended.map(drop)
    }))
}

fn capture_info(w: &RawArgs<'_>) -> CallAnswer {
    let (at_status, model) = (w.optional(1), w.optional(2));
    if w.plain::<u64>(1) == 0 && w.plain::<u64>(2) == 0 {
        return Err(Stop::NotForRust(
            "both results are returned, so neither can be left out".to_string(),
        ));
    }
    status(enter(&calls::aclmdlRICaptureGetInfo, |cx| {
        let answer = capture::aclmdlRICaptureGetInfo(cx, w.plain(0))?;
        if w.plain::<u64>(1) != 0 {
            at_status.set(&answer.0);
        }
        if w.plain::<u64>(2) != 0 {
            model.set(&answer.1);
        }
        Ok(())
    }))
}

/// A Rust program receives the full list; the case sees as much of it as its array holds.
fn list(w: &RawArgs<'_>, all: Vec<u64>, what: &str) -> Result<jumar_acl::Result<()>, Stop> {
    let count = w.out(2)?;
    if w.plain::<u64>(1) == 0 {
        count.set(&(all.len() as u32));
        return Ok(Ok(()));
    }
    let capacity = w.input::<u32>(2).unwrap_or(0) as usize;
    let fits = capacity.min(all.len());
    let mut handles = all.clone();
    handles.resize(capacity, 0);
    w.array(1, capacity, true)?.set_all(&handles)?;
    count.set(&(fits as u32));
    Ok(match fits < all.len() {
        true => Err(capture::array_too_small(capacity, all.len(), what)),
        false => Ok(()),
    })
}

fn graph_streams(w: &RawArgs<'_>) -> CallAnswer {
    let mut stop = None;
    let done = enter(&calls::aclmdlRIGetStreams, |cx| {
        let all = capture::streams(cx, w.plain(0))?;
        list(w, all, "streams").unwrap_or_else(|why| {
            stop = Some(why);
            Ok(())
        })
    });
    stop.map_or_else(|| status(done), Err)
}

fn graph_tasks(w: &RawArgs<'_>) -> CallAnswer {
    let mut stop = None;
    let done = enter(&calls::aclmdlRIGetTasksByStream, |cx| {
        let all = capture::tasks(cx, w.plain(0))?;
        list(w, all, "tasks").unwrap_or_else(|why| {
            stop = Some(why);
            Ok(())
        })
    });
    stop.map_or_else(|| status(done), Err)
}

fn on_graph_destroy(w: &RawArgs<'_>) -> CallAnswer {
    let function = callbacks::closure(w.plain(1), w.plain(2));
    status(enter(&calls::aclmdlRIDestroyRegisterCallback, |cx| {
        let key = w.plain::<usize>(1);
        capture::aclmdlRIDestroyRegisterCallback(cx, w.plain(0), key, function)
    }))
}

fn forget_on_graph_destroy(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclmdlRIDestroyUnregisterCallback, |cx| {
        capture::aclmdlRIDestroyUnregisterCallback(cx, w.plain(0), w.plain(1))
    }))
}

/// A word cannot carry a structure.
fn choose(_: &RawArgs<'_>) -> CallAnswer {
    Err(Stop::NotForRust(
        "the structure is passed by value, and its array comes back as a result".to_string(),
    ))
}

fn memcpy_batch_v2(w: &RawArgs<'_>) -> CallAnswer {
    let b = batch_of(w)?;
    status(enter(&calls::aclrtMemcpyBatchV2, |cx| {
        batch(cx, &b.copies, b.attributes.as_deref(), b.indexes.as_deref())
            .map_err(|(_, error)| error)
    }))
}

fn memcpy_batch_async(w: &RawArgs<'_>) -> CallAnswer {
    let b = batch_of(w)?;
    let failed = w.out(8)?;
    status(enter(&calls::aclrtMemcpyBatchAsync, |cx| {
        let (attributes, indexes) = (b.attributes.as_deref(), b.indexes.as_deref());
        let done = batch_async(cx, &b.copies, attributes, indexes, w.plain(9));
        failed.set(&failed_at(&done));
        done.map_err(|(_, error)| error)
    }))
}

fn memcpy_batch_async_v2(w: &RawArgs<'_>) -> CallAnswer {
    let b = batch_of(w)?;
    status(enter(&calls::aclrtMemcpyBatchAsyncV2, |cx| {
        let (attributes, indexes) = (b.attributes.as_deref(), b.indexes.as_deref());
        batch_async(cx, &b.copies, attributes, indexes, w.plain(8)).map_err(|(_, error)| error)
    }))
}

/// An allocator of one block, which is its object: it notes the bytes, the block + 1, and the block + 2. Other numbers stand
/// for functions that are never called.
fn allocates(word: u64) -> Option<allocator::Allocate> {
    (word != 0).then(|| allocator::Function {
        number: word as usize,
        call: Arc::new(move |object: u64, bytes: usize| {
            callbacks::record_value(bytes as u64);
            match callbacks::name(word) {
                Some("cb_allocate_none") => 0,
                _ => object,
            }
        }) as Arc<dyn Fn(u64, usize) -> u64 + Send + Sync>,
    })
}

fn frees(word: u64) -> Option<allocator::Free> {
    (word != 0).then(|| allocator::Function {
        number: word as usize,
        call: Arc::new(|_: u64, block: u64| callbacks::record_value(block + 2))
            as Arc<dyn Fn(u64, u64) + Send + Sync>,
    })
}

fn addresses(word: u64) -> Option<allocator::AddressOf> {
    (word != 0).then(|| allocator::Function {
        number: word as usize,
        call: Arc::new(move |block: u64| {
            callbacks::record_value(block + 1);
            match callbacks::name(word) {
                Some("cb_address_none") => 0,
                _ => block,
            }
        }) as Arc<dyn Fn(u64) -> u64 + Send + Sync>,
    })
}

fn allocator_by_stream(w: &RawArgs<'_>) -> CallAnswer {
    let outs = (1..7).map(|at| w.out(at)).collect::<Result<Vec<_>, _>>()?;
    let found = enter(&calls::aclrtAllocatorGetByStream, |cx| {
        allocator::aclrtAllocatorGetByStream(cx, w.plain(0))
    });
    if let Ok((desc, found)) = &found {
        let words = [desc.0, found.object]
            .into_iter()
            .chain(found.numbers().map(|function| function as u64));
        for (out, word) in outs.iter().zip(words) {
            out.set(&word);
        }
    }
    status(found.map(drop))
}

/// The attributes of an allocation: the list, null or not, and its length; `None` without a configuration.
type Attributes = Option<(Option<Vec<types::aclrtMallocAttribute>>, usize)>;

fn attributes(w: &RawArgs<'_>, at: usize) -> Result<Attributes, Stop> {
    let Some(config) = w.input::<types::aclrtMallocConfig>(at) else {
        return Ok(None);
    };
    let list = RawArgs(&[config.attrs as u64]).slice(0, config.numAttrs)?;
    Ok(Some((list, config.numAttrs)))
}

fn config(attributes: &Attributes) -> Option<MallocConfig<'_>> {
    attributes.as_ref().map(|(list, count)| MallocConfig {
        attributes: list.as_deref(),
        count: *count,
    })
}

/// Writes the one result, an address, where the first argument says.
fn with_result(w: &RawArgs<'_>, made: Result<usize, i32>) -> CallAnswer {
    let out = w.out(0)?;
    if let Ok(address) = &made {
        out.set(address);
    }
    status(made.map(drop))
}

fn managed_attributes(w: &RawArgs<'_>) -> CallAnswer {
    let count = w.plain(1);
    let (wanted, capacities) = (w.slice::<u32>(0, count)?, w.slice::<usize>(5, count)?);
    let Some(buffers) = w.slice::<u64>(4, count)? else {
        return Err(Stop::NotForRust("results are returned".to_string()));
    };
    let read = enter(&calls::aclrtMemManagedGetAttrs, |cx| {
        jumar_acl::managed_memory::aclrtMemManagedGetAttrs(
            cx,
            wanted.as_deref(),
            w.plain(2),
            w.plain(3),
            capacities.as_deref(),
        )
    });
    if let Ok(values) = &read {
        for (buffer, value) in buffers.iter().zip(values) {
            let buffer = RawArgs(std::slice::from_ref(buffer));
            buffer.array(0, value.len(), false)?.set_all(value)?;
        }
    }
    status(read.map(drop))
}

/// Returns the bytes of an image that a structure names.
fn image_data(w: &RawArgs<'_>, at: usize) -> Result<Option<Vec<u8>>, Stop> {
    match w.input::<types::hi_vdec_stream>(at) {
        Some(stream) => RawArgs(&[stream.addr as u64]).slice::<u8>(0, stream.len as usize),
        None => Ok(None),
    }
}

fn with_info(w: &RawArgs<'_>, at: usize, info: Result<types::hi_img_info, i32>) -> CallAnswer {
    let out = w.out(at)?;
    if let Ok(info) = &info {
        out.set(info);
    }
    status(info.map(drop))
}

fn fetch_stream(w: &RawArgs<'_>) -> CallAnswer {
    let stream = w.out(1)?;
    let given = stream.get::<types::hi_venc_stream>();
    let packs = RawArgs(&[given.pack as u64]).out(0)?;
    let fetched = enter(&calls::hi_mpi_venc_get_stream, |cx| {
        jumar_acl::himpi::hi_mpi_venc_get_stream(cx, w.plain(0), given, w.plain(2))
    });
    if let Ok((result, pack)) = &fetched {
        packs.set(pack);
        stream.set(result);
    }
    status(fetched.map(drop))
}

fn dequeue_data(w: &RawArgs<'_>) -> CallAnswer {
    let (data, size) = (w.span(1, w.plain(2))?, w.out(3)?);
    let user = match w.plain::<u64>(4) {
        0 => jumar_acl::Span::EMPTY,
        _ => w.span(4, w.plain(5))?,
    };
    status(enter(&calls::acltdtDequeueData, |cx| {
        let callback = |bytes: usize| size.set(&bytes);
        jumar_acl::tdt_queue::dequeue_data(cx, w.plain(0), data, user, w.plain(6), callback)
    }))
}

fn set_queue_attr(w: &RawArgs<'_>) -> CallAnswer {
    let (kind, length): (u32, usize) = (w.plain(1), w.plain(2));
    let is_name = kind == jumar_acl::generated::enums::ACL_TDT_QUEUE_NAME_PTR;
    let pointer = if is_name { w.slice::<u64>(3, 1)? } else { None };
    let name = pointer.and_then(|pointer| RawArgs(&pointer).text(0));
    let bytes = if is_name {
        None
    } else {
        w.slice::<u8>(3, length)?
    };
    let value = if is_name {
        QueueAttrValue::Name(name.as_deref())
    } else {
        QueueAttrValue::Bytes(bytes.as_deref())
    };
    status(enter(&calls::acltdtSetQueueAttr, |cx| {
        jumar_acl::tdt_queue::set_queue_attr(cx, w.plain(0), kind, length, value)
    }))
}
