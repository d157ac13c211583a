//! The activations of recurrent layers.

use super::generic::Working;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Activation {
    Affine(f64, f64),
    Relu,
    LeakyRelu(f64),
    ThresholdedRelu(f64),
    Tanh,
    ScaledTanh(f64, f64),
    Sigmoid,
    HardSigmoid(f64, f64),
    Elu(f64),
    Softsign,
    Softplus,
}

impl Activation {
    pub fn named(
        name: &str,
        mut alpha: impl FnMut(f64) -> f64,
        mut beta: impl FnMut(f64) -> f64,
    ) -> Option<Activation> {
        Some(match name.to_ascii_lowercase().as_str() {
            "affine" => Activation::Affine(alpha(1.0), beta(0.0)),
            "relu" => Activation::Relu,
            "leakyrelu" => Activation::LeakyRelu(alpha(0.01)),
            "thresholdedrelu" => Activation::ThresholdedRelu(alpha(1.0)),
            "tanh" => Activation::Tanh,
            "scaledtanh" => Activation::ScaledTanh(alpha(1.0), beta(1.0)),
            "sigmoid" => Activation::Sigmoid,
            "hardsigmoid" => Activation::HardSigmoid(alpha(0.2), beta(0.5)),
            "elu" => Activation::Elu(alpha(1.0)),
            "softsign" => Activation::Softsign,
            "softplus" => Activation::Softplus,
            _ => return None,
        })
    }

    pub fn apply<W: Working>(self, x: W) -> W {
        let (zero, one) = (W::zero(), W::one());
        match self {
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => x.sigmoid(),
            Activation::Relu => x.most(zero),
            Activation::Affine(alpha, beta) => W::of(alpha) * x + W::of(beta),
            Activation::LeakyRelu(alpha) => {
                if x < zero {
                    W::of(alpha) * x
                } else {
                    x
                }
            }
            Activation::ThresholdedRelu(alpha) => {
                if x > W::of(alpha) {
                    x
                } else {
                    zero
                }
            }
            Activation::ScaledTanh(alpha, beta) => W::of(alpha) * (W::of(beta) * x).tanh(),
            Activation::HardSigmoid(alpha, beta) => {
                (W::of(alpha) * x + W::of(beta)).most(zero).least(one)
            }
            Activation::Elu(alpha) => {
                if x < zero {
                    W::of(alpha) * (x.exp() - one)
                } else {
                    x
                }
            }
            Activation::Softsign => x / (one + x.abs()),
            // Where the exponential would overflow the sum is x itself.
            Activation::Softplus => x.most(zero) + (one + (-x.abs()).exp()).ln(),
        }
    }
}
