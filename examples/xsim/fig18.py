#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 18: programs of the kinds of NPB's EP and MG on a twisted torus."""
import npb
import xsim

if __name__ == "__main__":
    npb.figure(18, "twisted torus", xsim.twisted)
