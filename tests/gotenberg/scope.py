"""Says which scenarios do not apply to Platen."""

NEEDS_INTERNET = "needs a server on the internet"
OWN_FILES = "denies the path of Gotenberg's own temporary files"
VARIABLES = {
    "API_ENABLE_OIDC_AUTH": "forms take no tokens of an identity provider",
    "PROMETHEUS_METRICS_PATH": "sets the address of the metrics",
    "PROMETHEUS_NAMESPACE": "sets the names of the metrics",
}
ENGINE_NAMES = ("pdftk unsupported", "PDFtk - user password only")
LISTS = ("CHROMIUM_ALLOW_LIST", "CHROMIUM_DENY_LIST")


def why_not(scenario):
    """Why a scenario does not apply, or None."""
    if scenario.feature == "debug":
        return "Gotenberg's own page about its container"
    if any(name in scenario.name for name in ENGINE_NAMES):
        return "checks what the engine pdftk cannot do"
    for variable, reason in VARIABLES.items():
        if variable in scenario.environment:
            return reason
    if scenario.feature in ("chromium_convert_html", "chromium_convert_markdown"):
        if "Fail On Resource HTTP" in scenario.name:
            return NEEDS_INTERNET
        if "Main URL" in scenario.name and names_own_files(scenario.environment):
            return OWN_FILES
    return None


def names_own_files(environment):
    return any(environment.get(name, "").startswith("^file:") for name in LISTS)
