# SPDX-License-Identifier: Apache-2.0
"""Programs that are compiled with the mpi.h of MPICH and Open MPI, and libraries of the distribution
that were built for these: weft's MPI takes the place of theirs. A program must print what it prints
if it is compiled with weft's mpi.h, with the same digest."""
import pathlib
import shutil
import subprocess
import sysconfig

import vrank

HERE = pathlib.Path(__file__).parent
AREAS = ("datatypes.c", "collectives.c", "attributes.c", "one_sided.c")
LIB = pathlib.Path("/usr/lib") / (sysconfig.get_config_var("MULTIARCH") or "")
PETSC = pathlib.Path("/usr/lib/petsc")
# A program, the interface, a file that must exist, its package, flags, what it prints.
LIBRARIES = (
    ("hdf5", "mpich", "/usr/include/hdf5/mpich/hdf5.h", "libhdf5-mpich-dev",
     ("-I/usr/include/hdf5/mpich", f"-L{LIB}/hdf5/mpich", "-lhdf5"), "0 wrong"),
    ("hdf5", "openmpi", "/usr/include/hdf5/openmpi/hdf5.h", "libhdf5-openmpi-dev",
     ("-I/usr/include/hdf5/openmpi", f"-L{LIB}/hdf5/openmpi", "-lhdf5"), "0 wrong"),
    ("scalapack", "mpich", f"{LIB}/libscalapack-mpich.so", "libscalapack-mpich-dev",
     ("-lscalapack-mpich",), "info 0, right"),
    ("scalapack", "openmpi", f"{LIB}/libscalapack-openmpi.so", "libscalapack-openmpi-dev",
     ("-lscalapack-openmpi",), "info 0, right"),
    ("fftw", "openmpi", "/usr/include/fftw3-mpi.h", "libfftw3-mpi-dev",
     ("-lfftw3_mpi", "-lfftw3"), "right"),
    ("hypre", "openmpi", "/usr/include/hypre/HYPRE.h", "libhypre-dev",
     ("-I/usr/include/hypre", "-lHYPRE"), "right"),
    ("petsc", "openmpi", f"{PETSC}/include/petscksp.h", "libpetsc-real-dev",
     (f"-I{PETSC}/include", f"-L{PETSC}/lib", "-lpetsc_real"), "right"),
)


def compile_for(source, interface, program, *flags):
    compiler = vrank.BUILD / ("weftf90" if source.suffix == ".f90" else "weftcc")
    option = [f"--mpi={interface}"] if interface else []
    done = subprocess.run([compiler, *option, "-O1", "-w", source, "-o", program, *flags, "-lm"],
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        vrank.complain(f"{source.name} for {interface or 'weft'}", done.stderr)
    return done.returncode == 0


def area(name, interfaces):
    source = HERE / name
    own = f"./own_{source.stem}"
    if not compile_for(source, None, own):
        return
    expected, digest = vrank.under_weft(own, 4)
    for interface in interfaces:
        program = f"./{interface}_{source.stem}"
        if expected is None or not compile_for(source, interface, program):
            continue
        said, its_digest = vrank.under_weft(program, 4)
        difference = said is not None and vrank.differs(expected, said)
        if difference:
            vrank.complain(f"{name} with the interface of {interface}", difference)
        elif its_digest != digest:
            vrank.complain(f"{name} with the interface of {interface}: digest", its_digest, digest)


def library(name, interface, needs, package, flags, expected):
    if not pathlib.Path(needs).exists():
        print(f"skipped: {name} for {interface} is not installed ({package})")
        return
    program = f"./{interface}_{name}"
    if not compile_for(HERE / "libraries" / f"{name}.c", interface, program, *flags):
        return
    digests = set()
    for options in ((), ("--sched", "conservative", "--threads", "2")):
        pathlib.Path("data.h5").unlink(missing_ok=True)
        said, digest = vrank.under_weft(program, 6, "data.h5", options=options)
        digests.add(digest)
        if said is not None and expected not in said:
            vrank.complain(f"{name} of {interface}, {options}", said)
    if len(digests) > 1:
        vrank.complain(f"{name} of {interface}: digests", digests)


def main():
    interfaces = [name for name in ("mpich", "openmpi")
                  if (vrank.BUILD / f"libweft-{name}.so").exists()]
    if not interfaces or shutil.which("cc") is None:
        print("skipped: neither MPICH nor Open MPI is installed, or there is no compiler")
        vrank.finish()
    for name in AREAS:
        area(name, interfaces)
    for row in LIBRARIES:
        if row[1] in interfaces:
            library(*row)
    vrank.finish()


main()
