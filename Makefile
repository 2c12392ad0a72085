# Platen: two commands set everything up, `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help demo run test check bench bench-render bench-flow bench-office fmt docs data fuzz packages

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: ## six documents of one invoice, in out/
	cargo run --quiet --bin platen -- demo --out out

run: ## the HTTP service on 127.0.0.1:3000
	cargo run --release --bin platen -- serve

packages: ## the programs that the tests check documents with
	@sh .ci/packages.sh

test: packages ## every test
	cargo test --workspace --quiet

check: ## format, lints, quick checks
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

bench: bench-render

bench-render: ## speed of rendering on this machine, beside Chromium where it is installed
	cargo build --release --quiet --bin platen
	sh bench/render.sh

bench-flow: ## speed of flows, embedded and through workers, beside Node where it is there
	cargo build --release --quiet --bin platen
	sh bench/flow.sh

bench-office: ## speed of conversions by LibreOffice, beside unoserver, Gotenberg, soffice --convert-to
	sh bench/office.sh

fmt: ## format the source
	cargo fmt --all

docs: ## the documentation of the code
	cargo doc --workspace --no-deps

data: ## the data of the benchmark examples
	cargo run --quiet -p xtask -- data

fuzz: ## a minute of each fuzz target (wants cargo-fuzz and a nightly compiler)
	cd fuzz && for target in template expression data urp; do cargo +nightly fuzz run $$target -- -max_total_time=60 -detect_leaks=0 || exit 1; done
