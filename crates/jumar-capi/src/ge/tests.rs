use super::*;

fn of(dims: &[i64], data: usize, bytes: usize, on_host: u64) -> Tensor {
    Tensor {
        dims: dims.as_ptr().expose_provenance(),
        rank: dims.len(),
        dtype: 0,
        format: 2,
        data,
        bytes,
        on_host,
    }
}

#[test]
fn a_tensor_has_the_layout_of_the_header() {
    let offsets = [
        std::mem::offset_of!(Tensor, dims),
        std::mem::offset_of!(Tensor, rank),
        std::mem::offset_of!(Tensor, dtype),
        std::mem::offset_of!(Tensor, format),
        std::mem::offset_of!(Tensor, data),
        std::mem::offset_of!(Tensor, bytes),
        std::mem::offset_of!(Tensor, on_host),
    ];
    // struct jumar_ge_tensor of crates/jumar-ge/cpp/wire.h in the LP64 model.
    assert_eq!(offsets, [0, 8, 16, 20, 24, 32, 40]);
    assert_eq!(size_of::<Tensor>(), 48);
}

#[test]
fn memory_that_wraps_is_refused_with_the_tensor_that_states_it() {
    let list = [of(&[2], 0x1000, 8, 0), of(&[2], usize::MAX - 3, 8, 0)];
    // SAFETY: the list is there; nothing behind the addresses is read.
    let refused = unsafe { tensors(list.as_ptr(), list.len(), "input") };
    assert_eq!(refused.err(), Some(jumar_ge::FAILED));
    let text = error_text();
    assert!(text.contains("input 1") && text.contains("data"), "{text}");
}

#[test]
fn contents_on_the_host_are_read_and_a_null_address_has_none() {
    let dims = [2, 1];
    let contents = [1u8, 2, 3, 4];
    let list = [
        of(&dims, contents.as_ptr().expose_provenance(), 4, 1),
        of(&dims, 0, 4, 1),
    ];
    // SAFETY: the list, the dimensions and the contents are there.
    let read = unsafe { tensors(list.as_ptr(), list.len(), "input") }.unwrap_or_default();
    assert_eq!(read.len(), 2);
    assert_eq!(
        (&read[0].dims[..], &read[0].bytes[..]),
        (&dims[..], &contents[..])
    );
    assert!(read[1].span.is_empty() && read[1].bytes.is_empty());
}

/// Returns the error texts of this thread.
fn error_text() -> String {
    // The call that every version answers.
    let reply = jumar_ge::call(0, 1, &[]).unwrap_or_default();
    String::from_utf8_lossy(reply.get(8..).unwrap_or_default()).into_owned()
}
