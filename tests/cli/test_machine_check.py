# SPDX-License-Identifier: Apache-2.0
"""Predictions for all machines of the library are as near to what was measured on the real ones
as their files promise."""
from weft_cli import check, check_run, finish, parse, run

# Machines whose measurements we do not know.
UNMEASURED = {"a100-fattree", "b200-fattree", "b200-rail", "ethernet-400g", "gb200-nvl72",
              "h100-fattree", "infiniband-ndr", "lustre-flash", "nvme-fabric", "tpu-v5p"}


def main():
    measured = set()
    for machine in parse(run("machine", "list", "--json"))["machines"]:
        name = machine["name"]
        for entry in parse(check_run(["machine", "check", name, "--json"], 0))["checks"]:
            measured.add(name)
            check(entry["within_tolerance"], f"{name}: {entry['description']}: off by "
                  f"{entry['off_percent']} %, more than {entry['tolerance_percent']} %")
        check((name in measured) == (name not in UNMEASURED), f"{name}: measurements")
    finish()


main()
