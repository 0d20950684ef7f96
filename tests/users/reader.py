# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who reads: every command has help with examples, and the pages lead to commands that exist."""
import re

from minutes import SOURCE, check, finish, says


def main():
    commands = says(["help"], "usage: weft").stdout.partition("\nCommands:\n")[2].partition("\n\n")[0]
    verbs = re.findall(r"^  ([a-z][a-z-]+) ", commands, re.M)
    check(len(verbs) > 15, f"{verbs}")
    for verb in verbs:
        says([verb, "--help"] if verb != "help" else ["help", "--help"], "usage: weft", "Example")
    page = (SOURCE / "docs/howto/which-command.md").read_text(encoding="utf-8")
    check(page.count("\n## ") >= 20, f"{page.count(chr(10) + '## ')} questions")
    used = set(re.findall(r"^weft ([a-z-]+)", "\n".join(re.findall(r"```sh\n(.*?)```", page, re.S)), re.M))
    check(used <= set(verbs), f"{used - set(verbs)}")
    for name in set(re.findall(r"-p ([a-z_]+\.[a-z_]+)=", page)):
        says(["help", name], name)
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    for link in set(re.findall(r"\]\((docs/[^)#]+)", readme)):
        check((SOURCE / link).exists(), f"README.md: no {link}")
    finish()


main()
