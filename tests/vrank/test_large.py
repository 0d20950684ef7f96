# SPDX-License-Identifier: Apache-2.0
"""Costs that must not grow with the square of a number, or with the number of elements of a datatype;
and random nested datatypes (nested_types.c) against MPICH. With arguments (first and last seed) it
tries those datatypes."""
import json
import pathlib
import sys

import vrank

HERE = pathlib.Path(__file__).parent
EVENTS_MAX = 1000000  # of a list of 160 items; without end if locks are not granted in order


def same_as_other(program, other, ranks, *args):
    said, _ = vrank.under_weft(program, ranks, *args)
    theirs = vrank.under_other(other, ranks, *args)
    if said is not None and theirs is not None:
        difference = vrank.differs(theirs, said)
        if difference:
            vrank.complain(f"{program} {' '.join(args)} is not the same under MPICH", difference)


def check_types(first, last):
    program, other = (vrank.build(HERE / "nested_types.c", other=other) for other in (False, True))
    if program is not None:
        same_as_other(program, other, 1, str(first), str(last))


def check_large():
    program, other = (vrank.build(HERE / "large.c", other=other) for other in (False, True))
    if program is None:
        return
    same_as_other(program, other, 1, "types")
    for ranks, what, expected in ((3, "gets", "sum 5000100000"), (2, "receives", "sum 100000"),
                                  (2, "view", "view right, right, refused"), (8, "list", "160 items of 8")):
        said, _ = vrank.under_weft(program, ranks, what)
        if said is None or not said.startswith(expected):
            vrank.complain(f"large {what}", said)
    run = json.loads(pathlib.Path("result.json").read_text(encoding="utf-8"))["run"]
    if run["events_committed"] > EVENTS_MAX:
        vrank.complain(f"large list takes {run['events_committed']} events")


def main():
    if len(sys.argv) == 3:
        check_types(*sys.argv[1:])
    else:
        check_types(200, 600)
        check_large()
    vrank.finish()


main()
