# cpack in the build folder gives three packages: stackpack (the program), libstackpackX.Y (what programs
# need that use the library) and libstackpack-dev.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(library_package libstackpack${soversion})
set(packaging ${PROJECT_SOURCE_DIR}/packaging)

set(STACKPACK_MAINTAINER "The stackpack authors <maintainers@stackpack.example>" CACHE STRING
  "Name and address of who answers for the packages")

# Every package has its own copies of copyright and changelog. gzip -n: no time in the file.
find_program(GZIP gzip REQUIRED)
set(changelog ${PROJECT_BINARY_DIR}/packaging/changelog)
set(compressed_changelog ${changelog}.gz)
configure_file(${packaging}/changelog.in ${changelog} @ONLY)
add_custom_command(OUTPUT ${compressed_changelog} DEPENDS ${changelog} VERBATIM
  COMMAND ${GZIP} -9nc ${changelog} > ${compressed_changelog})
set(compressed_man_page ${made}/stackpack.1.gz)
add_custom_command(OUTPUT ${compressed_man_page} DEPENDS ${made}/stackpack.1 VERBATIM
  COMMAND ${GZIP} -9nc ${made}/stackpack.1 > ${compressed_man_page})
add_custom_target(stackpack_package_files ALL DEPENDS ${compressed_changelog} ${compressed_man_page})
install(FILES ${compressed_man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(pair "program|stackpack" "library|${library_package}" "development|libstackpack-dev")
  string(REGEX MATCH "^(.*)\\|(.*)$" ignored ${pair})
  set(component ${CMAKE_MATCH_1})
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2})
  install(FILES ${packaging}/copyright DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${compressed_changelog} RENAME changelog.gz DESTINATION ${folder} COMPONENT ${component})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stackpack)
set(CPACK_PACKAGE_CONTACT "${STACKPACK_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME stackpack)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "callstack databases of profiler captures
stackpack reads Linux perf.data and Windows .etl captures, stores every
callstack once and every sample with its time and thread, and exports to
the formats of flame graphs, pprof, speedscope and the Firefox Profiler.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# cpack writes scripts that call ldconfig besides. --by package reads dpkg's lists of files, which it has no library for:
# a dpkg-query for each image would take longer than all else.
set(reads_lists "uses-dpkg-database-directly")
file(WRITE ${PROJECT_BINARY_DIR}/packaging/${library_package}
  "${library_package} binary: maintscript-calls-ldconfig\n${library_package} binary: ${reads_lists} *\n")
file(WRITE ${PROJECT_BINARY_DIR}/packaging/stackpack "stackpack binary: ${reads_lists} *\n")
install(FILES ${PROJECT_BINARY_DIR}/packaging/${library_package}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/packaging/stackpack
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT program)
file(WRITE ${PROJECT_BINARY_DIR}/packaging/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packaging/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "callstack databases of profiler captures, shared library
The library of stackpack: converts captures, reads and exports .spk files.

This package has what programs need that were linked with it.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstackpack-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${library_package} (= ${PROJECT_VERSION}), libzstd-dev, libxxhash-dev, zlib1g-dev, libre2-dev, liblzma-dev, libdw-dev, libbz2-dev, libiberty-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "callstack databases of profiler captures, development files
The library of stackpack: converts captures, reads and exports .spk files.

This package has the headers for C and C++, the static library, and the
files for CMake and pkg-config.")
include(CPack)
