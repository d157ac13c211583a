//! The functions of the second interface of images whose C shims are written by hand.

use jumar_acl::generated::{calls, types};
use jumar_acl::himpi::{self, Batch, Pyramid};
use jumar_acl::{Cx, Result, enter};

use crate::generated::calls::Player;
use crate::raw_args::{CallAnswer, Cell, RawArgs, Stop, status};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("hi_mpi_vpc_batch_crop_resize_paste", |w| {
        let call = himpi::hi_mpi_vpc_batch_crop_resize_paste;
        batch(w, &calls::hi_mpi_vpc_batch_crop_resize_paste, call)
    }),
    ("hi_mpi_vpc_batch_crop_resize_make_border", |w| {
        let call = himpi::hi_mpi_vpc_batch_crop_resize_make_border;
        batch(w, &calls::hi_mpi_vpc_batch_crop_resize_make_border, call)
    }),
    ("hi_mpi_vpc_pyrdown", pyramid),
];

fn batch<T: Cell>(
    w: &RawArgs<'_>,
    call: &'static jumar_acl::Call,
    function: impl FnOnce(&Cx<'_>, i32, &Batch<'_, T>, i32) -> Result<u32>,
) -> CallAnswer {
    // Arrays of a length that the call refuses are not read.
    let number = match w.plain::<u32>(2) as usize {
        number if himpi::check_image_count(number).is_ok() => number,
        _ => 0,
    };
    let addresses = w.slice::<u64>(1, number)?;
    let given: Option<Vec<Option<types::hi_vpc_pic_info>>> = addresses.map(|addresses| {
        let each = addresses.iter();
        each.map(|address| RawArgs(std::slice::from_ref(address)).input(0))
            .collect()
    });
    let sources: Option<Vec<Option<&types::hi_vpc_pic_info>>> = given
        .as_ref()
        .map(|given| given.iter().map(Option::as_ref).collect());
    let counts = w.slice::<u32>(4, number)?;
    // The call itself refuses counts that no batch has.
    let length = himpi::region_sum(counts.as_deref()).unwrap_or(0);
    let regions = w.slice::<T>(3, length)?;
    let task = w.out(5)?;
    let done = enter(call, |cx| {
        let given = Batch {
            sources: sources.as_deref(),
            counts: counts.as_deref(),
            regions: regions.as_deref(),
        };
        function(cx, w.plain(0), &given, w.plain(6))
    });
    if let Ok(number) = &done {
        task.set(number);
    }
    status(done.map(drop))
}

fn pyramid(w: &RawArgs<'_>) -> CallAnswer {
    let levels = w.plain::<u32>(3);
    let length = match himpi::check_levels(levels) {
        Ok(()) => levels as usize,
        Err(_) => 0,
    };
    let source = w.input(1);
    let targets = w.slice::<types::hi_vpc_pic_info>(2, length)?;
    let kernel = w.slice::<[i8; 5]>(4, 5)?;
    let border = w
        .input(6)
        .ok_or_else(|| Stop::NotForRust("a structure is there".to_owned()))?;
    let task = w.out(7)?;
    let done = enter(&calls::hi_mpi_vpc_pyrdown, |cx| {
        himpi::check_levels(levels)?;
        let pyramid = Pyramid {
            source: source.as_ref(),
            targets: targets.as_deref(),
            kernel: kernel.and_then(|rows| rows.try_into().ok()),
            divisor: w.plain(5),
            border,
        };
        himpi::hi_mpi_vpc_pyrdown(cx, w.plain(0), &pyramid, w.plain(8))
    });
    if let Ok(number) = &done {
        task.set(number);
    }
    status(done.map(drop))
}
