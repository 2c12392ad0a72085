"""Decides from a history whether a fleet kept its promises. No clock decides, except where a promise is
about time: a cached template is at most two seconds old."""

LONG = 300  # seconds that nothing takes unless it hangs
CACHED = 2.0  # seconds that a service may go on with a template it has read
MEMORY, FILES = 512 << 20, 1000  # bytes and open files of a service that does not lose any

ENDED = {"chaos": "succeeded", "ask": "succeeded", "count": "succeeded", "batch": "succeeded", "endless": "cancelled"}


def check(history):
    """What the history violates, a line each."""
    kinds = {}
    for event in history:
        kinds.setdefault(event["event"], []).append(event)
    of = lambda kind: kinds.get(kind, [])
    wrong = []
    for part in (answers, lives, calls, counters, documents, templates, triggers, leftovers):
        wrong += part(of)
    return wrong


def answers(of):
    """Callers see success, 5xx with Retry-After, or a lost connection."""
    for event in of("answer"):
        status, what = event["status"], event["what"]
        if status is None or status in event.get("expected", ()):
            continue
        if status >= 500 and not event.get("retry_after"):
            yield f"{what}: {status} without Retry-After: {event.get('body', '')}"
        elif 400 <= status < 500:
            yield f"{what}: {status}: {event.get('body', '')}"
    for event in of("silence"):
        yield f"{event['what']} was not answered for {LONG} s"
    for event in of("broken"):
        yield f"{event['what']} ended: {event['error']}"


def lives(of):
    """An acknowledged run ends once, with its own answer; a key starts one run."""
    runs, ends, hooks = {}, {}, {event["run"] for event in of("hook")}
    known = {}
    for event in of("accepted"):
        first = known.setdefault(event["key"], event["run"])
        if first != event["run"]:
            yield f"key {event['key']} started {first} and {event['run']}"
        runs[event["run"]] = event
    for event in of("run"):
        end = (event["state"], event["result"])
        before = ends.setdefault(event["run"], end)
        if before != end:
            yield f"{event['run']} was {before} and became {end}"
    for run, event in runs.items():
        flow, number = event["flow"], event.get("number")
        state, result = ends.get(run, ("never asked", None))
        if state != ENDED[flow]:
            yield f"{run} of {flow} is {state}: {result}"
        elif flow == "chaos" and {result, event.get("result", number + 1)} != {number + 1}:
            yield f"{run} for {number} answered {event.get('result')} and has {result}"
        elif flow == "batch" and result != 2:
            yield f"{run} made {result} documents of 2"
        if flow == "chaos" and run not in hooks:
            yield f"{run} ended without its request to the hook"


def calls(of):
    """A wait ends by one callback: its value is the output, and no other is acknowledged. What was
    cancelled stays so (its state is looked at in `lives`)."""
    called, unsure, results = {}, {}, {event["run"]: event["result"] for event in of("run")}
    for event in of("called"):
        if event["status"] == 202:
            called.setdefault(event["run"], set()).add(event["value"])
        else:
            unsure.setdefault(event["run"], set()).add(event["value"])
    for event in of("accepted"):
        if event["flow"] != "ask":
            continue
        run = event["run"]
        acknowledged = called.get(run, set())
        if len(acknowledged) > 1:
            yield f"{run}: callbacks with {sorted(acknowledged)} were all acknowledged"
        if results.get(run) not in (acknowledged or unsure.get(run, set())):
            yield f"{run} answered {results.get(run)}; called back with {sorted(acknowledged)}"


def counters(of):
    """Each run of a key adds one to its kept value."""
    last = {}
    for event in of("accepted"):
        if event["flow"] == "count":
            counter, result = event["counter"], event["result"]
            if result != last.get(counter, 0) + 1:
                yield f"counter {counter} went from {last.get(counter, 0)} to {result} ({event['run']})"
            last[counter] = result


def documents(of):
    """A stored document is read again with the same bytes."""
    stored = {event["link"]: event["digest"] for event in of("stored")}
    for event in of("read"):
        if stored.pop(event["link"], None) != event["digest"]:
            yield f"{event['link']} is not what was stored"
    yield from (f"{link} was not read again" for link in stored)


def templates(of):
    """A register for each template, which one client writes: values grow, one at a time."""
    begun, acknowledged = {}, {}
    for event in of("write"):
        times = acknowledged if event["done"] else begun
        times.setdefault(event["template"], []).append((event["at"], event["value"]))
    newest = {}
    for event in sorted(of("got"), key=lambda event: event["at"]):
        name, value, begin = event["template"], event["value"], event["begin"]
        since = begin - (CACHED if event["how"] == "render" else 0)
        least = max((value for at, value in acknowledged.get(name, []) if at <= since), default=0)
        most = max((value for at, value in begun.get(name, []) if at <= event["at"]), default=0)
        if not least <= value <= most:
            yield f"{event['how']} of {name} gave {value}, written are {least} to {most}, from {event['service']}"
        # A read that begins after another ended gives nothing older.
        if event["how"] == "get":
            for at, before in newest.get(name, []):
                if at <= begin and before > value:
                    yield f"get of {name} gave {value} after {before}"
            newest[name] = [*newest.get(name, [])[-20:], (event["at"], value)]


def triggers(of):
    """Each time of a schedule and each item of a poll starts one run; none is lost for good."""
    starts = {}
    for event in of("trigger"):
        starts.setdefault((event["flow"], event["due"]), set()).add(event["run"])
    for (flow, due), runs in starts.items():
        if len(runs) > 1:
            yield f"{flow} started {len(runs)} runs for {due}: {sorted(runs)}"
    yield from (f"the item {event['item']} started no run" for event in of("item") if ("items", event["item"]) not in starts)
    for event in of("scheduled"):
        dues = sorted(due for flow, due in starts if flow == event["flow"])
        if not dues or dues[-1] < event["until"]:
            yield f"{event['flow']} did not start again after {event['until']}"


def leftovers(of):
    """Nothing is leaked: rows of leases, processes, objects, memory."""
    for event in of("rows"):
        if event["count"]:
            yield f"{event['table']} still has {event['count']} rows"
    for event in of("process"):
        if not event["alive"]:
            yield f"{event['process']} is not alive"
        for what, most in (("bytes", MEMORY), ("files", FILES)):
            if (event[what] or 0) > most:
                yield f"{event['process']} has {event[what]} {what}, more than {most}"
    for event in of("ended"):
        # A refused start is 1 or 2; these are a panic and a signal that nobody sent.
        if event["code"] == 101 or event["code"] < 0:
            yield f"{event['process']} ended with {event['code']}"
    for event in of("orphan"):
        yield f"object {event['object']}: {event['why']}"
