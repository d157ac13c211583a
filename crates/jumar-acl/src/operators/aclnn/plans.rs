//! The plans of a thread's last calls.
//!
//! A program that trains or generates makes the same calls again and again, with other addresses. A plan depends on its arguments
//! without the addresses, so it is kept and found by them: to make one takes longer than to compute a few elements.

use std::cell::RefCell;
use std::sync::Arc;

use jumar_eager::{Arg, Plan, TensorArg};

/// The plans that a thread keeps. Each one is found at one index, and replaces the one before.
const KEPT: usize = 256;
/// The largest plan that is kept, in bytes: see [`Plan::kept_bytes`].
const MOST_BYTES: usize = 16 << 10;

/// The plans that a thread keeps.
#[derive(Default)]
pub(crate) struct Plans {
    kept: RefCell<Vec<Option<Kept>>>,
    /// The memory of the arguments of an earlier call.
    spare: RefCell<Vec<Arg>>,
}

struct Kept {
    /// The number of the operator.
    number: usize,
    digest: u64,
    args: Vec<Arg>,
    plan: Arc<Plan>,
}

impl Plans {
    /// Returns an empty list for the arguments of a call. [`get`](Plans::get) takes it.
    pub(super) fn arguments(&self) -> Vec<Arg> {
        self.spare.take()
    }

    /// Returns the plan for a call, made by `make` if it is not kept.
    ///
    /// # Errors
    /// That of `make`.
    pub(in crate::operators) fn get<E>(
        &self,
        number: usize,
        mut args: Vec<Arg>,
        make: impl FnOnce(&[Arg]) -> Result<Plan, E>,
    ) -> Result<Arc<Plan>, E> {
        let digest = digest(number, &args);
        let index = (digest >> 32) as usize % KEPT;
        if let Some(Some(kept)) = self.kept.borrow().get(index)
            && kept.digest == digest
            && kept.number == number
            && is_same(&kept.args, &args)
        {
            args.clear();
            self.spare.replace(args);
            return Ok(kept.plan.clone());
        }
        let plan = Arc::new(make(&args)?);
        if plan.kept_bytes() <= MOST_BYTES {
            let mut all = self.kept.borrow_mut();
            if all.is_empty() {
                all.resize_with(KEPT, || None);
            }
            let plan = plan.clone();
            all[index] = Some(Kept {
                number,
                digest,
                args,
                plan,
            });
        }
        Ok(plan)
    }
}

/// Compares arguments by their bits: -0 is not 0, and NaN is NaN.
fn is_same(one: &[Arg], two: &[Arg]) -> bool {
    let same = |(one, two): (&Arg, &Arg)| match (one, two) {
        (Arg::Float(one), Arg::Float(two)) => one.to_bits() == two.to_bits(),
        (Arg::Floats(one), Arg::Floats(two)) => {
            let bits = |(one, two): (&f32, &f32)| one.to_bits() == two.to_bits();
            one.len() == two.len() && one.iter().zip(two).all(bits)
        }
        _ => one == two,
    };
    one.len() == two.len() && one.iter().zip(two).all(same)
}

/// Returns a number that differs for most arguments that differ.
fn digest(number: usize, args: &[Arg]) -> u64 {
    let mut digest = Digest(number as u64);
    for arg in args {
        match arg {
            Arg::Null => digest.add(1),
            Arg::Tensor(tensor) => digest.add_tensor(tensor),
            Arg::Tensors(members) => {
                digest.add(members.len() as u64);
                members
                    .iter()
                    .flatten()
                    .for_each(|one| digest.add_tensor(one));
            }
            Arg::Scalar(scalar) => digest.add_all(scalar.words()),
            Arg::Scalars(scalars) => {
                let words = scalars.iter().flat_map(|scalar| scalar.words());
                digest.add_all(words);
            }
            Arg::Ints(values) => digest.add_all(values.iter().map(|value| value.cast_unsigned())),
            Arg::Floats(values) => {
                digest.add_all(values.iter().map(|value| u64::from(value.to_bits())))
            }
            Arg::Bools(values) => digest.add_all(values.iter().map(|value| u64::from(*value))),
            Arg::Int(value) => digest.add(value.cast_unsigned()),
            Arg::Float(value) => digest.add(value.to_bits()),
            Arg::Bool(value) => digest.add(u64::from(*value)),
            Arg::Text(text) => digest.add_all(text.bytes().map(u64::from)),
            Arg::Group(group) => {
                digest.add_all([u64::from(group.rank), u64::from(group.size)]);
                digest.add_all(group.name.bytes().map(u64::from));
            }
            Arg::Type(dtype) => digest.add(*dtype as u64),
        }
    }
    digest.0
}

