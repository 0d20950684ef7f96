/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* System calls that the C library for WebAssembly does not declare; src/ui/wasm/replacements/host.c has them. */

int dup(int fd);
int dup2(int from, int to);
char *realpath(const char *path, char *resolved);
