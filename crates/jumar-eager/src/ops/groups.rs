//! Groups of rows, by a list of their sizes or of their ends. Positions stay integers: float32 holds them up to 2^24 only.

use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::ops::routing::RunningSum;
use crate::view::View;

/// How a list of groups is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// The end of each group.
    Ends,
    /// The number of entries of each group.
    Counts,
}

/// Returns the group that an entry belongs to. `None` for an entry after the last group.
#[inline(always)]
pub(crate) fn group_of(list: Row<'_, i64>, sizes: Sizes, entry: usize) -> Option<usize> {
    let mut end = 0i64;
    (0..list.len()).find(|&group| {
        end = match sizes {
            Sizes::Ends => list.get(group),
            Sizes::Counts => end.saturating_add(list.get(group)),
        };
        (entry as i64) < end
    })
}

/// Reads a list of groups as dense int64.
pub(crate) fn list(
    cx: &mut Cx<'_>,
    param: &str,
    types: &[DataType],
) -> Result<Option<View>, Refusal> {
    let Some(list) = cx.optional(param)? else {
        return Ok(None);
    };
    cx.check_types(&list, types)?;
    if list.rank() != 1 {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; expected one dimension",
            list.dims()
        )));
    }
    let list = cx.cast(list, DataType::Int64)?;
    cx.dense(list).map(Some)
}

/// Reads the ends of at least one group as dense int64. The list has them, or the sizes of the groups.
pub(crate) fn ends(
    cx: &mut Cx<'_>,
    param: &str,
    types: &[DataType],
    sizes: Sizes,
) -> Result<Option<View>, Refusal> {
    let Some(list) = list(cx, param, types)? else {
        return Ok(None);
    };
    if list.is_empty() {
        return Err(cx.invalid(format_args!(
            "{param} is empty; expected at least one group"
        )));
    }
    if sizes == Sizes::Ends {
        return Ok(Some(list));
    }
    let ends = cx.temporary(DataType::Int64, list.dims())?;
    cx.kernel(Box::new(RunningSum), &[Some(list)], &[ends], false)?;
    Ok(Some(ends))
}

#[cfg(test)]
mod tests {
    use jumar_ops::view::Block;
    use jumar_types::dtype::DataType;

    use super::{Sizes, group_of};
    use crate::trial::Trial;

    /// The number of rows behind which float32 leaves odd numbers out.
    const LARGE: usize = 1 << 24;

    fn int32(values: &[usize]) -> Vec<u8> {
        let values = values.iter().map(|&value| value as i32);
        values.flat_map(i32::to_le_bytes).collect()
    }

    fn int64(values: &[usize]) -> Vec<u8> {
        let values = values.iter().map(|&value| value as i64);
        values.flat_map(i64::to_le_bytes).collect()
    }

    #[test]
    fn blocks_of_groups_end_at_odd_rows_beyond_2_to_the_24() {
        // 1 everywhere, and 256 from the end of the first group on.
        let (rows, end) = (LARGE + 3, LARGE + 1);
        let mut x = vec![0u8; 2 * rows];
        for (row, half) in x.chunks_mut(2).enumerate() {
            let value: u16 = if row < end { 0x3c00 } else { 0x5c00 };
            half.copy_from_slice(&value.to_le_bytes());
        }
        let pairs = rows / 64 + 2;
        let done = Trial::new("aclnnGroupedDynamicMxQuant")
            .tensor("x", DataType::Float16, &[rows, 1], x)
            .tensor("groupIndex", DataType::Int32, &[2], int32(&[end, rows]))
            .text("roundMode", "rint")
            .int("dstType", i64::from(DataType::Float8E4M3Fn.acl()))
            .int("blocksize", 32)
            .output("y", DataType::Float8E4M3Fn, &[rows, 1])
            .output("mxscale", DataType::Float8E8M0, &[pairs, 1, 2])
            .run();
        // The largest of a block becomes 2^8 whichever block it is: each scale is that of its own largest value.
        let scales = done.bytes("mxscale");
        assert_eq!(scales[(end - 1) / 32], 127 - 8);
        assert_eq!(scales[2 * (end / 64 + 1)], 127);
        let codes = &done.bytes("y")[end - 2..];
        assert!(codes.iter().all(|&code| code == codes[0]), "{codes:?}");
    }

    #[test]
    fn rows_belong_to_their_group_beyond_2_to_the_24() {
        let groups = |entries: &[usize], sizes: Sizes, row: usize| {
            let mut block = Block::of(&int64(entries));
            let list = block.region().scratch::<i64>(entries.len()).unwrap();
            group_of(list.as_row(), sizes, row)
        };
        for end in [LARGE + 1, (1 << 40) + 1, (1 << 53) + 1] {
            for (sizes, second) in [(Sizes::Ends, end + 2), (Sizes::Counts, 2)] {
                let group = |row: usize| groups(&[end, second], sizes, row);
                assert_eq!(group(end - 1), Some(0));
                assert_eq!(group(end), Some(1));
                assert_eq!(group(end + 1), Some(1));
                assert_eq!(group(end + 2), None);
            }
        }
    }
}
