//! Empty: a package must have a target. Cargo.toml describes its purpose.
