//! The orders of dimensions in which programs pass queries, keys and values.

use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

/// An order of dimensions: batch B, heads N, length S, width D; H is heads and width joined, T batch and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Bsh,
    Sbh,
    Bsnd,
    Bnsd,
    /// Results alone.
    Nbsd,
    Tnd,
    Ntd,
}

/// A tensor with further entries of queries or of keys, and what it belongs to.
pub(super) struct Further<'a> {
    pub param: &'a str,
    pub view: View,
    /// The batch, heads and length of the queries or keys, and the name of their parameter.
    pub dims: [usize; 3],
    pub of: &'a str,
}

impl Layout {
    /// Views further entries of queries and keys as batch, heads, length, width. Their products are added, so that both have
    /// equally many entries; all other dimensions are those of what they belong to.
    pub fn further(
        self,
        cx: &mut Cx<'_>,
        dtype: DataType,
        both: [Further<'_>; 2],
    ) -> Result<(View, View), Refusal> {
        let mut views = [both[0].view; 2];
        for (slot, own) in views.iter_mut().zip(&both) {
            cx.check_dtype(&own.view, dtype)?;
            let [batch, heads, length] = own.dims;
            *slot = self.view(cx, own.view, heads)?;
            let width = slot.dims()[3];
            if slot.dims()[..3] != own.dims {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {:?}; it must be {:?}, since {} has a batch of {batch}, {heads} heads and the length {length}",
                    own.param,
                    own.view.dims(),
                    self.dims([batch, heads, length, width]),
                    own.of
                )));
            }
        }
        let [query, key] = views;
        match query.dims()[3] == key.dims()[3] {
            true => Ok((query, key)),
            false => Err(cx.invalid(format_args!(
                "{} has {} entries for each head and {} has {}; both must have equally many",
                both[0].param,
                query.dims()[3],
                both[1].param,
                key.dims()[3]
            ))),
        }
    }

    /// Returns the name by which programs choose this order.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Bsh => "BSH",
            Layout::Sbh => "SBH",
            Layout::Bsnd => "BSND",
            Layout::Bnsd => "BNSD",
            Layout::Nbsd => "NBSD",
            Layout::Tnd => "TND",
            Layout::Ntd => "NTD",
        }
    }

    pub fn named(name: &str) -> Option<Layout> {
        match name {
            "BSH" => Some(Layout::Bsh),
            "SBH" => Some(Layout::Sbh),
            "BSND" => Some(Layout::Bsnd),
            "BNSD" => Some(Layout::Bnsd),
            "NBSD" => Some(Layout::Nbsd),
            "TND" => Some(Layout::Tnd),
            "NTD" => Some(Layout::Ntd),
            _ => None,
        }
    }

    /// Reports whether all sequences lie behind each other in one dimension.
    pub fn is_joined(self) -> bool {
        matches!(self, Layout::Tnd | Layout::Ntd)
    }

    /// Views a tensor as batch, heads, length, width.
    pub fn view(self, cx: &mut Cx<'_>, view: View, heads: usize) -> Result<View, Refusal> {
        let split = |width: usize| match heads > 0 && width > 0 && width.is_multiple_of(heads) {
            true => Some(width / heads),
            false => None,
        };
        let found = match (self, view.dims()) {
            (Layout::Bnsd, &[_, own, _, _]) if own == heads => Some(view),
            (Layout::Nbsd, &[own, _, _, _]) if own == heads => Some(view.transpose(0, 1)),
            (Layout::Bsnd, &[_, _, own, _]) if own == heads => Some(view.transpose(1, 2)),
            (Layout::Tnd, &[_, own, _]) if own == heads => Some(view.transpose(0, 1).unsqueeze(0)),
            (Layout::Ntd, &[own, _, _]) if own == heads => Some(view.unsqueeze(0)),
            (Layout::Bsh, &[batch, length, all]) => match split(all) {
                Some(width) => {
                    let view = cx.reshaped(view, &[batch, length, heads, width])?;
                    Some(view.transpose(1, 2))
                }
                None => None,
            },
            (Layout::Sbh, &[length, batch, all]) => match split(all) {
                Some(width) => {
                    let view = cx.reshaped(view, &[length, batch, heads, width])?;
                    Some(view.permute(&[1, 2, 0, 3]))
                }
                None => None,
            },
            _ => None,
        };
        found.ok_or_else(|| {
            cx.invalid(format_args!(
                "{} has the shape {:?}, which does not fit the layout {} with {heads} heads",
                cx.param_of(&view),
                view.dims(),
                self.name()
            ))
        })
    }

    /// Returns the number of heads of a tensor, if its shape says it.
    pub fn heads(self, view: &View) -> Option<usize> {
        match (self, view.dims()) {
            (Layout::Bnsd, &[_, heads, _, _])
            | (Layout::Nbsd, &[heads, _, _, _])
            | (Layout::Bsnd, &[_, _, heads, _])
            | (Layout::Tnd, &[_, heads, _])
            | (Layout::Ntd, &[heads, _, _]) => Some(heads),
            _ => None,
        }
    }

    /// Returns the shape in this order of a tensor of batch, heads, length, width.
    pub fn dims(self, [batch, heads, length, width]: [usize; 4]) -> Vec<usize> {
        match self {
            Layout::Bsh => vec![batch, length, heads * width],
            Layout::Sbh => vec![length, batch, heads * width],
            Layout::Bsnd => vec![batch, length, heads, width],
            Layout::Bnsd => vec![batch, heads, length, width],
            Layout::Nbsd => vec![heads, batch, length, width],
            Layout::Tnd => vec![length, heads, width],
            Layout::Ntd => vec![heads, length, width],
        }
    }
}

/// An output in a layout: what the kernel writes, and what it is copied to where strides cannot split its dimensions.
pub(super) struct Target {
    out: View,
    /// As batch, heads, length, width.
    pub view: View,
    /// The result in the order of the layout, where it is not written to the output itself.
    staged: Option<View>,
}

impl Target {
    pub fn new(
        cx: &mut Cx<'_>,
        layout: Layout,
        out: View,
        dims: [usize; 4],
    ) -> Result<Target, Refusal> {
        cx.check_dims(&out, &layout.dims(dims))?;
        let heads = dims[1];
        let splits = match layout {
            Layout::Bsh | Layout::Sbh => out
                .reshape(&[out.dims()[0], out.dims()[1], heads, dims[3]])
                .is_some(),
            _ => true,
        };
        let (source, staged) = match splits {
            true => (out, None),
            false => {
                let staged = cx.temporary(out.dtype(), out.dims())?;
                (staged, Some(staged))
            }
        };
        let view = match out.is_empty() {
            // Nothing is written.
            true => cx.temporary(out.dtype(), &dims)?,
            false => layout.view(cx, source, heads)?,
        };
        Ok(Target { out, view, staged })
    }

    pub fn finish(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        match self.staged {
            Some(staged) => cx.copy(staged, self.out),
            None => Ok(()),
        }
    }
}
