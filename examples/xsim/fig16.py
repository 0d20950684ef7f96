#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 16: programs of the kinds of NPB's EP and MG on a mesh."""
import npb
import xsim

if __name__ == "__main__":
    npb.figure(16, "mesh", lambda n: xsim.plane("mesh", n))
