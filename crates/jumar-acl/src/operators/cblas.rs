//! Products of matrices by the names of BLAS. Each is the operator GEMM: `C = alpha * op(A) * op(B) + beta * C`, dense, row by row.

#![expect(clippy::too_many_arguments, reason = "the C interface sets them")]

use jumar::offline::lowering::Value;
use jumar_types::dtype::DataType;
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::single_op::{Memory, Request, Tensor, create_known, run_known};
use crate::{Cx, Raw, refuse};

/// A product that is checked.
struct Product {
    /// The sizes of A, B and C as they lie in memory.
    dims: [[i64; 2]; 3],
    types: [DataType; 3],
    transposed: [bool; 2],
}

/// The arguments of a product that say what it multiplies.
struct Sizes {
    transposes: [u32; 3],
    m: i32,
    n: i32,
    k: i32,
    types: [i32; 3],
    compute: u32,
}

/// The addresses of a product.
struct Addresses {
    alpha: usize,
    a: usize,
    b: usize,
    beta: usize,
    c: usize,
}

const HALF: i32 = DataType::Float16.acl();
const BYTE: i32 = DataType::Int8.acl();
const WORD: i32 = DataType::Int32.acl();

/// The types of A, B and C that there are products of.
const TYPES: [[DataType; 3]; 4] = [
    [DataType::Float16, DataType::Float16, DataType::Float16],
    [DataType::Float16, DataType::Float16, DataType::Float32],
    [DataType::Int8, DataType::Int8, DataType::Float32],
    [DataType::Int8, DataType::Int8, DataType::Int32],
];

fn invalid<T>(cx: &Cx<'_>, sentence: impl std::fmt::Display) -> Result<T> {
    refuse(
        ErrorKind::InvalidArgument,
        format!("{}: {sentence}", cx.call.name),
    )
}

/// Reads whether a matrix is transposed.
fn transposed(cx: &Cx<'_>, trans: u32, name: &str) -> Result<bool> {
    match trans {
        enums::ACL_TRANS_N => Ok(false),
        enums::ACL_TRANS_T => Ok(true),
        enums::ACL_TRANS_NZ | enums::ACL_TRANS_NZ_T => refuse(
            ErrorKind::NotImplemented,
            format!(
                "{}: {name} is {}; matrices in blocks are not supported, only ACL_TRANS_N and ACL_TRANS_T",
                cx.call.name,
                enums::name_of("aclTransType", i64::from(trans)).unwrap_or_default()
            ),
        ),
        other => invalid(
            cx,
            format_args!("{name} is {other}, which is not a value of aclTransType"),
        ),
    }
}

/// Checks that leading dimensions and steps are those of dense matrices.
fn check_dense(cx: &Cx<'_>, given: &[(&str, i32)]) -> Result<()> {
    match given.iter().find(|(_, value)| *value != -1) {
        None => Ok(()),
        Some((name, value)) => invalid(
            cx,
            format_args!("{name} is {value}; it is reserved and must be -1"),
        ),
    }
}

impl Product {
    fn new(cx: &Cx<'_>, sizes: &Sizes) -> Result<Product> {
        let [a, b, c] = sizes.transposes;
        let turned = [transposed(cx, a, "transA")?, transposed(cx, b, "transB")?];
        if transposed(cx, c, "transC")? {
            return invalid(cx, "transC must be ACL_TRANS_N");
        }
        let (m, n, k) = (i64::from(sizes.m), i64::from(sizes.n), i64::from(sizes.k));
        for (name, value) in [("m", m), ("n", n), ("k", k)] {
            if value <= 0 {
                return invalid(cx, format_args!("{name} is {value}; it must be at least 1"));
            }
        }
        if sizes.compute > enums::ACL_COMPUTE_LOW_PRECISION {
            let compute = sizes.compute;
            return invalid(
                cx,
                format_args!("type is {compute}, which is not a value of aclComputeType"),
            );
        }
        let given = sizes.types.map(DataType::from_acl);
        let Some(types) = TYPES.into_iter().find(|own| own.map(Some) == given) else {
            let names = given
                .iter()
                .zip(sizes.types)
                .map(|(own, number)| own.map_or_else(|| number.to_string(), |own| own.to_string()));
            let names: Vec<String> = names.collect();
            return invalid(
                cx,
                format_args!(
                    "the data types are ({}); (float16, float16, float16), (float16, float16, float32), (int8, int8, float32) and (int8, int8, int32) are supported",
                    names.join(", ")
                ),
            );
        };
        let dims = |turned: bool, rows: i64, columns: i64| match turned {
            false => [rows, columns],
            true => [columns, rows],
        };
        Ok(Product {
            dims: [dims(turned[0], m, k), dims(turned[1], k, n), [m, n]],
            types,
            transposed: turned,
        })
    }

