# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who trains models."""
from minutes import check, document, finish, says, weft

MODEL = ["-p", "gen.layers=8", "-p", "gen.hidden=1024", "-p", "gen.heads=8", "-p", "gen.batch=8"]


def main():
    step = ["replay", "gen:llm", "-n", "8", "--machine", "h100-rail", *MODEL, "-q", "-o"]
    weft(*step, "data.json")
    done = says(["explain", "data.json"], "of the devices' peak (MFU)")
    check("unknown" not in done.stdout, "no answer", done)
    weft(*step, "pipe.json", "-p", "gen.pipeline=4")
    says(["explain", "pipe.json"], "bubbles of the pipeline")
    says(["compare", "data.json", "pipe.json"], "gen.pipeline: 4, was 1", code=1)
    check(document("pipe.json")["result"]["training"]["bubble_percent"] > 0, "a pipeline without bubbles")
    # A model that cannot fit is reported before the run: nothing is simulated here.
    done = says(["replay", "gen:llm", "-n", "8", "--machine", "h100-rail", "-p", "gen.model=llama3-70b", "--dry-run"], "the model does not fit")
    done = says(["coll", "time", "allreduce", "-n", "8", "--machine", "h100-rail", "-e", "64KiB"], "busbw")
    check("nan" not in done.stdout.lower(), "no number", done)
    says(["replay", "gen:llm", "-n", "8", "-p", "gen.model=lama3-8b"], "did you mean 'llama3-8b'", code=2)
    finish()


main()
