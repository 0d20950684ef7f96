# SPDX-License-Identifier: Apache-2.0
"""Result documents whose values have other types, are missing or at the limits of their range: an
error or a report, never a signal."""
import copy
import json
import os
import random
import re
import tempfile

from weft_cli import check, finish, run

# The suite takes a sample, with sanitizers a small one of other fields; with WEFT_ALL_DOCUMENTS in the
# environment, every field has its turn.
SAMPLE, SEED = (10, 45) if "WEFT_TEST_ONE_IN" in os.environ else (30, 44)
DOCUMENTS = {
    "recorded": ["replay", "gen:stencil3d", "-n", "8", "--net", "packet", "--topo", "torus:2x2x2",
                 "-p", "net.stats=links", "--record"],
    "path": ["replay", "gen:ring", "-n", "4", "--record", "--what-if"],
    "traffic": ["traffic", "uniform", "--topo", "torus:2x2x2"],
}
MISSING = object()
VALUES = [MISSING, 0, -1, 2 ** 63, 2 ** 64 - 1, "18446744073709551615", 1e308, "", [], {}, None, True, 4702111234474983745, -1.5, "a text", {"name": 1}, [7], [["a"]]]
VERBS = [["explain", "{}"], ["compare", "{}", "{}"], ["report", "{}", "-o", "o.csv"],
         ["report", "{}", "-o", "o.txt"], ["report", "{}", "-o", "o.html"],
         ["report", "{}", "-o", "o.otf2"], ["report", "{}", "-o", "o.json"]]
# Documents that ended in a segmentation fault, and what is said of them.
CONFUSED = [
    ({"result": {"network": {"links": [4702111234474983745]}}},
     r"result\.network\.links\[0\]: a number, expected an object"),
    ({"result": {"predicted_time_ps": 1}, "what_if": 4702111234474983744},
     r"what_if: a number, expected a list"),
    ({"result": {"predicted_time_ps": "soon"}},
     r"result\.predicted_time_ps: a text, expected a whole number that is not negative"),
]


def places(value, at=()):
    """The paths of all values below this one; the first two items only of a list."""
    members = value.items() if isinstance(value, dict) else \
        enumerate(value[:2]) if isinstance(value, list) else ()
    for name, below in members:
        yield (*at, name)
        yield from places(below, (*at, name))


def mutated(document, path, value):
    document = copy.deepcopy(document)
    parent = document
    for name in path[:-1]:
        parent = parent[name]
    if value is MISSING:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


def write(document):
    with open("d.json", "w", encoding="utf-8") as out:
        json.dump(document, out)


def no_signal(what):
    for verb in VERBS:
        result = run(*[arg.format("d.json") for arg in verb])
        check(0 <= result.returncode < 64, f"{what}: weft {' '.join(verb)}: {result.returncode}")


def test_confused():
    for members, words in CONFUSED:
        write({"schema": "weft-result-1", "version": "1.0.0", **members})
        for verb in VERBS:
            result = run(*[arg.format("d.json") for arg in verb])
            check(result.returncode == 3, f"{members}: {verb}: {result.returncode}")
        check(re.search(words, result.stderr), f"{members}: {result.stderr}")


def test_mutated():
    chance = random.Random(SEED)
    for name, args in DOCUMENTS.items():
        result = run(*args, "-f", "-o", "made.json")
        check(result.returncode == 0, f"{name}: {result.stderr}")
        with open("made.json", encoding="utf-8") as made:
            document = json.load(made)
        write(document)
        check(run("explain", "d.json").returncode == 0 or name == "traffic", name)
        cases = [(path, value) for path in places(document) for value in VALUES]
        if "WEFT_ALL_DOCUMENTS" not in os.environ:
            cases = chance.sample(cases, SAMPLE)
        for path, value in cases:
            write(mutated(document, path, value))
            no_signal(f"{name}: {path} = {'missing' if value is MISSING else repr(value)}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_confused()
    test_mutated()
finish()
