//! The program. Everything is in the library beside it, so that tests and the page can use it too.

use std::process::ExitCode;

/// Training takes and gives back the same memory at every step; Cargo.toml says what this one gains.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bayesadapter_app::cli::main()
}
