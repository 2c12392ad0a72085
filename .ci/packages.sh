#!/bin/sh
# Installs the programs that the tests check documents with, where that is allowed; says which.
# `packages.sh deploy` installs those of deploy/check.sh as well; compiling Helm takes two minutes.
# `packages.sh fleet` installs what `make fleet` starts, `packages.sh bench` what benchmarks compare with.
set -eu
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need pdftotext poppler-utils
need qpdf qpdf
# Some machines have a part of LibreOffice only: the libraries of Writer, Calc and Impress tell.
office=$(command -v soffice || true)
office=$(dirname "$(readlink -f "${office:-/usr/bin/soffice}")")
for part in sw sc sd; do
    [ -e "$office/lib${part}lo.so" ] && continue
    missing="$missing libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
    break
done
need cc gcc
need javac default-jdk-headless
need mvn maven
need npm "nodejs npm"
need go golang-go
need wrk wrk
need openssl openssl
need haproxy haproxy
need redis-server redis-server
need nginx nginx-light
need faketime faketime
need valgrind valgrind
need crun crun
need runc runc
need stunnel stunnel4
[ "${1:-}" != fleet ] || need prometheus prometheus
if [ "${1:-}" = bench ]; then
    need puma puma
    need wrk wrk
    # unoserver and unoconv run in the Python that has LibreOffice's module.
    /usr/bin/python3 -c "import uno" 2>/dev/null || missing="$missing python3-uno"
    # Programs that Gotenberg wants, and the fonts of the documents, which Platen brings itself.
    need pdftk pdftk-java
    need exiftool libimage-exiftool-perl
    ls /usr/share/fonts/*/liberation*/*Sans-Regular.ttf >/dev/null 2>&1 || missing="$missing fonts-liberation"
fi
if [ "${1:-}" = deploy ]; then
    need promtool prometheus
    need shellcheck shellcheck
    need unshare util-linux
    need systemd-analyze systemd
fi
# Debian keeps the programs of the server outside of PATH.
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
command -v chromium-headless-shell >/dev/null 2>&1 || need chromium chromium
venv="${XDG_CACHE_HOME:-$HOME/.cache}/platen/venv"
if ! command -v openxml-audit >/dev/null 2>&1 && [ ! -x "$venv/bin/openxml-audit" ]; then
    if python3 -m venv "$venv" >/dev/null 2>&1 && "$venv/bin/pip" install -q openxml-audit 2>/dev/null; then
        echo "installed: openxml-audit, into $venv"
    else
        rm -rf "$venv"
        command -v python3 >/dev/null 2>&1 || missing="$missing python3"
        missing="$missing python3-venv"
    fi
