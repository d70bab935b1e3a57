# cmake --install, the package config, the pkg-config file and the Debian package.
include(CMakePackageConfigHelpers)

install(TARGETS stackpack EXPORT stackpackTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT stackpackTargets NAMESPACE stackpack::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stackpack)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/stackpackConfig.cmake.in
  ${PROJECT_BINARY_DIR}/stackpackConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stackpack)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stackpackConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/stackpackConfig.cmake
  ${PROJECT_BINARY_DIR}/stackpackConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stackpack)

# The prefix is known at install time only (cmake --install --prefix).
install(CODE "
  set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/stackpack.pc.in\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/stackpack.pc\" @ONLY)")

# The man page and the completions are made by the program, from the definitions of its options.
install(TARGETS stackpack_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(made ${PROJECT_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
foreach(item "stackpack.1|man" "stackpack.bash|completions bash" "_stackpack|completions zsh"
    "stackpack.fish|completions fish")
  string(REGEX MATCH "^(.*)\\|(.*)$" ignored ${item})
  set(file ${made}/${CMAKE_MATCH_1})
  separate_arguments(topic UNIX_COMMAND ${CMAKE_MATCH_2})
  add_custom_command(OUTPUT ${file} DEPENDS stackpack_cli VERBATIM
    COMMAND stackpack_cli help ${topic} > ${file})
  list(APPEND made_files ${file})
endforeach()
add_custom_target(stackpack_made ALL DEPENDS ${made_files})
install(FILES ${made}/stackpack.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/stackpack.bash RENAME stackpack
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_stackpack DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/stackpack.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# cpack in the build folder gives stackpack_X.Y.Z_amd64.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stackpack)
set(CPACK_PACKAGE_CONTACT "The stackpack authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libzstd-dev, libxxhash-dev, libzip-dev, zlib1g-dev")
include(CPack)
