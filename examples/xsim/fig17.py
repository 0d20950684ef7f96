#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 17: programs of the kinds of NPB's EP and MG on a torus."""
import npb
import xsim

if __name__ == "__main__":
    npb.figure(17, "torus", lambda n: xsim.plane("torus", n))