fi
# Gotenberg's own client, which the tests point at the service.
gotenberg() {
    [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" >/dev/null 2>&1 || return 1
    "$venv/bin/python" -c "import gotenberg_client, httpx" 2>/dev/null ||
        "$venv/bin/pip" install -q "gotenberg-client[httpx]==1.0.0" 2>/dev/null
}
if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing:$missing"
    apt-get update -qq
    # Debian has the headless shell alone, which is smaller; elsewhere only the browser is packaged.
    if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
        missing=$(echo " $missing " | sed 's/ chromium / chromium-headless-shell /')
    fi
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    if [ ! -x "$venv/bin/openxml-audit" ] && ! command -v openxml-audit >/dev/null 2>&1; then
        python3 -m venv "$venv" && "$venv/bin/pip" install -q openxml-audit ||
            echo "not installed: openxml-audit, which PyPI has"
    fi
elif [ -n "$missing" ]; then
    echo "not installed:$missing; the tests that want them are skipped, or fail with REQUIRE_ALL=1"
fi
# The newest LibreOffice of Debian's backports, with which conversions are tested, too.
newest="${XDG_CACHE_HOME:-$HOME/.cache}/platen/libreoffice"
# One that former versions of the script unpacked starts only under Platen.
if [ "$(id -u)" = 0 ] && ! grep -qs '^BRAND_BASE_DIR=\${ORIGIN}' "$newest/usr/lib/libreoffice/program/fundamentalrc"; then
    .ci/newest-libreoffice.sh "$newest" ||
        echo "not installed: the newest LibreOffice, which Debian's backports have"
fi
# Fetches the jars that a file of tests/conformance names: jars NAME FILE FOLDER.
jars() {
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/platen/$3"
    [ ! -d "$folder" ] && command -v mvn >/dev/null 2>&1 || return 0
    if mvn -q -f "tests/conformance/$2" dependency:copy-dependencies -DoutputDirectory="$folder.new" >/dev/null; then
        mv "$folder.new" "$folder"
        echo "installed: $1, into $folder"
    else
        rm -rf "$folder.new"
        echo "not installed: $1, which Maven Central has"
    fi
}
jars veraPDF pom.xml verapdf
# DSS of the European Commission and pyHanko, which judge signatures, and certomancer, whose authorities
# they trust.
jars DSS signatures.xml dss
# Saxon and the rules of CEN, KoSIT and OpenPeppol, which judge e-invoices.
jars "rules of e-invoices" invoices.xml invoices
hanko="${XDG_CACHE_HOME:-$HOME/.cache}/platen/pyhanko"
if [ ! -x "$hanko/bin/certomancer" ] && command -v python3 >/dev/null 2>&1; then
    if python3 -m venv "$hanko" >/dev/null 2>&1 &&
        "$hanko/bin/pip" install -q pyhanko==0.38.0 pyhanko-cli==0.6.0 'certomancer[web-api]==0.16.0' \
            2>/dev/null; then
        echo "installed: pyHanko and certomancer, into $hanko"
    else
        rm -rf "$hanko"
        echo "not installed: pyHanko and certomancer, which PyPI has"
    fi
fi
# Mustang, which reads e-invoices as their receivers do.
mustang="${XDG_CACHE_HOME:-$HOME/.cache}/platen/mustang"
if [ ! -f "$mustang/Mustang-CLI-2.26.0.jar" ] && command -v mvn >/dev/null 2>&1; then
    mvn -q -f tests/conformance/pom.xml dependency:copy -Dartifact=org.mustangproject:Mustang-CLI:2.26.0 \
        -DoutputDirectory="$mustang" >/dev/null 2>&1 && echo "installed: Mustang, into $mustang" ||
        echo "not installed: Mustang, which Maven Central has"
fi
gotenberg || echo "not installed: gotenberg-client, which PyPI has"
# Gotenberg's own scenarios, and what their runner needs.
if [ -x "$venv/bin/pip" ] && ! "$venv/bin/python" -c "import requests, PIL" 2>/dev/null; then
    "$venv/bin/pip" install -q requests==2.34.2 pillow==13.0.0 2>/dev/null ||
        echo "not installed: requests and Pillow, which PyPI has"
fi
# What makes the PDF files that break rules of PDF/A and PDF/UA.
if [ -x "$venv/bin/pip" ] && ! "$venv/bin/python" -c "import pikepdf, fontTools" 2>/dev/null; then
    "$venv/bin/pip" install -q pikepdf==10.18.0 fonttools==4.68.0 2>/dev/null ||
        echo "not installed: pikepdf and fontTools, which PyPI has"
fi
if command -v go >/dev/null 2>&1; then
    go mod download github.com/gotenberg/gotenberg/v8@v8.36.0 2>/dev/null ||
        echo "not installed: Gotenberg's scenarios, which the proxy of Go has"
fi
# Gotenberg itself, which benchmarks compare with, and its converter for LibreOffice.
home="${XDG_CACHE_HOME:-$HOME/.cache}/platen/gotenberg"
if [ "${1:-}" = bench ] && [ ! -x "$home/unoconverter" ] && command -v go >/dev/null 2>&1; then
    rm -rf "$home" "$home.new"
    mkdir -p "$home.new/hyphens"
    cat >"$home.new/unoconverter" <<'END'
#!/bin/sh
for argument; do
    shift
    case "$argument" in
        --disable-update-indexes | --disable-calc-header) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec /usr/bin/python3 "${0%/*}/unoconv" "$@"
END
    chmod +x "$home.new/unoconverter"
    if (
        cd "$(go env GOMODCACHE)/github.com/gotenberg/gotenberg/v8@v8.36.0" &&
            go build -o "$home.new/gotenberg" ./cmd/gotenberg &&
            GOBIN="$home.new" go install github.com/pdfcpu/pdfcpu/cmd/pdfcpu@v0.15.0 &&
            cd "$home.new" &&
            "$venv/bin/pip" download -q --no-deps --no-binary :all: unoconv==0.9.0 &&
            tar -xzf unoconv-0.9.0.tar.gz --strip-components=1 unoconv-0.9.0/unoconv &&
            rm unoconv-0.9.0.tar.gz
    ) >/dev/null 2>&1; then
        mv "$home.new" "$home"
        echo "installed: Gotenberg 8.36.0, into $home"
    else
        rm -rf "$home.new"
        echo "not installed: Gotenberg, which the proxy of Go has, with unoconv, which PyPI has"
    fi
