# SPDX-License-Identifier: Apache-2.0
# The conformance tests that `weft check-plugin` runs are part of what is installed.
add_custom_target(plugin_checks ALL)
foreach(kind IN ITEMS coll gen queue reader route topo writer)
    add_dependencies(plugin_checks conformance_${kind})
    install(PROGRAMS $<TARGET_FILE:conformance_${kind}> DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
endforeach()
