# A port in the checkout itself, for vcpkg with `--overlay-ports=packaging/vcpkg`.
# vcpkg has no libiberty: that of the system is taken (Debian: libiberty-dev).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DSTACKPACK_TESTS=OFF -DSTACKPACK_LLVM_DEMANGLER=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/stackpack)
vcpkg_copy_tools(TOOL_NAMES stackpack AUTO_CLEAN)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
