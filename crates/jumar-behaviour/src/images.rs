//! The batch forms of image processing, whose C shims are written by hand.

use jumar_acl::dvpp::{self, BatchArguments};
use jumar_acl::generated::calls;
use jumar_acl::{Cx, Raw, enter};

use crate::generated::calls::Player;
use crate::raw_args::{RawArgs, Stop, status};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("acldvppVpcBatchCropAsync", |w| {
        let batch = Batch::read(w, 6, None)?;
        status(enter(&calls::acldvppVpcBatchCropAsync, |cx| {
            batch.call(cx, |cx, args, _| dvpp::acldvppVpcBatchCropAsync(cx, args))
        }))
    }),
    ("acldvppVpcBatchCropResizeAsync", |w| {
        let batch = Batch::read(w, 7, None)?;
        status(enter(&calls::acldvppVpcBatchCropResizeAsync, |cx| {
            batch.call(cx, |cx, args, _| {
                dvpp::acldvppVpcBatchCropResizeAsync(cx, args, w.plain(6))
            })
        }))
    }),
    ("acldvppVpcBatchCropAndPasteAsync", |w| {
        let batch = Batch::read(w, 7, Some(6))?;
        status(enter(&calls::acldvppVpcBatchCropAndPasteAsync, |cx| {
            batch.call(cx, dvpp::acldvppVpcBatchCropAndPasteAsync)
        }))
    }),
    ("acldvppVpcBatchCropResizePasteAsync", |w| {
        let batch = Batch::read(w, 8, Some(6))?;
        status(enter(&calls::acldvppVpcBatchCropResizePasteAsync, |cx| {
            batch.call(cx, |cx, args, pastes| {
                dvpp::acldvppVpcBatchCropResizePasteAsync(cx, args, pastes, w.plain(7))
            })
        }))
    }),
    ("acldvppVpcBatchCropResizeMakeBorderAsync", |w| {
        let batch = Batch::read(w, 8, Some(6))?;
        let call = &calls::acldvppVpcBatchCropResizeMakeBorderAsync;
        status(enter(call, |cx| {
            batch.call(cx, |cx, args, borders| {
                dvpp::acldvppVpcBatchCropResizeMakeBorderAsync(cx, args, borders, w.plain(7))
            })
        }))
    }),
];

/// The arguments of a batch form, with the arrays that the program passes by address.
struct Batch {
    channel: Raw,
    sources: Raw,
    counts: Option<Vec<u32>>,
    targets: Raw,
    crops: Option<Vec<u64>>,
    /// Paste regions or borders.
    more: Option<Vec<u64>>,
    stream: Raw,
}

impl Batch {
    /// Reads the arguments; the stream is argument `stream`, and `more` the position of the further array.
    fn read(w: &RawArgs<'_>, stream: usize, more: Option<usize>) -> Result<Batch, Stop> {
        let counts = w.slice::<u32>(2, w.plain::<u32>(3) as usize)?;
        // The call itself refuses counts that no batch has.
        let regions = dvpp::region_count(counts.as_deref()).unwrap_or(0);
        Ok(Batch {
            channel: w.plain(0),
            sources: w.plain(1),
            counts,
            targets: w.plain(4),
            crops: w.slice(5, regions)?,
            more: match more {
                Some(at) => w.slice(at, regions)?,
                None => None,
            },
            stream: w.plain(stream),
        })
    }

    fn call(
        &self,
        cx: &Cx<'_>,
        work: impl FnOnce(&Cx<'_>, &BatchArguments<'_>, Option<&[u64]>) -> jumar_acl::Result<()>,
    ) -> jumar_acl::Result<()> {
        let args = BatchArguments {
            channel: self.channel,
            sources: self.sources,
            counts: self.counts.as_deref(),
            targets: self.targets,
            crops: self.crops.as_deref(),
            stream: self.stream,
        };
        work(cx, &args, self.more.as_deref())
    }
}
