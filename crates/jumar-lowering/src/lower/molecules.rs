//! Forces and virials of atoms from the derivatives of a model of deep potentials. The definition is DeePMD's.

use jumar_ops::OpError;

use super::formula::Formula;
use super::index::summed;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ProdForceSeA", |cx, op| {
        let pairs = Pairs::read(cx, op)?;
        let Pairs {
            frames,
            own,
            all,
            neighbours,
            ..
        } = pairs;
        let f = Formula::new(cx);
        let forces = f.sum(pairs.products(&f)?, &[3], false)?;
        let centre = f.of("Neg", f.sum(forces, &[2], false)?)?;
        let centre = f.reshape(centre, &[frames * own, 3])?;
        let forces = f.reshape(forces, &[frames * own * neighbours, 3])?;
        let atoms: Vec<i64> = (0..frames * own)
            .map(|at| at / own * all + at % own)
            .collect();
        let atoms = f.ints(&atoms);
        let others = pairs.atoms(&f)?;
        let centre = summed(cx, centre, atoms, frames * all)?;
        let others = summed(cx, forces, others, frames * all)?;
        let f = Formula::new(cx);
        Ok(vec![f.reshape(f.add(centre, others)?, &[frames, all, 3])?])
    }),
    ("ProdVirialSeA", |cx, op| {
        let pairs = Pairs::read(cx, op)?;
        let Pairs {
            frames,
            own,
            all,
            neighbours,
            ..
        } = pairs;
        let rij = op.input("rij")?;
        let count = frames * own * neighbours;
        if cx.dims(rij)?.iter().product::<i64>() != count * 3 {
            return Err(invalid(format!(
                "its input rij has the shape {:?}; {} numbers are required",
                cx.dims(rij)?,
                count * 3
            )));
        }
        let f = Formula::new(cx);
        let forces = f.sum(pairs.products(&f)?, &[3], false)?;
        let forces = f.reshape(forces, &[count, 3, 1])?;
        let virial = f.mul(forces, f.reshape(rij, &[count, 1, 3])?)?;
        let virial = f.reshape(virial, &[count, 9])?;
        let others = pairs.atoms(&f)?;
        let each = summed(cx, virial, others, frames * all)?;
        let f = Formula::new(cx);
        let each = f.reshape(each, &[frames, all, 9])?;
        let total = f.sum(each, &[1], false)?;
        Ok(vec![total, f.reshape(each, &[frames, all * 9])?])
    }),
];

/// The pairs of atoms and their neighbours.
struct Pairs {
    frames: i64,
    /// Atoms that have neighbours, and all of them.
    own: i64,
    all: i64,
    neighbours: i64,
    net: ValueId,
    environment: ValueId,
    list: ValueId,
}

impl Pairs {
    fn read(cx: &mut Cx, op: &Op<'_>) -> Result<Pairs, OpError> {
        let (net, environment) = (op.input("net_deriv")?, op.input("in_deriv")?);
        let list = op.input("nlist")?;
        let natoms = numbers(cx, op.input("natoms")?, "natoms")?;
        let (angular, radial) = (op.int("n_a_sel")?, op.int("n_r_sel")?);
        let (&[own, all, ..], neighbours) = (&natoms[..], angular.saturating_add(radial)) else {
            return Err(invalid(format!(
                "its input natoms is {natoms:?}; 2 numbers at least are required"
            )));
        };
        if own < 1 || all < own || angular < 0 || radial < 0 || neighbours < 1 {
            return Err(invalid(format!(
                "its input natoms is {natoms:?}, n_a_sel {angular} and n_r_sel {radial}; there must be atoms, and neighbours"
            )));
        }
        let dims = [net, environment, list].map(|value| cx.dims(value));
        let [net_dims, environment_dims, list_dims] = dims;
        let (net_dims, environment_dims, list_dims) = (net_dims?, environment_dims?, list_dims?);
        let frames = net_dims.first().copied().unwrap_or(0);
        let count = own.saturating_mul(neighbours);
        let fits = net_dims == [frames, count * 4]
            && environment_dims == [frames, count * 12]
            && list_dims == [frames, count];
        if !fits {
            return Err(invalid(format!(
                "its inputs net_deriv, in_deriv and nlist have the shapes {net_dims:?}, {environment_dims:?} and {list_dims:?}; rows of {}, {} and {count} numbers are required",
                count * 4,
                count * 12
            )));
        }
        Ok(Pairs {
            frames,
            own,
            all,
            neighbours,
            net,
            environment,
            list,
        })
    }

    /// Returns the products of the derivatives: for each frame, atom and neighbour four of three numbers. Missing neighbours count
    /// as well.
    fn products(&self, f: &Formula<'_>) -> Result<ValueId, OpError> {
        let (frames, own, neighbours) = (self.frames, self.own, self.neighbours);
        let net = f.reshape(self.net, &[frames, own, neighbours, 4, 1])?;
        let environment = f.reshape(self.environment, &[frames, own, neighbours, 4, 3])?;
        f.mul(net, environment)
    }

    /// Returns the number of each neighbour among the atoms of all frames; -1 for one that is missing.
    fn atoms(&self, f: &Formula<'_>) -> Result<ValueId, OpError> {
        let list = f.cast(self.list, jumar_types::dtype::DataType::Int64)?;
        let starts: Vec<i64> = (0..self.frames).map(|frame| frame * self.all).collect();
        let starts = f.reshape(f.ints(&starts), &[self.frames, 1])?;
        let atoms = f.add(list, starts)?;
        let atoms = f.choose(f.below(list, 0.0)?, f.number(-1.0, list)?, atoms)?;
        f.reshape(atoms, &[-1])
    }
}
