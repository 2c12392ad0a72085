# Platen: two commands set everything up, `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help demo run test check release bench bench-quick bench-render bench-flow bench-office bench-http bench-office-costs fmt docs data fuzz packages

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

demo: ## six documents of one invoice, in out/ (builds the native renderer only)
	cargo run --quiet --locked --profile demo --no-default-features --bin platen -- demo --out out

run: ## the HTTP service on 127.0.0.1:3000
	cargo run --release --bin platen -- serve

packages: ## the programs that the tests check documents with
	@sh .ci/packages.sh

test: packages ## every test
	cargo test --workspace --quiet

check: ## format, lints, the documentation of the code
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy --no-default-features --bin platen --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

platen = $${CARGO_TARGET_DIR:-target}/release/platen

release:
	cargo build --release --quiet --bin platen

bench: release ## all packs, an hour; then docs/benchmarks.md
	found=$$(bench/unoserver.sh); $${found:+env UNOSERVER=$$found} $(platen) bench all
	$(platen) bench report

bench-quick: release ## all packs with fewer samples, ten minutes; then docs/benchmarks.md
	found=$$(bench/unoserver.sh); $${found:+env UNOSERVER=$$found} $(platen) bench all --quick
	$(platen) bench report

bench-render: release ## speed of rendering on this machine, beside Chromium where it is installed
	$(platen) bench render --out out/bench/render

bench-flow: release ## speed of flows, embedded and through workers, beside Node where it is there
	$(platen) bench flow --out out/bench/flow

bench-office: release ## speed of conversions by LibreOffice, beside unoserver, Gotenberg, soffice --convert-to
	found=$$(bench/unoserver.sh); $${found:+env UNOSERVER=$$found} $(platen) bench office --out out/bench/office

bench-http: release ## speed of response bodies, beside Puma and nginx where they are installed
	$(platen) bench http --peer puma,nginx --out out/bench/http

bench-office-costs: release ## what LibreOffice can leave out, and what each is worth
	$(platen) bench office --write-documents out/office
	cargo run --quiet --release -p platen-office --example measure -- out/office 2

fmt: ## format the source
	cargo fmt --all

docs: ## the documentation of the code
	cargo doc --workspace --no-deps

data: ## the data of the benchmark examples
	cargo run --quiet -p xtask -- data

fuzz: ## a minute of each fuzz target (wants cargo-fuzz and a nightly compiler)
	cd fuzz && for target in template expression data urp head chunked ranges; do cargo +nightly fuzz run $$target -- -max_total_time=60 -detect_leaks=0 || exit 1; done
