"""Archives files that each break one rule of PDF/A or PDF/UA, and judges what comes out with veraPDF.

    python run.py BINARY JARS [--only PART] [--keep FOLDER]

BINARY is `platen`, JARS the folder of veraPDF's libraries; Python needs pikepdf, fonttools and pillow.
A file that breaks a rule must be mended or refused, one that breaks none must not be refused.
Prints a line for each problem and exits with 1 where there is any.
`known.txt` excuses files: name, two spaces, reason.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import breaches
from breach import ODD, SOUND

HERE = Path(__file__).resolve().parent
VALIDATOR = HERE.parent / "Validate.java"
KNOWN = HERE / "known.txt"
WORKERS = 2
SECONDS = 60
EXCEPTION = "exception"
ARGUMENTS = {
    "2b": ["--standard", "pdf-a-2b"],
    "3b": ["--standard", "pdf-a-3b"],
    "ua1": ["--standard", "pdf-a-2b", "--accessible"],
}
FLAVOURS = {"2b": ["2b"], "3b": ["3b"], "ua1": ["2b", "ua1"]}
REFUSAL = re.compile(r"cannot be made |is encrypted|damaged|is signed, and this would break its signature")


def archive(binary, breach, made, archived):
    """Archives a file; gives whether it was accepted, and what is wrong with how it was refused."""
    command = [binary, "pdf", "archive", made, *ARGUMENTS[breach.flavour], "-o", archived]
    try:
        run = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False, f"archive takes longer than {SECONDS} s"
    message = run.stderr.decode("utf-8", "replace").strip().replace("\n", " | ")
    if run.returncode == 0:
        return True, None
    if run.returncode != 1 or not REFUSAL.search(message):
        return False, f"archive ends with {run.returncode}: {message[:200]}"
    if breach.rule == SOUND:
        return False, f"is sound and refused: {message[:200]}"
    return False, None


def validate_batch(jars, pairs):
    """Runs veraPDF once; gives what each pair of flavour and path breaks, and which pair stopped it."""
    command = ["java", "-cp", f"{jars}/*", str(VALIDATOR)]
    for flavour, path in pairs:
        command += [flavour, str(path)]
    run = subprocess.run(command, capture_output=True, check=False)
    broken = defaultdict(dict)
    wanted = {f"{path} {flavour}": (flavour, path) for flavour, path in pairs}
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        found = re.match(r"(.*?\.pdf \w+) (ok|[\d.]+-\d+)(?:: (.*))?$", line)
        if found and found[1] in wanted:
            broken[wanted[found[1]]][found[2]] = found[3] or ""
    stopped = next((pair for pair in pairs if pair not in broken), None)
    if stopped:
        errors = run.stderr.decode("utf-8", "replace")
        thrown = re.search(r'Exception in thread "main" (.*)', errors)
        if not thrown and not run.stdout:
            sys.exit(f"veraPDF cannot be run: {errors}")
        broken[stopped] = {EXCEPTION: thrown[1] if thrown else "no result"}
    return broken, stopped


def validate(jars, pairs, last):
    """Gives what each pair of flavour and path breaks; begins anew after a pair that veraPDF stops at.

    The pairs that are known to stop it come last, so that little is left to do after them.
    """
    pairs = sorted(pairs, key=lambda pair: pair[1].name in last)
    broken = {}
    while pairs:
        lines, stopped = validate_batch(jars, pairs)
        broken.update(lines)
        if stopped is None:
            break
        pairs = pairs[pairs.index(stopped) + 1 :]
    return broken


def validate_all(jars, pairs, last):
    """Validates in as many processes as there are workers."""
    with ThreadPoolExecutor(WORKERS) as workers:
        parts = [pairs[start::WORKERS] for start in range(WORKERS)]
        results = list(workers.map(lambda part: validate(jars, part, last), parts))
    return {pair: rules for part in results for pair, rules in part.items()}


def read_known():
    """Gives the names of files with a known problem."""
    known = {}
    for line in KNOWN.read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split("  ", 1)
            known[name] = reason
    return known


def judge_made(breach, broken):
    """Gives what is wrong with a file as it was made."""
    if EXCEPTION in broken:
        return f"veraPDF fails on the file as it was made: {broken[EXCEPTION][:150]}"
    if breach.rule == SOUND and "ok" not in broken:
        return f"should be sound, but breaks {', '.join(broken)}"
    if breach.rule not in (SOUND, ODD) and breach.rule not in broken:
        return f"should break {breach.rule}, but gives {', '.join(broken)}"
    return None


def judge_archived(flavour, broken):
    """Gives what is wrong with a file that archive accepted."""
    if EXCEPTION in broken:
        return f"veraPDF ({flavour}) fails on what archive made: {broken[EXCEPTION][:150]}"
    if "ok" not in broken:
        rules = ", ".join(f"{rule} ({message[:100]})" for rule, message in broken.items())
        return f"is accepted, but breaks {flavour} {rules}"
    return None


def check(binary, jars, folder, chosen):
    """Makes, archives and judges the files; gives the problems by name and the counts."""
    problems, counts = defaultdict(list), Counter()
    made = {breach: folder / f"{breach.label}.pdf" for breach in chosen}
    archived = {breach: folder / "archived" / f"{breach.label}.pdf" for breach in chosen}
    (folder / "archived").mkdir(parents=True, exist_ok=True)
    for breach in chosen:
        breach.write(made[breach])
    counts["made"] = len(chosen)
    with ThreadPoolExecutor(WORKERS) as workers:
        results = workers.map(lambda breach: archive(binary, breach, made[breach], archived[breach]), chosen)
        accepted = dict(zip(chosen, results))
    pairs = [(breach.flavour, made[breach]) for breach in chosen]
    for breach, (taken, problem) in accepted.items():
        if problem:
            problems[breach.label].append(problem)
        if taken:
            pairs += [(flavour, archived[breach]) for flavour in FLAVOURS[breach.flavour]]
    broken = validate_all(jars, pairs, {f"{name}.pdf" for name in read_known()})
    for breach in chosen:
        taken = accepted[breach][0]
        found = [judge_made(breach, broken[breach.flavour, made[breach]])]
        if taken:
            found += [
                judge_archived(flavour, broken[flavour, archived[breach]])
                for flavour in FLAVOURS[breach.flavour]
            ]
        problems[breach.label] += [problem for problem in found if problem]
        state = "mended" if "ok" not in broken[breach.flavour, made[breach]] else "kept as sound"
        counts[state if taken else "refused"] += 1
    return {name: found for name, found in problems.items() if found}, counts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", metavar="BINARY")
    parser.add_argument("jars", metavar="JARS")
    parser.add_argument("--only", default="", metavar="PART", help="only files with this in their names")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files in this folder")
    arguments = parser.parse_args()
    chosen = [breach for breach in breaches.BREACHES if arguments.only in breach.label]
    labels = Counter(breach.label for breach in chosen)
    assert max(labels.values()) == 1, f"twice: {[label for label, count in labels.items() if count > 1]}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        problems, counts = check(arguments.binary, Path(arguments.jars).expanduser(), folder, chosen)
    known = read_known()
    unknown = {name: found for name, found in problems.items() if name not in known}
    solved = [name for name in known if name in labels and name not in problems]
    strange = [] if arguments.only else [name for name in known if name not in labels]
    for name, found in unknown.items():
        for problem in found:
            print(f"{name}: {problem}")
    for name in solved:
        print(f"{name}: is known, but no problem any more")
    for name in strange:
        print(f"{name}: is known, but there is no such file")
    print(", ".join(f"{counts[state]} {state}" for state in ("made", "refused", "mended", "kept as sound")))
    print(f"{len(unknown)} with problems, {len(problems) - len(unknown)} known")
    return 1 if unknown or solved or strange else 0


if __name__ == "__main__":
    sys.exit(main())
