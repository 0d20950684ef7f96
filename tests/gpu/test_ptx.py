# SPDX-License-Identifier: Apache-2.0
"""The kernels for GPUs are compiled in every build with clang; a machine without a GPU can still look at their text:
entry points, nothing undefined, no function of a library, the network in registers."""
import os
import pathlib
import re
import sys

FOLDER = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "gpu"
KERNELS = {"wf_gpu_lockstep_one", "wf_gpu_lockstep_many", "wf_gpu_lockstep_pack", "wf_gpu_lockstep_waits",
           "wf_gpu_lockstep_sum"}
LOCAL_MAX = 128  # bytes: the list of queues that a blocked one waits for
SHARED = "wf_gpu_shared_memory"


def mistakes(text):
    """What is wrong with the text of kernels."""
    entries = set(re.findall(r"^\.visible \.entry (\w+)", text, re.M))
    if entries != KERNELS:
        yield f"entry points are {sorted(entries)}"
    if not re.search(r"^\.target sm_70$", text, re.M) or not re.search(r"^\.version \d", text, re.M):
        yield "no target or version"
    for name in re.findall(r"^\.extern .*?(\w+)\[?\]?;$", text, re.M):
        if name != SHARED:
            yield f"{name} is not defined"
    for line in re.findall(r"^.*\b(?:\.func|call(?:\.uni)?)\b.*$", text, re.M):
        yield f"a function that is not part of a kernel: {line.strip()}"
    most = max(map(int, re.findall(r"__local_depot\d+\[(\d+)\]", text)), default=0)
    if most > LOCAL_MAX:
        yield f"the network is not in registers: {most} bytes of local memory"
    if re.search(r"\bfma\.", text):
        yield "a fused multiply-add rounds once where hosts round twice"


def main():
    found = sorted(FOLDER.glob("wf_lockstep_ptx_*.ptx"))
    if not found:
        print("no kernels in this build")
        return 77
    failed = 0
    for path in found:
        text = path.read_text(encoding="ascii")
        for mistake in mistakes(text):
            print(f"not ok - {path.name}: {mistake}")
            failed = 1
    # The test can fail.
    broken = text.replace(".visible .entry wf_gpu_lockstep_sum", ".visible .entry other", 1) + "\n.extern .func malloc;\n"
    if len(list(mistakes(broken))) < 2:
        print("not ok - mistakes are not found")
        failed = 1
    print(f"{len(found)} texts of kernels")
    return failed


if __name__ == "__main__":
    sys.exit(main())
