"""What a history contains, in figures."""

from collections import Counter


def report(events):
    """Lines about what was injected, what was done, and what callers saw."""
    of = lambda kind: [event for event in events if event["event"] == kind]
    kinds = Counter(event["kind"] for event in of("injection"))
    yield f"{sum(kinds.values())} injections"
    yield from (f"  {count:5} {kind}" for kind, count in sorted(kinds.items()))
    accepted = Counter(event["flow"] for event in {event["run"]: event for event in of("accepted")}.values())
    yield (f"{sum(accepted.values())} acknowledged runs ({', '.join(f'{count} {flow}' for flow, count in accepted.items())}),"
           f" {len({event['run'] for event in of('trigger')})} of schedules and polls, {len(of('stored'))} documents,"
           f" {sum(event['done'] for event in of('write'))} templates written and {len(of('got'))} read")
    answers = Counter(str(event["status"] or "lost") for event in of("answer"))
    yield "answers: " + ", ".join(f"{count} {status}" for status, count in sorted(answers.items()))
    yield f"seconds until success, with repetitions: {times(events)}"
    sizes = [f"{event['process']} {event['bytes'] >> 20} MB" for event in of("process") if event["bytes"]]
    yield f"memory: {', '.join(sizes)}"


def times(events):
    """How long clients needed before the first injection and after it."""
    is_harmed, spent = False, {False: [], True: []}
    for event in events:
        is_harmed |= event["event"] == "injection"
        if "took" in event:
            spent[is_harmed].append(event["took"])
    return ", ".join(f"{name} {shares(sorted(values))}" for name, values in (("before", spent[False]), ("meanwhile", spent[True])))


def shares(values):
    if not values:
        return "none"
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return f"p50 {at(.5):.3f} p90 {at(.9):.2f} p99 {at(.99):.2f} longest {at(1):.1f}"
