//! Which values lie inside others.
//!
//! A value has bytes of its own, or it is another's bytes under another shape, a part of a join, or elements of a value that
//! was cut. What makes a part of a join writes it where the join wants it, and what reads a piece of a tensor reads it there,
//! so that neither joins nor cuts move anything. Along all but the outermost axes such a part does not lie densely: the
//! entries of its first dimension (the images of a batch) lie apart. That is done only where everybody who touches the
//! value can ([`Kernel::accepts_batch_stride`]); else it stays a copy.

use jumar_ops::view::Layout;
use jumar_ops::{Aliasing, InputPlacement, Kernel, OutputView, Slot};

use super::{END, Storage};
use crate::{Graph, GraphError, Node, Result};

/// How many values may lie inside each other. A lookup walks through all values that contain it.
const DEEPEST: usize = 128;

/// How many values are checked in total for whether they may be strided. Beyond that, parts are copied.
const MOST_LOOKUPS: usize = 1 << 22;

/// What the bytes of a value are.
#[derive(Clone, Debug)]
enum Link {
    /// Its own.
    Own,
    /// Another value's, perhaps under another shape.
    Same(usize),
    /// Those that a join has for it.
    Part(usize, InputPlacement),
    /// Elements of another value.
    OutputView(usize, OutputView),
}

impl Link {
    fn inside(&self) -> Option<usize> {
        match *self {
            Link::Own => None,
            Link::Same(of) | Link::Part(of, _) | Link::OutputView(of, _) => Some(of),
        }
    }
}

/// Where a value lies in the storage that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    /// The value whose storage it is.
    pub(super) root: usize,
    /// Elements from its start.
    start: usize,
    pub(super) layout: Layout,
}

impl Location {
    /// Returns the distance from the start of the storage, in bytes.
    pub(super) fn offset(&self, graph: &Graph) -> usize {
        let dtype = graph.values[self.root].ty.dtype;
        dtype.size_of(self.start).unwrap_or(0)
    }
}

/// Lays a shape over elements whose first dimension's entries are `batch_stride`.
fn laid(shape: &[usize], batch_stride: usize) -> Option<Layout> {
    let dense = Layout::dense(shape)?;
    let mut strides = [0isize; jumar_ops::view::MAX_RANK];
    let strides = &mut strides[..shape.len()];
    strides.copy_from_slice(dense.strides());
    if let Some(first) = strides.first_mut() {
        *first = isize::try_from(batch_stride).ok()?;
    }
    simple(Layout::strided(shape, strides)?)
}

/// Writes a dense layout in the one way that a dense layout is written.
fn simple(layout: Layout) -> Option<Layout> {
    match layout.is_dense() {
        true => Layout::dense(layout.shape()),
        false => layout.batch_stride().map(|_| layout),
    }
}

pub(super) struct Sharing<'a> {
    graph: &'a Graph,
    kernels: &'a [Box<dyn Kernel>],
    links: Vec<Link>,
    /// The storage of each value, by links to an older one, which are shortened as they are followed.
    owner: Vec<usize>,
    /// The values of each storage, kept at its root.
    members: Vec<Vec<usize>>,
    /// The longest way from a value to the root, kept there.
    height: Vec<usize>,
    pub(super) storage: Vec<Storage>,
    /// Who makes each value and who reads it: step and position.
    maker: Vec<Option<(usize, usize)>>,
    readers: Vec<Vec<(usize, usize)>>,
    is_output: Vec<bool>,
    lookups_left: usize,
    /// Steps for which there is nothing to do.
    pub(super) done: Vec<bool>,
}

