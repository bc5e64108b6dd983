//! Empty: a package must have a target. What it is for stands in Cargo.toml.
