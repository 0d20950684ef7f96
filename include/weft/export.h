/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_EXPORT_H
#define WEFT_EXPORT_H

/* The library is compiled with hidden visibility; WEFT_API marks its public functions. */
#define WEFT_API __attribute__((visibility("default")))

#endif