fi
# Clients of npm, for the same.
for client in chromiumly@6.0.0 gotenberg-js-client@0.7.4; do
    name="${client%@*}"
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/platen/$name"
    if [ ! -d "$folder/node_modules/$name" ] && command -v npm >/dev/null 2>&1; then
        if npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" "$client" >/dev/null 2>&1; then
            echo "installed: $name, into $folder"
        else
            rm -rf "$folder"
            echo "not installed: $name, which npm has"
        fi
    fi
done
# Files with every kind of damage, on which operations on PDF files are tried: the source archive of pypdf.
corpus="${XDG_CACHE_HOME:-$HOME/.cache}/platen/corpus"
if [ ! -d "$corpus/pypdf-7.1.1/resources" ] && [ -x "$venv/bin/pip" ]; then
    mkdir -p "$corpus"
    if "$venv/bin/pip" download -q --no-deps --no-binary :all: -d "$corpus" pypdf==7.1.1 >/dev/null 2>&1 &&
        rm -rf "$corpus/new" && mkdir "$corpus/new" &&
        tar -xzf "$corpus/pypdf-7.1.1.tar.gz" -C "$corpus/new" &&
        mv "$corpus/new/pypdf-7.1.1" "$corpus/pypdf-7.1.1"; then
        echo "installed: the files of pypdf, into $corpus"
    else
        echo "not installed: the files of pypdf, which PyPI has"
    fi
fi
# The client for Go, with its tests and what they need.
folder="${XDG_CACHE_HOME:-$HOME/.cache}/platen/gotenberg-go-client"
if [ ! -d "$folder/vendor" ] && command -v go >/dev/null 2>&1; then
    module=github.com/starwalkn/gotenberg-go-client/v8@v8.12.0
    rm -rf "$folder"
    if (
        set -e
        go mod download "$module"
        cp -R "$(go env GOMODCACHE)/$module" "$folder"
        chmod -R u+w "$folder"
        cd "$folder"
        go mod vendor
    ) >/dev/null 2>&1; then
        echo "installed: gotenberg-go-client, into $folder"
    else
        rm -rf "$folder"
        echo "not installed: gotenberg-go-client, which the proxy of Go has"
    fi
fi
# pdf.js, the reader of browsers.
reader="${XDG_CACHE_HOME:-$HOME/.cache}/platen/pdfjs"
if [ ! -d "$reader/node_modules/pdfjs-dist" ] && command -v npm >/dev/null 2>&1; then
    if npm install --silent --no-fund --no-audit --ignore-scripts --omit=optional --prefix "$reader" \
        pdfjs-dist@4.10.38 >/dev/null 2>&1; then
        echo "installed: pdf.js, into $reader"
    else
        rm -rf "$reader"
        echo "not installed: pdf.js, which npm has"
    fi
fi
# Readers of the OpenAPI description: a validator, a fuzzer and the generators of two clients. Each has
# an environment of its own, as their wishes for libraries differ.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/platen"
if [ ! -x "$cache/openapi/bin/schemathesis" ] && command -v python3 >/dev/null 2>&1; then
    if python3 -m venv "$cache/openapi" >/dev/null 2>&1 && "$cache/openapi/bin/pip" install -q \
        openapi-spec-validator==0.7.2 schemathesis==4.32.5 openapi-python-client==0.29.1 2>/dev/null; then
        echo "installed: openapi-spec-validator, schemathesis and openapi-python-client, into $cache/openapi"
    else
        rm -rf "$cache/openapi"
        echo "not installed: openapi-spec-validator, schemathesis and openapi-python-client, which PyPI has"
    fi
fi
types="$cache/openapi-typescript"
if [ ! -d "$types/node_modules/openapi-typescript" ] && command -v npm >/dev/null 2>&1; then
    if npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$types" \
        openapi-typescript@7.13.0 openapi-fetch@0.15.0 typescript@5.9.3 >/dev/null 2>&1; then
        echo "installed: openapi-typescript, into $types"
    else
        rm -rf "$types"
        echo "not installed: openapi-typescript, which npm has"
    fi
