/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python as virtual ranks: an interpreter that `weft run` can load. Programs of mpi4py run on it.
 *
 *     weftcc python.c -o weftpython $(python3-config --embed --ldflags)
 *     weft run -n 64 -- ./weftpython heat.py
 */

int Py_BytesMain(int argc, char **argv);

int main(int argc, char **argv)
{
    return Py_BytesMain(argc, argv);
}
