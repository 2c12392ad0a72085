"""Shows that the checker finds each kind of violation."""

from checker import check


def at(second, event, **facts):
    return {"event": event, "at": second} | facts


def run(identifier, state, result):
    return at(9, "run", run=identifier, state=state, result=result)


def accepted(identifier, flow, **facts):
    return at(1, "accepted", key=f"k-{identifier}", run=identifier, flow=flow) | facts


CHAOS = [accepted("r", "chaos", number=1), at(2, "hook", run="r"), run("r", "succeeded", 2)]
ASK = [accepted("a", "ask"), at(2, "called", run="a", value=3, status=202), run("a", "succeeded", 3)]
COUNT = [accepted("c1", "count", counter="x", result=1), run("c1", "succeeded", 1),
         accepted("c2", "count", counter="x", result=2), run("c2", "succeeded", 2)]
ENDLESS = [accepted("e", "endless"), run("e", "cancelled", None)]
BATCH = [accepted("b", "batch"), run("b", "succeeded", 2)]
STORED = [at(1, "stored", link="/l", digest="d"), at(2, "read", link="/l", digest="d")]


def write(second, value, done):
    return at(second, "write", template="t", value=value, done=done)


def got(begin, end, value, how="get"):
    return at(end, "got", template="t", value=value, begin=begin, how=how, service="app-1")


WRITES = [write(1, 1, False), write(2, 1, True), write(5, 2, False), write(6, 2, True)]
READS = [got(3, 4, 1), got(5, 5.5, 1), got(7, 8, 2), got(7, 7.5, 1, "render"), got(8.5, 9, 2, "render")]
TRIGGERS = [at(1, "item", item="i"), at(2, "trigger", flow="items", due="i", run="p"),
            at(3, "trigger", flow="tick", due="2", run="s"), at(4, "scheduled", flow="tick", until="2")]
LEFT = [at(9, "rows", table="open_runs", count=0), at(9, "process", process="app-1", alive=True, bytes=1, files=1)]
GOOD = CHAOS + ASK + COUNT + ENDLESS + BATCH + STORED + WRITES + READS + TRIGGERS + LEFT


def without(*gone):
    return [event for event in GOOD if event not in gone]


VIOLATIONS = {
    "a key starts two runs": GOOD + [CHAOS[0] | {"run": "other"}],
    "an answer is not its own": without(CHAOS[0]) + [CHAOS[0] | {"result": 7}],
    "a run ends twice": GOOD + [run("r", "failed", None)],
    "a run is lost": without(CHAOS[2]),
    "a run ends without its effect": without(CHAOS[1]),
    "a run has another result": without(CHAOS[2]) + [run("r", "succeeded", 3)],
    "a run fails": without(BATCH[1]) + [run("b", "failed", None)],
    "a batch loses a document": without(BATCH[1]) + [run("b", "succeeded", 1)],
    "5xx without Retry-After": GOOD + [at(1, "answer", what="w", status=503, retry_after=None)],
    "4xx": GOOD + [at(1, "answer", what="w", status=409, retry_after=None)],
    "silence": GOOD + [at(1, "silence", what="w")],
    "a client ends": GOOD + [at(1, "broken", what="w", error="e")],
    "two callbacks are acknowledged": GOOD + [ASK[1] | {"value": 4}],
    "a callback is lost": without(ASK[2]) + [run("a", "succeeded", None)],
    "an unknown callback counts": without(ASK[1]) + [ASK[1] | {"value": 4, "status": 503}],
    "a kept value is lost": without(COUNT[2]) + [COUNT[2] | {"result": 1}],
    "a kept value counts twice": without(COUNT[2]) + [COUNT[2] | {"result": 3}],
    "a cancelled run ends otherwise": without(ENDLESS[1]) + [run("e", "succeeded", None)],
    "a document is lost": without(STORED[1]),
    "a document has other bytes": without(STORED[1]) + [STORED[1] | {"digest": "e"}],
    "a read is older than a write": GOOD + [got(7, 8, 1)],
    "a read goes back": GOOD + [got(5, 5.2, 2), got(5.6, 5.8, 1)],
    "a read comes from nowhere": GOOD + [got(7, 8, 3)],
    "a rendering is too old": GOOD + [got(8.5, 9, 1, "render")],
    "an item starts two runs": GOOD + [TRIGGERS[1] | {"run": "q"}],
    "an item is lost": without(TRIGGERS[1]),
    "a time starts two runs": GOOD + [TRIGGERS[2] | {"run": "t"}],
    "a schedule stops": without(TRIGGERS[3]) + [TRIGGERS[3] | {"until": "3"}],
    "a lease is leaked": GOOD + [at(9, "rows", table="open_runs", count=1)],
    "a process is gone": GOOD + [LEFT[1] | {"alive": False}],
    "a process crashes": GOOD + [at(5, "ended", process="app-1", code=-6)],
    "memory grows": GOOD + [LEFT[1] | {"bytes": 1 << 40}],
    "files stay open": GOOD + [LEFT[1] | {"files": 5000}],
    "an object is left": GOOD + [at(9, "orphan", object="o", why="why")],
}


def self_check():
    wrong = check(GOOD)
    assert not wrong, wrong
    for name, history in VIOLATIONS.items():
        assert check(history), name
    print(f"the checker finds each of {len(VIOLATIONS)} kinds of violation")
