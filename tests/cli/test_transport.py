# SPDX-License-Identifier: Apache-2.0
"""Transports behave as the literature says: what is lost, marked and paused, who gets what."""
from weft_cli import check, finish, parse, run

PACKET = ["--net", "packet", "-p", "net.packet=4KiB", "-p", "net.bandwidth=100Gbit/s"]


def replay(source, topo, *settings):
    """The transport of the result, and the predicted time in microseconds."""
    args = ["replay", *source.split(), *PACKET, "--topo", topo, "--json", "-q"]
    for setting in settings:
        args += ["-p", setting]
    done = run(*args)
    if not check(done.returncode == 0, f"{source} on {topo} with {settings}", done):
        return {}, 0
    result = parse(done)["result"]
    return result["network"]["transport"], result["ranks"]["finish_ps"]["max"] / 1e6


def incast(bytes_each, *settings):
    return replay(f"gen:pattern -n 9 -p gen.kind=incast -p gen.bytes={bytes_each}", "star:9", *settings)


def test_incast():
    """Eight nodes send 1 MB each to one: 640 us at 100 Gbit/s, if nothing is wasted."""
    found, time = incast("1MB", "net.transport=fixed")
    check(found["dropped"] == 0 and found["fairness"] > 0.999, f"equal windows share equally: {found}")
    check(640 < time < 645, f"and waste nothing: {time}")
    found, _ = incast("1MB", "net.transport=fixed", "net.queue=16KiB")
    check(found["dropped"] > 0 and found["sent_again"] >= found["dropped"] and found["max_queue_bytes"] == 16384,
          f"a queue of 16 KiB is never longer and loses packets: {found}")
    found, time = incast("1MB", "net.transport=fixed", "net.full_queue=pause")
    check(found["dropped"] == 0 and found["sent_again"] == 0 and found["pauses"] > 0, f"PFC loses nothing: {found}")
    check(found["max_input_bytes"] < 64 * 1024 + 3 * 4096 and 640 < time < 645, f"and needs little space: {found}")
    found, _ = incast("1MB", "net.transport=dcqcn")
    check(found["dropped"] == 0 and found["marked"] > 0, f"DCQCN over PFC: {found}")


def main():
    test_incast()
    finish()


if __name__ == "__main__":
    main()