fi
# The driver of browsers for Studio, what finds barriers for people with disabilities, and what checks types.
driver="$cache/playwright"
if [ ! -d "$driver/node_modules/typescript" ] && command -v npm >/dev/null 2>&1; then
    if npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$driver" \
        playwright-core@1.65.1 axe-core@4.14.1 typescript@5.9.3 >/dev/null 2>&1; then
        echo "installed: playwright-core, axe-core and typescript, into $driver"
    else
        rm -rf "$driver"
        echo "not installed: playwright-core, axe-core and typescript, which npm has"
    fi
fi
# An identity provider for the sign-in of Studio.
identity="$cache/oidc-provider"
if [ ! -d "$identity/node_modules/oidc-provider" ] && command -v npm >/dev/null 2>&1; then
    if npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$identity" \
        oidc-provider@9.13.3 >/dev/null 2>&1; then
        echo "installed: oidc-provider, into $identity"
    else
        rm -rf "$identity"
        echo "not installed: oidc-provider, which npm has"
    fi
fi
# A server that speaks the protocol of S3. It is compiled once, which takes some minutes.
gateway="$cache/versitygw"
if [ ! -x "$gateway/versitygw" ] && ! command -v versitygw >/dev/null 2>&1; then
    go=$(command -v go || echo /usr/local/go/bin/go)
    if [ -x "$go" ] && GOBIN="$gateway.new" CGO_ENABLED=0 "$go" install -ldflags '-s -w' \
        github.com/versity/versitygw/cmd/versitygw@v1.8.0 >/dev/null 2>&1; then
        mkdir -p "$gateway"
        mv "$gateway.new/versitygw" "$gateway/versitygw"
        rmdir "$gateway.new"
        echo "installed: versitygw, into $gateway"
    else
        rm -rf "$gateway.new"
        echo "not installed: versitygw, which Go 1.26 or newer can install"
    fi
fi
# A collector of traces, made by its own builder; that takes some minutes, once.
if [ ! -x "$cache/otelcol/otelcol" ] && ! command -v otelcol >/dev/null 2>&1; then
    go=$(command -v go || echo /usr/local/go/bin/go)
    config=$(pwd)/.ci/otelcol.yaml
    made=$(mktemp -d)
    if [ -x "$go" ] && (cd "$made" && PATH="$PATH:$(dirname "$go")" CGO_ENABLED=0 "$go" run \
        go.opentelemetry.io/collector/cmd/builder@v0.138.0 --config "$config" >/dev/null 2>&1); then
        mkdir -p "$cache/otelcol"
        mv "$made/otelcol.new/otelcol" "$cache/otelcol/otelcol"
        echo "installed: otelcol, into $cache/otelcol"
    else
        echo "not installed: otelcol, which the Go proxy has"
    fi
    chmod -R u+w "$made" && rm -rf "$made"
fi
[ "${1:-}" = deploy ] || exit 0
# Schemas of Compose and of Kubernetes, Helm, and kustomize where there is no kubectl.
if [ ! -x "$cache/deploy/bin/check-jsonschema" ] && command -v python3 >/dev/null 2>&1; then
    if python3 -m venv "$cache/deploy" >/dev/null 2>&1 && "$cache/deploy/bin/pip" install -q \
        kubernetes-validate==1.37.0 check-jsonschema==0.39.0 PyYAML 2>/dev/null; then
        echo "installed: kubernetes-validate and check-jsonschema, into $cache/deploy"
    else
        rm -rf "$cache/deploy"
        echo "not installed: kubernetes-validate and check-jsonschema, which PyPI has"
    fi
fi
go_install() {
    command -v "$1" >/dev/null 2>&1 || [ -x "$cache/go/bin/$1" ] || ! command -v go >/dev/null 2>&1 ||
        if GOBIN="$cache/go/bin" CGO_ENABLED=0 go install -ldflags="-s -w" "$2" >/dev/null 2>&1; then
            echo "installed: $1, into $cache/go/bin"
        else
            echo "not installed: $1, which the Go proxy has"
        fi
}
go_install helm helm.sh/helm/v4/cmd/helm@v4.3.1
command -v kubectl >/dev/null 2>&1 || go_install kustomize sigs.k8s.io/kustomize/kustomize/v5@v5.7.1
