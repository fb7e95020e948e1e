# Two commands do everything on a fresh Debian machine that has Rust and a C compiler:
#
#   make demo   builds formd and runs its embedded default on http://127.0.0.1:8787
#   make test   installs what the tests need (as root; else names it and stops) and runs them all; the mail servers run in
#               throw-away copies of the machine, which only root can make
#
# And for the patient:
#
#   make fuzz   feeds every reader of what visitors send with noise, a minute each
#   make bench  fills databases of 10 k, 100 k and 1 M receipts and prints what the store costs at each (2 GB below target/)

.PHONY: demo test fuzz bench packages check-format check-lints check-tests

demo:
	cargo build --locked
	./target/debug/formd --demo

test: packages check-format check-lints check-tests

# The clients, nginx and Chromium that the tests drive: Debian packages, and the npm and Python packages of
# lock files.
packages:
	@./tests/clients/packages

check-format:
	cargo fmt --check

check-lints:
	cargo clippy --locked --all-targets -- -D warnings

# FORMD_TESTS=all: a test that lacks its tool fails instead of being skipped.
check-tests:
	FORMD_TESTS=all cargo test --locked

# SEED=n repeats a run; it is printed with every failure.
fuzz:
	FORMD_FUZZ_SECONDS=60 cargo test --locked --test fuzz -- --nocapture --test-threads=2

# Other sizes: cargo bench --bench scale -- 10000 100000
bench:
	cargo bench --locked --bench scale
