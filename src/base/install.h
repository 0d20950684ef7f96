/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The path of a file that belongs to weft's installation, such as "libweft-comm-mpich.so": next
 * to the running program, as in a build tree, or in the library directory of the prefix that
 * the program is installed in. Null if there is none. The caller frees it. */
char *wf_install_find(const char *name);

/* The directory of the headers, <weft/mark.h> among them: that of the prefix or, in a build tree,
 * that of the source. Null if there is none. The caller frees it. */
char *wf_install_include(void);

/* The directory below which plug-ins find the headers that they share with weft. Likewise. */
char *wf_install_plugin_include(void);
