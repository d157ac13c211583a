//! Streams of encoding channels: a structure of the program names an array of packs.

use crate::acl::{calls, types};
use crate::raw;

/// Returns the oldest stream of an encoding channel in the packs that the program provides.
///
/// # Safety
/// `stream` is null or the address of a structure, whose `pack` is null or the address of `pack_cnt` packs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_venc_get_stream(
    chn: i32,
    stream: *mut types::hi_venc_stream,
    milli_sec: i32,
) -> i32 {
    raw::status(&calls::hi_mpi_venc_get_stream, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(chn),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(milli_sec),
            ]
        })?;
        // SAFETY: the caller's contract.
        let stream = unsafe { raw::InOut::<types::hi_venc_stream>::new(stream, "stream") }?;
        let given = stream.get();
        let packs = raw::address::<types::hi_venc_pack>(given.pack);
        // SAFETY: the caller's contract; a stream without packs is refused before anything is written.
        let pack_out = unsafe { raw::Out::<types::hi_venc_pack>::new(packs, "stream.pack") }?;
        let (result, pack) = jumar_acl::himpi::hi_mpi_venc_get_stream(cx, chn, given, milli_sec)?;
        pack_out.set(pack);
        stream.set(result);
        Ok(())
    })
}
