//! Who asks: the names under which the facade's functions appear in errors and timelines.

use jumar_core::{Call, Caller, Lookups};
use jumar_types::Result;

macro_rules! calls {
    ($($name:ident = $text:literal;)*) => {
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of the statics below, numbered")]
        #[repr(u16)]
        enum Number { $($name,)* }

        $(pub(crate) static $name: Call = Call { name: $text, number: Number::$name as u16 };)*
    };
}

calls! {
    CONTEXT = "jumar::Device::context";
    DROP_CONTEXT = "jumar::Context::drop";
    SYNCHRONIZE_CONTEXT = "jumar::Context::synchronize";
    STREAM = "jumar::Context::stream";
    DROP_STREAM = "jumar::Stream::drop";
    EVENT = "jumar::Context::event";
    DROP_EVENT = "jumar::Event::drop";
    ALLOCATE = "jumar::DeviceBuffer::new";
    PIN = "jumar::PinnedBuffer::new";
    FREE = "jumar::buffer::drop";
    UPLOAD = "jumar::Stream::upload";
    DOWNLOAD = "jumar::Stream::download";
    COPY = "jumar::Stream::copy";
    FILL = "jumar::Stream::fill";
    WRITE = "jumar::Stream::write";
    READ = "jumar::Stream::read";
    RECORD = "jumar::Stream::record";
    WAIT = "jumar::Stream::wait";
    CALL = "jumar::Stream::call";
    SYNCHRONIZE = "jumar::Stream::synchronize";
    SCOPE = "jumar::Stream::scope";
    PENDING = "jumar::Pending::wait";
    SYNCHRONIZE_EVENT = "jumar::Event::synchronize";
    LOAD = "jumar::Model::load";
    RUN = "jumar::Model::run";
    READ_OUTPUT = "jumar::Outputs::read";
    DROP_MODEL = "jumar::Model::drop";
    DROP_RUNTIME = "jumar::Runtime::drop";
    CAPTURE = "jumar::Context::capture";
    LAUNCH_GRAPH = "jumar::Graph::launch";
    DROP_GRAPH = "jumar::Graph::drop";
    LOAD_KERNELS = "jumar::KernelModule::load";
    FIND_KERNEL = "jumar::KernelModule::kernel";
    DROP_KERNELS = "jumar::KernelModule::drop";
    LAUNCH = "jumar::Stream::launch";
    WRITE_PINNED = "jumar::PinnedBuffer::write";
    READ_PINNED = "jumar::PinnedBuffer::read";
}

/// Does something in the name of a function of the facade; its errors carry that name.
pub(crate) fn by<T>(call: &'static Call, work: impl FnOnce(&Caller<'_>) -> Result<T>) -> Result<T> {
    let lookups = Lookups::default();
    work(&Caller::new(call, &lookups)).map_err(|error| error.operation(call.name))
}
