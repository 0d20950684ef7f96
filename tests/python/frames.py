# SPDX-License-Identifier: Apache-2.0
"""What test_python.py runs under a Python that has pandas: the package, as a user would use it."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading

import pandas
import weft


def refused(code, words, call):
    try:
        call()
    except weft.Error as error:
        assert error.code == code and words in str(error), (error.code, str(error))
        return error
    raise AssertionError(f"not refused: {words}")


def test_result(program):
    result = weft.run("gen:stencil3d", ranks=27, machine="frontier", record=True,
                      params={"gen.iterations": 2}, gen__bytes="4KiB")
    done = subprocess.run([program, "replay", "gen:stencil3d", "-n", "27", "--machine", "frontier",
                           "-p", "gen.iterations=2", "-p", "gen.bytes=4KiB", "-q", "--json"],
                          capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)["result"]
    assert result.predicted_time_ps == theirs["predicted_time_ps"]
    assert result.document["result"]["digest"] == theirs["digest"]
    ranks, spans, messages = result.ranks(), result.spans(), result.messages()
    assert list(ranks["first_rank"]) == list(range(27))
    assert abs(ranks["finish"].max() - result.seconds) < 1e-12
    # Frames agree with each other and with the document.
    computed = spans[spans["state"] == "compute"].groupby("rank")["duration"].sum()
    assert (abs(computed - ranks.set_index("first_rank")["compute"]) < 1e-12).all()
    assert len(messages) == theirs["messages"] and messages["bytes"].sum() == theirs["bytes"]
    assert result.matrix().to_numpy().sum() == theirs["bytes"]
    result.save("page.html")
    try:
        result.save("page.html")
        raise AssertionError("a file was replaced without force")
    except FileExistsError as error:
        assert "force=True" in str(error)
    result.save("page.html", force=True)
    refused(2, ".docx", lambda: result.save("page.docx"))
    shown = result._repr_html_()
    assert len(shown) < 3000 and 'href="page.html"' in shown and "frontier" in shown, shown
    assert result.plot().svg.count("<text") > 27 and "compute" in result.plot()._repr_svg_()


def test_notebook(path):
    """The cells of the example, in their order; the last line of a cell is what it shows."""
    names = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # pylint: disable=exec-used
    times, faster = names["times"], names["faster"]
    assert times.shape == (3, 3) and (times["gige"] > times["frontier"]).all(), times
    assert faster["ten times the bandwidth"] < faster["as it is"], faster
    assert len(names["result"]._repr_html_()) < 3000 and "<svg" in names["result"].plot()._repr_svg_()
    assert len(names["ranks"]) == 24


def test_traffic():
    """Traffic completes, and has no ranks to draw."""
    result = weft.run("traffic:uniform", topology="torus:4x4", params={"traffic.load": 0.1})
    assert "accepts 0.1" in repr(result) and result.seconds is None
    try:
        result.plot()
        raise AssertionError("traffic was drawn")
    except ValueError as error:
        assert "did not complete" not in str(error) and "--plot" in str(error), error


def test_errors():
    refused(2, "did you mean 'net.L'", lambda: weft.run("gen:ring", 4, net__LL="1us"))
    refused(2, "nosuch", lambda: weft.run("gen:nosuch", ranks=2))
    refused(2, "nosuch", lambda: weft.run("gen:ring", ranks=2, params={"nosuch": 1}))
    refused(3, "", lambda: weft.run("nosuch.weft"))
    refused(3, "nosuch", lambda: weft.run("gen:ring", ranks=2, machine="nosuch"))
    plain = weft.run("gen:ring", ranks=2)
    for call in (plain.ranks, plain.spans, plain.messages, plain.matrix, plain.links):
        try:
            call()
        except ValueError:
            continue
        raise AssertionError("a frame of what was not recorded")


def test_links():
    result = weft.run("gen:ring", ranks=8, network="packet", topology="ring:8", net__stats="links")
    assert result.links()["bytes"].sum() > 0


def test_sweep():
    table = weft.sweep("gen:stencil3d", {"ranks": [8, 27], "net.L": ["1us", "10us"]})
    assert len(table) == 4 and table["error"].isna().all()
    slow = table.groupby("net.L")["seconds"].min()
    assert slow["10us"] > slow["1us"]
    table = weft.sweep("gen:ring", {"machine": ["frontier", "nosuch"]}, ranks=4)
    assert list(table["error"].isna()) == [True, False]


def test_study(study):
    table = weft.study(study, directory="points")
    again = weft.study(study, directory="points")
    assert len(table) > 1 and table.equals(again)


def test_without_pandas():
    """Said before work that would be lost."""
    kept, sys.modules["pandas"] = sys.modules["pandas"], None
    for call in (lambda: weft.study("no such file"), lambda: weft.sweep("no such file", {})):
        try:
            call()
            raise AssertionError("not refused")
        except ImportError as error:
            assert "frames need pandas" in str(error), error
    sys.modules["pandas"] = kept


def test_interrupt():
    """Ctrl-C ends a run that would take for ever."""
    main_thread = threading.main_thread().ident
    threading.Timer(0.5, signal.pthread_kill, [main_thread, signal.SIGINT]).start()
    try:
        weft.run("gen:stencil3d", ranks=64, gen__iterations=1000000000)
    except weft.Interrupted as error:
        assert error.result.document["result"]
        return
    raise AssertionError("not interrupted")


def test_page(path):
    """The examples of docs/howto/use-python.md, one after the other."""
    names = {}
    for code in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S):
        exec(code, names)  # pylint: disable=exec-used
    assert len(names["table"]) == 4 and pathlib.Path("run.html").stat().st_size > 10000


def main():
    assert weft.__version__ == weft.version() and isinstance(pandas.DataFrame(), pandas.DataFrame)
    test_result(sys.argv[1])
    test_errors()
    test_traffic()
    test_links()
    test_sweep()
    test_study("study.yaml")
    test_notebook(pathlib.Path(sys.argv[3]))
    test_page(pathlib.Path(sys.argv[2]))
    test_without_pandas()
    test_interrupt()


main()
