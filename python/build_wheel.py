# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel: the Python package with the program, its library and its data in it.

`pip install .` calls build_wheel() (PEP 517). By hand: python3 python/build_wheel.py DIRECTORY
WEFT_BUILD_DIR names a build tree to install from; without it weft is built in build/wheel.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = (ROOT / "VERSION").read_text(encoding="ascii").split()[0]
INFO = f"weft-{VERSION}.dist-info"
TAG = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
METADATA = f"""Metadata-Version: 2.1
Name: weft
Version: {VERSION}
Summary: Predicts how MPI applications run on machines you do not have
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: frames
Requires-Dist: pandas ; extra == "frames"
"""
# What the package needs of an installed weft; the rest is for C and Debian.
PARTS = re.compile(r"bin/|share/weft/|include/|lib/([^/]+/)?weft/(?!conformance_)")


def built():
    """A build tree with everything that is installed."""
    given = os.environ.get("WEFT_BUILD_DIR")
    if given:
        return pathlib.Path(given)
    tree = ROOT / "build/wheel"
    subprocess.run(["cmake", "-S", ROOT, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF"], check=True)
    subprocess.run(["cmake", "--build", tree, "--parallel"], check=True)
    return tree


def files(prefix):
    """Pairs of a name in the wheel and a file."""
    for path in sorted((ROOT / "python/weft").rglob("*")):
        if path.suffix in (".py", ".typed"):
            yield f"weft/{path.relative_to(ROOT / 'python/weft')}", path
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix).as_posix()
        if path.is_file() and PARTS.match(name):
            yield f"weft/_install/{name}", path


def add(wheel, record, name, data, executable=False):
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100755 if executable else 0o100644) << 16  # a regular file
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"weft-{VERSION}-{TAG}.whl"
    record = []
    with tempfile.TemporaryDirectory() as folder, \
            zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        prefix = pathlib.Path(folder, "prefix")
        subprocess.run(["cmake", "--install", built(), "--prefix", prefix, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        for name_in_wheel, path in files(prefix):
            add(wheel, record, name_in_wheel, path.read_bytes(), os.access(path, os.X_OK))
        for part, text in (("METADATA", METADATA), ("entry_points.txt", "[console_scripts]\nweft = weft.__main__:main\n"),
                           ("WHEEL", f"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: {TAG}\n")):
            add(wheel, record, f"{INFO}/{part}", text.encode())
        wheel.writestr(f"{INFO}/RECORD", "\n".join([*record, f"{INFO}/RECORD,,", ""]))
        wheel.close()
        shutil.copy(pathlib.Path(folder, name), wheel_directory)
    return name


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