struct Digest(u64);

impl Digest {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        // An odd number whose bits look random: a product spreads each bit to those above it.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn add_all(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.add(word));
    }

    fn add_tensor(&mut self, tensor: &TensorArg) {
        let desc = &tensor.desc;
        self.add(desc.dtype as u64 | (desc.format as u64) << 32);
        self.add(desc.offset.cast_unsigned());
        self.add(desc.dims.len() as u64);
        for dims in [&desc.dims, &desc.strides, &desc.storage] {
            self.add_all(dims.iter().map(|dim| dim.cast_unsigned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use jumar_eager::{Dims, Scalar, TensorDesc};
    use jumar_types::dtype::DataType;

    use super::*;

    fn number_of(name: &str) -> usize {
        let mut all = jumar_eager::signatures::ALL.iter();
        all.position(|signature| signature.name == name).unwrap()
    }

    fn tensor(dims: &[i64], buffer: usize) -> Arg {
        let desc = TensorDesc::contiguous(DataType::Float32, dims);
        Arg::Tensor(TensorArg { desc, buffer })
    }

    fn get(plans: &Plans, name: &str, args: Vec<Arg>) -> Arc<Plan> {
        let number = number_of(name);
        let signature = &jumar_eager::signatures::ALL[number];
        let made = plans.get(number, args, |args| jumar_eager::plan(signature, args));
        made.unwrap_or_else(|_| panic!("{name} is planned"))
    }

    fn addition(alpha: f64, len: i64) -> Vec<Arg> {
        let alpha = Arg::Scalar(Scalar::of_f64(alpha));
        vec![
            tensor(&[len], 0),
            tensor(&[len], 1),
            alpha,
            tensor(&[len], 2),
        ]
    }

    #[test]
    fn the_same_call_has_the_same_plan_and_any_other_call_another() {
        let plans = Plans::default();
        let first = get(&plans, "aclnnAdd", addition(0.0, 8));
        let again = get(&plans, "aclnnAdd", addition(0.0, 8));
        assert!(Arc::ptr_eq(&first, &again));
        let mut turned = addition(0.0, 8);
        let Arg::Tensor(one) = &mut turned[0] else {
            unreachable!("the first argument is a tensor")
        };
        one.desc.strides = Dims::new(&[2]);
        one.desc.storage = Dims::new(&[16]);
        let others = [
            ("aclnnAdd", addition(-0.0, 8)),
            ("aclnnAdd", addition(0.0, 9)),
            ("aclnnSub", addition(0.0, 8)),
            ("aclnnAdd", turned),
        ];
        for (name, args) in others {
            assert!(!Arc::ptr_eq(&first, &get(&plans, name, args)));
        }
        let before = plans.kept.borrow().iter().flatten().count();
        assert!(before > 1);
    }

    #[test]
    fn numbers_are_compared_by_their_bits() {
        let args = |value: f64| vec![Arg::Float(value), Arg::Floats(vec![value as f32])];
        assert!(is_same(&args(f64::NAN), &args(f64::NAN)));
        assert!(!is_same(&args(0.0), &args(-0.0)));
        assert!(!is_same(
            &[Arg::Floats(vec![0.0])],
            &[Arg::Floats(vec![-0.0])]
        ));
        assert!(!is_same(&args(1.0), &args(1.0)[..1]));
    }

    #[test]
    fn a_thread_keeps_a_bounded_number_of_plans() {
        let plans = Plans::default();
        for len in 1..=3 * KEPT as i64 {
            let plan = get(&plans, "aclnnAdd", addition(1.0, len));
            assert!(Arc::ptr_eq(
                &plan,
                &get(&plans, "aclnnAdd", addition(1.0, len))
            ));
        }
        assert_eq!(plans.kept.borrow().len(), KEPT);
    }

    #[test]
    fn a_call_that_is_refused_is_not_kept() {
        let plans = Plans::default();
        let number = number_of("aclnnAdd");
        let refused = plans.get(number, addition(1.0, 4), |_| Err::<Plan, i32>(7));
        assert_eq!(refused.err(), Some(7));
        assert!(plans.kept.borrow().is_empty());
    }
}
