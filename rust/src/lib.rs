//! The C interface of llguidance as a static library. Its header, `llguidance.h`, comes with the crate.
pub use llguidance::ffi::*;