    /// Returns the request; `on_host` says which of alpha and beta lie on the host.
    fn request(&self, on_host: [bool; 2]) -> Request {
        let matrix = |index: usize| Tensor::on_device(self.types[index], &self.dims[index]);
        let factor = |on_host: bool| match on_host {
            false => Tensor::on_device(self.types[2], &[1]),
            true => Tensor::copied(self.types[2], &[1]),
        };
        let inputs = vec![
            matrix(0),
            matrix(1),
            matrix(2),
            factor(on_host[0]),
            factor(on_host[1]),
        ];
        let attrs = [
            ("transpose_a", Value::Bool(self.transposed[0])),
            ("transpose_b", Value::Bool(self.transposed[1])),
        ];
        Request::plain("GEMM", inputs, vec![matrix(2)], attrs)
    }

    /// Returns the memory of a matrix, as long as it needs to be.
    fn memory(&self, index: usize, address: usize) -> Memory {
        let bytes = self.dims[index]
            .iter()
            .map(|dim| *dim as usize)
            .try_fold(1usize, usize::checked_mul)
            .and_then(|elements| self.types[index].size_of(elements));
        (address, bytes.unwrap_or(usize::MAX))
    }

    fn run(&self, cx: &Cx<'_>, at: &Addresses, stream: Raw) -> Result<()> {
        for (name, address) in [
            ("alpha", at.alpha),
            ("the address of A", at.a),
            ("the address of B or x", at.b),
            ("beta", at.beta),
            ("the address of C or y", at.c),
        ] {
            if address == 0 {
                return Err(null(name));
            }
        }
        let space = cx.runtime()?.space();
        let on_host = |address: usize| {
            space
                .find(address)
                .is_none_or(|block| block.home.device().is_none())
        };
        let request = self.request([on_host(at.alpha), on_host(at.beta)]);
        let factor = self.types[2].size().unwrap_or(0);
        let c = self.memory(2, at.c);
        let inputs = [
            self.memory(0, at.a),
            self.memory(1, at.b),
            c,
            (at.alpha, factor),
            (at.beta, factor),
        ];
        run_known(cx, &request, &inputs, &[c], stream)
    }

    fn handle(&self, cx: &Cx<'_>) -> Result<Raw> {
        create_known(cx, self.request([false; 2]))
    }
}

/// The sizes of a product of a matrix and a vector.
fn vector(trans: u32, m: i32, n: i32, types: [i32; 3], compute: u32) -> Sizes {
    Sizes {
        transposes: [trans, enums::ACL_TRANS_N, enums::ACL_TRANS_N],
        m,
        n: 1,
        k: n,
        types,
        compute,
    }
}

pub fn aclblasGemvEx(
    cx: &Cx<'_>,
    trans: u32,
    m: i32,
    n: i32,
    alpha: usize,
    a: usize,
    lda: i32,
    type_a: i32,
    x: usize,
    incx: i32,
    type_x: i32,
    beta: usize,
    y: usize,
    incy: i32,
    type_y: i32,
    compute: u32,
    stream: Raw,
) -> Result<()> {
    check_dense(cx, &[("lda", lda), ("incx", incx), ("incy", incy)])?;
    let at = Addresses {
        alpha,
        a,
        b: x,
        beta,
        c: y,
    };
    let sizes = vector(trans, m, n, [type_a, type_x, type_y], compute);
    Product::new(cx, &sizes)?.run(cx, &at, stream)
}

