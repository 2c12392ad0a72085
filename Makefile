# Platen: two commands set everything up, `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help demo run fleet fleet-test test check release bench bench-quick bench-render bench-flow bench-office bench-http bench-office-costs bench-studio check-deploy fmt docs data fuzz packages

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

demo: ## build the native renderer and write six documents of one invoice to out/
	cargo run --quiet --locked --profile demo --no-default-features --bin platen -- demo --out out

run: ## run the HTTP service on 127.0.0.1:3000
	cargo run --release --bin platen -- serve

fleet: release ## start a fleet on this machine: PostgreSQL, Redis, S3, nginx, three services, three workers, Prometheus
	@sh .ci/packages.sh fleet
	@deploy/fleet/run.sh

fleet-test: release ## harm parts of a fleet on this machine 100 times while clients use it, and check its history (four minutes; INJECTIONS=1000: half an hour)
	@sh .ci/packages.sh
	@INJECTIONS=$${INJECTIONS:-100} deploy/fleet/test.sh

packages: ## install the programs that the tests need
	@sh .ci/packages.sh

test: packages ## run every test
	cargo test --workspace --quiet

check: ## check format, lints and code documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy --no-default-features --bin platen --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

check-deploy: ## check the files of deploy/ with their tools; with PLATEN=BINARY on a running service, too
	@sh .ci/packages.sh deploy
	@deploy/check.sh

platen = $${CARGO_TARGET_DIR:-target}/release/platen

release:
	cargo build --release --quiet --bin platen

bench: release ## run all benchmarks (less than 90 minutes) and update docs/benchmarks.md
	@sh .ci/packages.sh bench
	bench/peers.sh $(platen) bench all
	$(platen) bench report

bench-quick: release ## run all benchmarks with fewer samples (ten minutes) and update docs/benchmarks.md as a draft
	@sh .ci/packages.sh bench
	bench/peers.sh $(platen) bench all --quick
	$(platen) bench report --draft

bench-render: release ## benchmark rendering, compared with Chromium and Gotenberg if installed
	bench/peers.sh $(platen) bench render --out out/bench/render

bench-flow: release ## benchmark flows, embedded and through workers, compared with Node if installed
	$(platen) bench flow --out out/bench/flow

bench-office: release ## benchmark LibreOffice conversions, compared with unoserver, Gotenberg, soffice --convert-to
	bench/peers.sh $(platen) bench office --out out/bench/office

bench-http: release ## benchmark response bodies, compared with hyper, and with Puma and nginx if installed
	$(platen) bench http --peer puma,nginx,hyper --out out/bench/http

bench-studio: release packages ## measure how long Studio takes from a keystroke to changed pixels, and write it into docs/reference/studio.md
	node tests/studio/latency.mjs $${XDG_CACHE_HOME:-$$HOME/.cache}/platen/playwright/node_modules $${CHROMIUM_PATH:-$$(command -v chromium-headless-shell || command -v chromium)} $(platen)

bench-office-costs: release ## measure what LibreOffice can leave out, and how much each saves
	$(platen) bench office --write-documents out/office
	cargo run --quiet --release -p platen-office --example measure -- out/office 2

fmt: ## format the source
	cargo fmt --all

docs: ## build the code documentation
	cargo doc --workspace --no-deps

data: ## generate the data of the benchmark examples
	cargo run --quiet -p xtask -- data

fuzz: ## fuzz each target for a minute (needs cargo-fuzz and a nightly compiler)
	cd fuzz && for target in template expression data urp ranges; do cargo +nightly fuzz run $$target -- -max_total_time=60 -detect_leaks=0 || exit 1; done
