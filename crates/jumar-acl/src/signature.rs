//! What observers know of a call: its parameters and what it returns. The table of all calls is generated.

/// What is known of a parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The handle's type, where it is one or receives one; empty otherwise.
    pub handle: &'static str,
    /// How many bytes are written through it.
    pub out_bytes: usize,
}

/// What is known of a call.
#[derive(Debug)]
pub struct Signature {
    /// The handle's type, where it returns one; empty otherwise.
    pub returns: &'static str,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
}
