//! `libascendcl.so`: the C interface.
//!
//! `generated/` has one shim for each function of the API data; a shim turns C arguments into safe ones with the FFI layer in
//! `raw/`, calls the function of the same name in jumar-acl, and turns its result back. `hand/` has the few shims that
//! the generator cannot express. `ge/` has what lies below the C++ headers of the Graph Engine. Nothing here holds state or decides anything about the interface's behaviour.

mod acl;
pub mod ge;
pub mod generated;
pub mod manual;
pub mod raw;
