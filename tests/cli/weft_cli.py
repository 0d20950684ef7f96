# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: run it, and complain with its output at hand."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

WEFT = os.environ["WEFT"]
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")

_failures = []
_validators, _shapes = {}, set()
_LARGE = 300000


def _shape(value):
    """The names in a document, without its values: documents of one shape are validated once."""
    if isinstance(value, dict):
        return frozenset((name, _shape(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return frozenset(_shape(inner) for inner in value[:20])
    return type(value)


def validate(text, what):
    """Checks a document under the schema that it names, unless its like was checked before."""
    try:
        document = json.loads(text)
    except ValueError:
        return  # the test says what it expects
    schema = document.get("schema")
    shape = (schema, _shape(document))
    if shape in _shapes:
        return
    _shapes.add(shape)
    if schema not in _validators:
        try:
            import jsonschema  # pylint: disable=import-outside-toplevel
        except ImportError:
            return
        path = SOURCE / f"share/schema/{schema}.json"
        if not check(path.is_file(), f"{what}: a document without a schema: {schema}"):
            return
        _validators[schema] = jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
    error = next(_validators[schema].iter_errors(document), None)
    check(error is None, f"{what}: not valid under {schema}: {error and error.message[:300]} at "
          f"{list(error.absolute_path) if error else ''}")


def arbitrations():
    """All kinds of arbitration of routers."""
    text = (SOURCE / "src/model/net/router/rules/arbitrations.def").read_text(encoding="utf-8")
    return re.findall(r'^WF_ROUTER_ARBITRATION\(\w+, "([^"]+)"', text, re.M)


def real_traces():
    """The folder with traces of real programs: tests/data/real_traces.tar.xz, unpacked here, or what
    WEFT_TRACES names."""
    given = os.environ.get("WEFT_TRACES")
    if given:
        return pathlib.Path(given)
    with tarfile.open(SOURCE / "tests/data/real_traces.tar.xz") as archive:
        archive.extractall("real_traces")
    return pathlib.Path("real_traces")


def run(*args, processes=0, timeout=50, **options):
    """The finished process of `weft args...`, with its output as text. JSON is validated."""
    launcher = [MPIEXEC, "-n", str(processes)] if processes else []
    done = subprocess.run([*launcher, WEFT, *args], capture_output=True, text=True,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL, **options)
    if "--json" in args and done.stdout.startswith("{") and len(done.stdout) < _LARGE:
        validate(done.stdout, f"weft {' '.join(args)}")
    return done


def sample(cases, most):
    """With sanitizers one case of `most`, or of WEFT_TEST_ONE_IN if that is less; all without."""
    return cases[::min(most, int(os.environ.get("WEFT_TEST_ONE_IN", "1")))]


def check(condition, what, done=None):
    """Notes a failure, and what the program said, and goes on."""
    if condition:
        return True
    _failures.append(what)
    print(f"not ok - {what}")
    if done is not None:
        print(f"  command: {' '.join(done.args)}\n  exit code: {done.returncode}")
        print(f"  stdout: {done.stdout[:600]!r}\n  stderr: {done.stderr[:600]!r}")
    return False


def check_run(args, code, stderr="", stdout=None, **options):
    """Runs, and compares the exit code and, by regular expression, what was said."""
    done = run(*args, **options)
    what = f"weft {' '.join(args)}"
    check(done.returncode == code, f"{what}: exit code {done.returncode}, expected {code}", done)
    if stderr == "":
        check(done.stderr == "", f"{what}: stderr is not empty", done)
    else:
        check(re.search(stderr, done.stderr), f"{what}: stderr lacks /{stderr}/", done)
    if stdout is not None:
        check(re.search(stdout, done.stdout), f"{what}: stdout lacks /{stdout}/", done)
    return done


def parse(done):
    """The one JSON document on stdout."""
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        check(False, f"stdout is not one JSON document: {error}", done)
        return {}


def finish():
    if _failures:
        print(f"{len(_failures)} failed")
    sys.exit(1 if _failures else 0)
