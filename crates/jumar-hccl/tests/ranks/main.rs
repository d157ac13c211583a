//! Operations of ranks against references that are computed element by element, through both transports.

mod collectives;
mod failures;
mod harness;
mod machines;
mod messages;
mod processes;
mod reference;