pub fn aclblasCreateHandleForGemvEx(
    cx: &Cx<'_>,
    trans: u32,
    m: i32,
    n: i32,
    type_a: i32,
    type_x: i32,
    type_y: i32,
    compute: u32,
) -> Result<Raw> {
    let sizes = vector(trans, m, n, [type_a, type_x, type_y], compute);
    Product::new(cx, &sizes)?.handle(cx)
}

pub fn aclblasGemmEx(
    cx: &Cx<'_>,
    trans_a: u32,
    trans_b: u32,
    trans_c: u32,
    m: i32,
    n: i32,
    k: i32,
    alpha: usize,
    a: usize,
    lda: i32,
    type_a: i32,
    b: usize,
    ldb: i32,
    type_b: i32,
    beta: usize,
    c: usize,
    ldc: i32,
    type_c: i32,
    compute: u32,
    stream: Raw,
) -> Result<()> {
    check_dense(cx, &[("lda", lda), ("ldb", ldb), ("ldc", ldc)])?;
    let at = Addresses {
        alpha,
        a,
        b,
        beta,
        c,
    };
    let sizes = Sizes {
        transposes: [trans_a, trans_b, trans_c],
        m,
        n,
        k,
        types: [type_a, type_b, type_c],
        compute,
    };
    Product::new(cx, &sizes)?.run(cx, &at, stream)
}

pub fn aclblasCreateHandleForGemmEx(
    cx: &Cx<'_>,
    trans_a: u32,
    trans_b: u32,
    trans_c: u32,
    m: i32,
    n: i32,
    k: i32,
    type_a: i32,
    type_b: i32,
    type_c: i32,
    compute: u32,
) -> Result<Raw> {
    let sizes = Sizes {
        transposes: [trans_a, trans_b, trans_c],
        m,
        n,
        k,
        types: [type_a, type_b, type_c],
        compute,
    };
    Product::new(cx, &sizes)?.handle(cx)
}

/// Products of fixed types: each is one of the general functions.
macro_rules! of_types {
    ($($gemv:ident $gemv_handle:ident $gemm:ident $gemm_handle:ident [$in:ident $out:ident];)*) => {$(
        pub fn $gemv(
            cx: &Cx<'_>,
            trans: u32,
            m: i32,
            n: i32,
            alpha: usize,
            a: usize,
            lda: i32,
            x: usize,
            incx: i32,
            beta: usize,
            y: usize,
            incy: i32,
            compute: u32,
            stream: Raw,
        ) -> Result<()> {
            aclblasGemvEx(
                cx, trans, m, n, alpha, a, lda, $in, x, incx, $in, beta, y, incy, $out, compute,
                stream,
            )
        }

        pub fn $gemv_handle(cx: &Cx<'_>, trans: u32, m: i32, n: i32, compute: u32) -> Result<Raw> {
            aclblasCreateHandleForGemvEx(cx, trans, m, n, $in, $in, $out, compute)
        }

        pub fn $gemm(
            cx: &Cx<'_>,
            trans_a: u32,
            trans_b: u32,
            trans_c: u32,
            m: i32,
            n: i32,
            k: i32,
            alpha: usize,
            a: usize,
            lda: i32,
            b: usize,
            ldb: i32,
            beta: usize,
            c: usize,
            ldc: i32,
            compute: u32,
            stream: Raw,
        ) -> Result<()> {
            aclblasGemmEx(
                cx, trans_a, trans_b, trans_c, m, n, k, alpha, a, lda, $in, b, ldb, $in, beta, c,
                ldc, $out, compute, stream,
            )
        }

        pub fn $gemm_handle(
            cx: &Cx<'_>,
            trans_a: u32,
            trans_b: u32,
            trans_c: u32,
            m: i32,
            n: i32,
            k: i32,
            compute: u32,
        ) -> Result<Raw> {
            aclblasCreateHandleForGemmEx(
                cx, trans_a, trans_b, trans_c, m, n, k, $in, $in, $out, compute,
            )
        }
    )*};
}

of_types! {
    aclblasHgemv aclblasCreateHandleForHgemv aclblasHgemm aclblasCreateHandleForHgemm [HALF HALF];
    aclblasS8gemv aclblasCreateHandleForS8gemv aclblasS8gemm aclblasCreateHandleForS8gemm [BYTE WORD];
}
