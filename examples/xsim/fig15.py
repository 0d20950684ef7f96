#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 15: programs of the kinds of NPB's EP and MG on an Ethernet star."""
import npb

if __name__ == "__main__":
    npb.figure(15, "star", npb.STAR)
