//! What the tests in `tests/` may hold on to: a daemon in this process under a clock they move, and formctl.
//!
//! Not for users: the program's interface is its two binaries, their files and their addresses.