impl<'a> Sharing<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        kernels: &'a [Box<dyn Kernel>],
        storage: Vec<Storage>,
    ) -> Sharing<'a> {
        let count = graph.values.len();
        let mut maker = vec![None; count];
        let mut readers = vec![Vec::new(); count];
        let mut is_output = vec![false; count];
        for (step, node) in graph.nodes.iter().enumerate() {
            for (index, id) in node.outputs.iter().enumerate() {
                maker[id.0 as usize] = Some((step, index));
            }
            for (index, id) in node.inputs.iter().enumerate() {
                if let Some(id) = id.filter(|_| Graph::reads_at_run(node, index)) {
                    readers[id.0 as usize].push((step, index));
                }
            }
        }
        for output in &graph.outputs {
            is_output[output.value.0 as usize] = true;
        }
        Sharing {
            graph,
            kernels,
            links: vec![Link::Own; count],
            owner: (0..count).collect(),
            members: (0..count).map(|value| vec![value]).collect(),
            height: vec![0; count],
            storage,
            maker,
            readers,
            is_output,
            lookups_left: MOST_LOOKUPS,
            done: vec![false; graph.nodes.len()],
        }
    }

    /// Decides which values share their bytes. `views`: parts of concatenations and slices do, too.
    pub(super) fn decide(&mut self, views: bool) -> Result<()> {
        let graph = self.graph;
        for (step, node) in graph.nodes.iter().enumerate() {
            for &id in &node.outputs {
                let own = &mut self.storage[id.0 as usize];
                own.first = step;
                own.last = own.last.max(step);
            }
            let Some(output) = node.outputs.first().map(|id| id.0 as usize) else {
                continue;
            };
            match node.operator.aliasing {
                Aliasing::Distinct if views => self.lay_inside(node, step, output),
                Aliasing::Distinct => {}
                Aliasing::View => {
                    if let Some(input) = node.inputs.first().copied().flatten() {
                        self.same(input.0 as usize, output);
                        let known = graph.values[output].ty.layout().is_ok();
                        if known && self.locate(output).is_none() {
                            return Err(GraphError::internal(format!(
                                "node {} reads what lies apart",
                                node.name
                            )));
                        }
                    }
                }
                Aliasing::Elementwise => {
                    if let Some(input) = self.dying_input(node, step, output) {
                        self.same(input, output);
                    }
                }
            }
        }
        Ok(())
    }

    fn root(&mut self, value: usize) -> usize {
        let mut at = value;
        while self.owner[at] != at {
            self.owner[at] = self.owner[self.owner[at]];
            at = self.owner[at];
        }
        at
    }

    /// Lets one storage continue another. The location of the older one counts, if it has one.
    fn merge(&mut self, older: usize, newer: usize) {
        if older == newer {
            return;
        }
        let new = self.storage[newer].clone();
        let old = &mut self.storage[older];
        old.buffer = old.buffer.or(new.buffer);
        old.first = old.first.min(new.first);
        old.last = old.last.max(new.last);
        self.owner[newer] = older;
        let mut added = std::mem::take(&mut self.members[newer]);
        let kept = &mut self.members[older];
        if kept.len() < added.len() {
            std::mem::swap(kept, &mut added);
        }
        kept.extend(added);
    }

    fn same(&mut self, from: usize, output: usize) {
        let of = match self.links[from] {
            Link::Same(of) => of,
            Link::Own | Link::Part(..) | Link::OutputView(..) => from,
        };
        self.links[output] = Link::Same(of);
        let root = self.root(from);
        self.storage[root].bytes = self.storage[root].bytes.max(self.storage[output].bytes);
        self.height[root] = self.height[root].max(self.depth(output));
        self.merge(root, output);
    }

    fn depth(&self, value: usize) -> usize {
        let (mut at, mut depth) = (value, 0);
        while let Some(of) = self.links[at].inside() {
            (at, depth) = (of, depth + 1);
        }
        depth
    }

    /// Finds where a value lies. `None`: that cannot be said by a first dimension whose entries lie apart.
    pub(super) fn locate(&self, value: usize) -> Option<Location> {
        let mut way = Vec::new();
        let mut at = value;
        while let Some(of) = self.links[at].inside() {
            way.push(at);
            at = of;
        }
        let mut location = Location {
            root: at,
            start: 0,
            layout: Layout::dense(&self.graph.values[at].ty.dims()?)?,
        };
        for &inner in way.iter().rev() {
            location = self.inside(&location, inner, &self.links[inner])?;
        }
        Some(location)
    }

    /// Finds where a value lies that has this link to one that lies there.
    fn inside(&self, of: &Location, value: usize, link: &Link) -> Option<Location> {
        let shape = self.graph.values[value].ty.dims()?;
        let outer = &of.layout;
        let batch_stride = outer.batch_stride()?;
        let (start, layout) = match link {
            Link::Own => (0, *outer),
            Link::Same(_) if outer.is_dense() => (0, Layout::dense(&shape)?),
            Link::Same(_) if outer.shape().first() == shape.first() => {
                (0, laid(&shape, batch_stride)?)
            }
            Link::Same(_) => return None,
            Link::Part(_, joined) => {
                let entries = outer.shape().first().copied().unwrap_or(1).max(1);
                let each = outer.elements() / entries;
                let start = joined.start / each.max(1) * batch_stride + joined.start % each.max(1);
                let layout = match joined.runs {
                    1 if outer.is_dense() => Layout::dense(&shape)?,
                    // What is joined along the first axis.
                    1 => laid(&shape, batch_stride)?,
                    runs if runs == entries && shape.first() == Some(&runs) => {
                        laid(&shape, batch_stride)?
                    }
                    _ => return None,
                };
                (start, layout)
            }
            Link::OutputView(_, seen) if outer.is_dense() => {
                let layout = Layout::strided(&shape, &seen.strides)?;
                (seen.start, simple(layout)?)
            }
            Link::OutputView(..) => return None,
        };
        Some(Location {
            root: of.root,
            start: of.start.checked_add(start)?,
            layout,
        })
    }

    /// Returns whether a value is all of the storage that it belongs to.
    pub(super) fn is_complete(&self, value: usize) -> bool {
        self.locate(value).is_some_and(|location| {
            location.start == 0
                && location.layout.is_dense()
                && self.graph.values[value].ty.bytes() == Some(self.storage[location.root].bytes)
        })
    }

    /// Finds an input of the output's own type whose bytes are not needed after this step.
    fn dying_input(&mut self, node: &Node, step: usize, output: usize) -> Option<usize> {
        let ty = &self.graph.values[output].ty;
        node.inputs.iter().flatten().find_map(|&input| {
            let input = input.0 as usize;
            let root = self.root(input);
            let storage = &self.storage[root];
            let computed = storage.buffer.is_none() && storage.first != END;
            let dies = computed && storage.last <= step && self.graph.values[input].ty == *ty;
            (dies && self.is_complete(input)).then_some(input)
        })
    }

    /// Lays parts of a join into it, or outputs of a cut over what is cut.
    fn lay_inside(&mut self, node: &Node, step: usize, output: usize) {
        let kernels = self.kernels;
        let kernel = &kernels[step];
        // Elements have to begin at bytes.
        if self.graph.values[output].ty.dtype.size().is_none() {
            return;
        }
        if kernel.as_slice_of_output(0).is_some() {
            let mut all = node.outputs.len() == 1;
            for (index, id) in node.inputs.iter().enumerate() {
                let empty = id.is_none_or(|id| self.storage[id.0 as usize].bytes == 0);
                let laid = match (id, kernel.as_slice_of_output(index)) {
                    (Some(id), Some(joined)) => self.lay_part(id.0 as usize, output, joined),
                    _ => false,
                };
                all &= laid || (empty && id.is_some_and(|id| self.is_computed(id.0 as usize)));
            }
            self.done[step] = all;
            return;
        }
        let Some(of) = node.inputs.first().copied().flatten() else {
            return;
        };
        let seen: Option<Vec<OutputView>> = (0..node.outputs.len())
            .map(|at| kernel.as_view_of_input(at))
            .collect();
        if let Some(seen) = seen {
            self.done[step] = self.lay_cuts(node, of.0 as usize, seen);
        }
    }

    /// Returns whether an operator computes a value, rather than that it is given.
    fn is_computed(&mut self, value: usize) -> bool {
        let root = self.root(value);
        let storage = &self.storage[root];
        storage.buffer.is_none() && storage.first != END
    }

    fn lay_part(&mut self, part: usize, join: usize, joined: InputPlacement) -> bool {
        let root = self.root(part);
        // A value that another operator needs at its location, or that is already a part of another, is copied.
        let free = self.is_computed(part)
            && self.storage[root].last != END
            && self.storage[root].bytes > 0
            && self.root(join) == join
            && root != join
            && self.height[root] + 1 < DEEPEST
            && self.is_complete(part);
        if !free {
            return false;
        }
        self.links[root] = Link::Part(join, joined);
        // A dense part of a dense tensor: without a visible effect.
        let dense = joined.runs == 1;
        if !dense && !self.may_lie_there(root) {
            self.links[root] = Link::Own;
            return false;
        }
        self.height[join] = self.height[join].max(self.height[root] + 1);
        self.merge(join, root);
        true
    }

    /// Returns whether all values of a storage may lie where their links say.
    fn may_lie_there(&mut self, root: usize) -> bool {
        let members = std::mem::take(&mut self.members[root]);
        let fits = members.iter().all(|&member| match self.locate(member) {
            Some(location) => self.suits(member, &location),
            None => false,
        });
        self.members[root] = members;
        fits
    }

    /// Returns whether everybody who touches a value can do so where it lies.
    fn suits(&mut self, value: usize, location: &Location) -> bool {
        if location.layout.is_dense() {
            return true;
        }
        self.lookups_left = self.lookups_left.saturating_sub(1);
        if self.lookups_left == 0 || self.is_output[value] {
            return false;
        }
        let graph = self.graph;
        if let Some((step, index)) = self.maker[value] {
            // A view of another value writes nothing.
            let written = match self.links[value] {
                Link::OutputView(..) => false,
                Link::Same(_) => graph.nodes[step].operator.aliasing != Aliasing::View,
                Link::Own | Link::Part(..) => true,
            };
            if written && !self.kernels[step].accepts_batch_stride(Slot::Output(index)) {
                return false;
            }
        }
        for at in 0..self.readers[value].len() {
            let (step, index) = self.readers[value][at];
            self.lookups_left = self.lookups_left.saturating_sub(1);
            let node = &graph.nodes[step];
            let viewed = node.operator.aliasing == Aliasing::View && index == 0;
            let fits = match node.outputs.first().filter(|_| viewed) {
                // It becomes the same bytes, if it is not so already.
                Some(output) => {
                    let output = output.0 as usize;
                    match self.inside(location, output, &Link::Same(value)) {
                        Some(there) => self.suits(output, &there),
                        None => false,
                    }
                }
                None => self.kernels[step].accepts_batch_stride(Slot::Input(index)),
            };
            if !fits {
                return false;
            }
        }
        true
    }

    /// Lets all outputs of a cut be elements of what is cut, or none.
    fn lay_cuts(&mut self, node: &Node, of: usize, seen: Vec<OutputView>) -> bool {
        let (root, depth) = (self.root(of), self.depth(of) + 1);
        let outputs: Vec<usize> = node.outputs.iter().map(|id| id.0 as usize).collect();
        let mut fits = self.height[root].max(depth) < DEEPEST;
        for (&output, seen) in outputs.iter().zip(seen) {
            self.links[output] = Link::OutputView(of, seen);
            fits = fits
                && !self.is_output[output]
                && self.storage[output].bytes > 0
                && match self.locate(output) {
                    Some(location) => self.suits(output, &location),
                    None => false,
                };
        }
        for &output in &outputs {
            if fits {
                self.merge(root, output);
            } else {
                self.links[output] = Link::Own;
            }
        }
        if fits {
            self.height[root] = self.height[root].max(depth);
        }
        fits
    }
}
