/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

static bool fail(struct wf_scan *scan)
{
    scan->failed = true;
    return false;
}

char wf_scan_look(struct wf_scan *scan)
{
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) != NULL) {
        scan->at++;
    }
    return *scan->at;
}

bool wf_scan_pass(struct wf_scan *scan, char c)
{
    if (scan->failed || wf_scan_look(scan) != c || c == '\0') {
        return fail(scan);
    }
    scan->at++;
    return true;
}

bool wf_scan_text(struct wf_scan *scan, const char **text, size_t *length)
{
    if (!wf_scan_pass(scan, '"')) {
        return false;
    }
    *text = scan->at;
    while (scan->at < scan->end && *scan->at != '"') {
        scan->at += *scan->at == '\\' && scan->at + 1 < scan->end ? 2 : 1;
    }
    *length = (size_t)(scan->at - *text);
    return wf_scan_pass(scan, '"');
}

bool wf_scan_key(struct wf_scan *scan)
{
    const char *text = NULL;
    size_t length = 0, n = 0;

    if (!wf_scan_text(scan, &text, &length) || !wf_scan_pass(scan, ':')) {
        return false;
    }
    for (size_t i = 0; i < length && n < WF_SCAN_KEY_BYTES - 1; i++) {
        if (text[i] != '_') {
            scan->key[n++] = (char)tolower((unsigned char)text[i]);
        }
    }
    scan->key[n] = '\0';
    return true;
}

bool wf_scan_next(struct wf_scan *scan, char close, bool *first)
{
    if (scan->failed) {
        return false;
    }
    if (wf_scan_look(scan) == close) {
        scan->at++;
        return false;
    }
    if (!*first && !wf_scan_pass(scan, ',')) {
        return false;
    }
    *first = false;
    return true;
}

void wf_scan_skip(struct wf_scan *scan, int depth)
{
    const char *text = NULL;
    size_t length = 0;
    bool first = true;
    char c = wf_scan_look(scan);

    if (depth > DEPTH_MAX) {
        scan->failed = true;
    } else if (c == '"') {
        (void)wf_scan_text(scan, &text, &length);
    } else if (c == '{' || c == '[') {
        char close = c == '{' ? '}' : ']';
        scan->at++;
        while (wf_scan_next(scan, close, &first)) {
            if (c == '[' || (wf_scan_text(scan, &text, &length) && wf_scan_pass(scan, ':'))) {
                wf_scan_skip(scan, depth + 1);
            }
        }
    } else {
        text = scan->at;
        while (scan->at < scan->end && strchr(",]} \t\r\n", *scan->at) == NULL) {
            scan->at++;
        }
        scan->failed |= scan->at == text;
    }
}

bool wf_scan_begin(struct wf_scan *scan, char bracket)
{
    if (wf_scan_look(scan) != bracket) {
        wf_scan_skip(scan, 0);
        return false;
    }
    scan->at++;
    return true;
}
