/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The predefined datatypes. Rows: index of the handle, name, C type, type for reductions. */
#define WL_TYPE_MAP(X)                                            \
    X(1, MPI_CHAR, char, I8)                                      \
    X(2, MPI_SIGNED_CHAR, signed char, I8)                        \
    X(3, MPI_UNSIGNED_CHAR, unsigned char, U8)                    \
    X(4, MPI_BYTE, unsigned char, BYTES)                          \
    X(5, MPI_WCHAR, wchar_t, I32)                                 \
    X(6, MPI_SHORT, short, I16)                                   \
    X(7, MPI_UNSIGNED_SHORT, unsigned short, U16)                 \
    X(8, MPI_INT, int, I32)                                       \
    X(9, MPI_UNSIGNED, unsigned, U32)                             \
    X(10, MPI_LONG, long, I64)                                    \
    X(11, MPI_UNSIGNED_LONG, unsigned long, U64)                  \
    X(12, MPI_LONG_LONG_INT, long long, I64)                      \
    X(13, MPI_UNSIGNED_LONG_LONG, unsigned long long, U64)        \
    X(14, MPI_FLOAT, float, F32)                                  \
    X(15, MPI_DOUBLE, double, F64)                                \
    X(16, MPI_LONG_DOUBLE, long double, FLONG)                    \
    X(17, MPI_PACKED, unsigned char, BYTES)                       \
    X(18, MPI_C_BOOL, _Bool, BOOL)                                \
    X(19, MPI_C_COMPLEX, float _Complex, C32)                     \
    X(20, MPI_C_DOUBLE_COMPLEX, double _Complex, C64)             \
    X(21, MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex, CLONG) \
    X(22, MPI_INT8_T, int8_t, I8)                                 \
    X(23, MPI_INT16_T, int16_t, I16)                              \
    X(24, MPI_INT32_T, int32_t, I32)                              \
    X(25, MPI_INT64_T, int64_t, I64)                              \
    X(26, MPI_UINT8_T, uint8_t, U8)                               \
    X(27, MPI_UINT16_T, uint16_t, U16)                            \
    X(28, MPI_UINT32_T, uint32_t, U32)                            \
    X(29, MPI_UINT64_T, uint64_t, U64)                            \
    X(30, MPI_AINT, MPI_Aint, I64)                                \
    X(31, MPI_COUNT, MPI_Count, I64)                              \
    X(32, MPI_OFFSET, MPI_Offset, I64)                            \
    X(33, MPI_INTEGER, int, I32)                                  \
    X(34, MPI_REAL, float, F32)                                   \
    X(35, MPI_DOUBLE_PRECISION, double, F64)                      \
    X(36, MPI_COMPLEX, float _Complex, C32)                       \
    X(37, MPI_DOUBLE_COMPLEX, double _Complex, C64)               \
    X(38, MPI_LOGICAL, int, I32)                                  \
    X(39, MPI_CHARACTER, char, I8)                                \
    X(40, MPI_INTEGER1, int8_t, I8)                               \
    X(41, MPI_INTEGER2, int16_t, I16)                             \
    X(42, MPI_INTEGER4, int32_t, I32)                             \
    X(43, MPI_INTEGER8, int64_t, I64)                             \
    X(44, MPI_REAL4, float, F32)                                  \
    X(45, MPI_REAL8, double, F64)                                 \
    X(46, MPI_COMPLEX8, float _Complex, C32)                      \
    X(47, MPI_COMPLEX16, double _Complex, C64)                    \
    X(57, MPI_REAL16, long double, BYTES)                         \
    X(60, MPI_COMPLEX32, long double _Complex, BYTES)             \
    X(61, MPI_INTEGER16, long double, BYTES)                      \
    X(62, MPI_CXX_BOOL, _Bool, BOOL)                              \
    X(63, MPI_CXX_FLOAT_COMPLEX, float _Complex, C32)             \
    X(64, MPI_CXX_DOUBLE_COMPLEX, double _Complex, C64)           \
    X(65, MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex, CLONG)

/* Those of two values. Rows: index, name, types of the two. */
#define WL_PAIR_MAP(X)                           \
    X(48, MPI_FLOAT_INT, float, int)             \
    X(49, MPI_DOUBLE_INT, double, int)           \
    X(50, MPI_LONG_INT, long, int)               \
    X(51, MPI_2INT, int, int)                    \
    X(52, MPI_SHORT_INT, short, int)             \
    X(53, MPI_LONG_DOUBLE_INT, long double, int) \
    X(54, MPI_2REAL, float, float)               \
    X(55, MPI_2DOUBLE_PRECISION, double, double) \
    X(56, MPI_2INTEGER, int, int)
