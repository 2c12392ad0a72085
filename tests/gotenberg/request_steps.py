"""Steps that make requests, and those that look at answers."""

import concurrent.futures
import itertools
import json
import secrets
from pathlib import Path

import requests

import helper_server
from outcome import Difference, expect
from steps import step

REQUEST_SECONDS = 150
WEBHOOK_SECONDS = 60
EVENT_SECONDS = 5
# Only in these, the scenarios' own runner puts the port of the helper server.
LOCAL_HEADERS = ("Gotenberg-Webhook-Url", "Gotenberg-Webhook-Error-Url", "Gotenberg-Webhook-Events-Url")
LOCAL_FIELDS = ("downloadFrom", "url", "cookies", "extraHttpHeaders")
FORM = r'"POST" requests? to Gotenberg at the "([^"]*)" endpoint with the following form data and header\(s\):'


@step("I have a default Gotenberg container")
def start_default(world, one):
    world.service.start({})


@step(r"I have a Gotenberg container with the following environment variable\(s\):")
def start_with_variables(world, one):
    world.service.start({row[0]: row[1] for row in one.table})


@step("I have a (?:webhook|static) server")
def start_helper(world, one):
    world.start_helper()


@step(r'I make a "(GET|HEAD)" request to Gotenberg at the "([^"]*)" endpoint(?: with the following header\(s\):)?')
def request_page(world, one, method, path):
    headers = {row[0]: row[1] for row in one.table}
    world.answer = send(world, method, path, headers)


@step(f"I make a {FORM}")
def send_form(world, one, path):
    world.answer = post(world, one, path)
    headers = helper_server.lower(world.answer.headers)
    if world.answer.status_code == 204:
        # A webhook will bring the files.
        world.results = helper_server.folder_of(world.folder, headers)
    elif world.answer.status_code == 200 and "content-disposition" in headers:
        world.results = helper_server.save_answer(world.folder, headers, world.answer.content)


@step(rf"I make (\d+) concurrent {FORM}")
def send_forms(world, one, count, path):
    with concurrent.futures.ThreadPoolExecutor(int(count)) as pool:
        world.answers = list(pool.map(lambda _: post(world, one, path), range(int(count))))


def post(world, one, path):
    headers, body = form(world, one.table)
    return send(world, "POST", path, headers, body)


def send(world, method, path, headers, body=None):
    headers = {name: value.encode() for name, value in headers.items()}
    with requests.Session() as session:
        # No proxy and no file of passwords.
        session.trust_env = False
        try:
            return session.request(
                method,
                world.service.address + path,
                data=body,
                headers=headers,
                timeout=REQUEST_SECONDS,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise Difference(f"no answer: {error}") from error


def form(world, rows):
    """Headers and body of a form. `requests` would change the names of files."""
    boundary = secrets.token_hex(16)
    headers = {}
    body = b""
    for name, value, kind in rows:
        if kind == "header":
            headers[name] = world.local(value) if name in LOCAL_HEADERS else value
            continue
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'.encode()
        if kind == "file":
            path = uploaded(world, value)
            body += f'; filename="{path.name}"\r\nContent-Type: application/octet-stream'.encode()
            content = path.read_bytes()
        else:
            content = (world.local(value) if name in LOCAL_FIELDS else value).encode()
        body += b"\r\n\r\n" + content + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
    return headers, body


def uploaded(world, name):
    """The file to send: one of the scenarios, or one of an earlier answer."""
    if name.startswith("teststore/"):
        return world.result(Path(name).name)
    return world.files / name


@step(r"all concurrent response status codes should be (\d+)")
def check_statuses(world, one, status):
    for answer in world.answers:
        check_status_of(answer, int(status))


@step(r"all concurrent responses should have (\d+) PDF\(s\)")
def check_pdfs_of_all(world, one, count):
    expect(count == "1", "answers with several files are not looked at")
    expect(all(answer.content.startswith(b"%PDF") for answer in world.answers), "an answer is no PDF file")


@step("I wait for the asynchronous request to the webhook")
def wait_for_webhook(world, one):
    expect(world.helper.called.wait(WEBHOOK_SECONDS), "the webhook was not called")
    expect(not world.helper.complaint, world.helper.complaint)


@step("the Gotenberg container should(?: NOT)? log the following entries:")
def pass_log(world, one):
    """Platen's log has other words."""


@step(r"the response status code should be (\d+)")
def check_status(world, one, status):
    check_status_of(world.answer, int(status))


def check_status_of(answer, status):
    text = "a PDF file" if answer.content.startswith(b"%PDF") else answer.text[:300]
    expect(answer.status_code == status, f"status {answer.status_code}, not {status}: {text}")


@step(r'the (response|webhook request|file request|server request) header "([^"]*)" should be "([^"]*)"')
def check_header(world, one, kind, name, value):
    actual = world.header(kind, name)
    expect(actual == value, f"header {name} of the {kind}: `{actual}`, not `{value}`")


@step(r'the webhook request header "([^"]*)" should carry trace id "([^"]*)"')
def check_trace(world, one, name, trace):
    actual = world.header("webhook request", name)
    parts = actual.split("-")
    expect(len(parts) == 4 and parts[1] == trace, f"header {name} of the webhook request: `{actual}`")


@step(r'the (webhook request|file request|server request) cookie "([^"]*)" should be "([^"]*)"')
def check_cookie(world, one, kind, name, value):
    header = world.header(kind, "cookie")
    cookies = dict(cookie.strip().split("=", 1) for cookie in header.split(";") if "=" in cookie)
    expect(cookies.get(name, "") == value, f"cookie {name}: `{cookies.get(name, '')}`, not `{value}`")


@step("the (response|webhook request) body should match string:")
def check_text(world, one, kind):
    actual = world.body(kind).decode(errors="replace").split("\n")
    for line, wanted in itertools.zip_longest(actual, world.expected(one).split("\n"), fillvalue="(end)"):
        expect(line == wanted, f"{kind}: `{line}`, not `{wanted}`")


@step("the (response|webhook request) body should contain string:")
def check_part(world, one, kind):
    actual, text = world.body(kind).decode(errors="replace"), world.expected(one)
    expect(text in actual, f"{kind}: {actual[:400]!r} has no {text[:400]!r}")


@step("the (response|webhook request) body should match JSON:")
def check_json(world, one, kind):
    compare_json(json.loads(world.expected(one)), parse_json(world.body(kind)))


@step("the webhook event should match JSON:")
def check_event(world, one):
    expect(world.helper.event.wait(EVENT_SECONDS), "no event came")
    compare_json(json.loads(world.expected(one)), parse_json(world.helper.event_body))


def parse_json(body):
    try:
        return json.loads(body)
    except ValueError as error:
        raise Difference(f"not JSON: {body[:300]!r}") from error


def compare_json(expected, actual, place=""):
    """Values that are `ignore` may be anything, and objects may have more keys."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if value != "ignore":
                expect(key in actual, f"JSON has no{place} {key}: {json.dumps(actual)[:300]}")
                compare_json(value, actual[key], f"{place} {key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        expect(len(expected) == len(actual), f"JSON{place} has {len(actual)} members, not {len(expected)}")
        for index, value in enumerate(expected):
            compare_json(value, actual[index], f"{place} {index}")
    else:
        is_same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
        expect(is_same, f"JSON{place}: {actual!r}, not {expected!r}")
