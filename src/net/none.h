/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_NONE_H
#define WF_NET_NONE_H

/* No network: every message is there at once and costs nothing. For measuring the simulator
 * itself, and for the time a program takes with communication for free. */

#include "net/net.h"

#endif
