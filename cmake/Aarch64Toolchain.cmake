# SPDX-License-Identifier: Apache-2.0
# Cross-compilation for 64-bit ARM with Debian's compiler; tools/check_aarch64 uses it. The
# libraries come from the folder that WEFT_SYSROOT names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WEFT_SYSROOT)

set(libraries ${WEFT_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WEFT_SYSROOT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libraries} -Wl,-rpath-link,${libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L${libraries} -Wl,-rpath-link,${libraries}")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
