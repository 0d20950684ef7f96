# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who trains models."""
from minutes import check, document, finish, says, weft

MODEL = ["-p", "gen.layers=8", "-p", "gen.hidden=1024", "-p", "gen.heads=8", "-p", "gen.batch=8"]

# A model of one's own on one node and a half, where a rank has a neighbour in its node or not.
OWN = ["gen:llm", "-n", "12", "--machine", "h100-rail"] + [f"-p gen.{setting}" for setting in (
    "layers=10", "hidden=3072", "heads=24", "kv_heads=8", "ffn=8192", "vocabulary=32000", "sequence=1024", "batch=24")]
OWN = [word for part in OWN for word in part.split()]


def own_model():
    """What limits it, what dividing it saves, and how much of a year of such steps failures take."""
    weft("replay", *OWN, "-q", "-o", "own.json")
    says(["explain", "own.json"], "The network limits it most", "a network that costs nothing", "(MFU)")
    weft("replay", *OWN, "-p", "gen.tensor=4", "-q", "-o", "own4.json")
    done = says(["compare", "own.json", "own4.json"], "x faster", "gen.tensor not set -> 4", code=1)
    check("waiting in collectives" in done.stdout.splitlines()[1], "where the time went is not on the first lines", done)
    says(["goodput", "--fail", "gpu:count=12,mtbf=200d", "--steps", "100000", "--step", "own4.json", "--checkpoint-size", "40GiB",
          "--checkpoint-rate", "2GB/s"], "goodput", "tokens per second", "best interval")
    says(["replay", *OWN, "-p", "gen.tensor=8"], "the number of ranks must be a multiple of tensor", code=2)


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
    own_model()
    finish()


main()
