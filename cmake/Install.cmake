# cmake --install, the package config, the pkg-config file and the Debian package.
include(CMakePackageConfigHelpers)

# Components: program, library (what programs need that link the shared library), development.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stackpack)
install(TARGETS stackpack_shared EXPORT stackpackTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
# Whoever links the static library needs what it uses, so it has an export of its own.
install(TARGETS stackpack EXPORT stackpackStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
foreach(export stackpackTargets stackpackStaticTargets)
  install(EXPORT ${export} NAMESPACE stackpack:: DESTINATION ${config_folder} COMPONENT development)
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/stackpackConfig.cmake.in
  ${PROJECT_BINARY_DIR}/stackpackConfig.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stackpackConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/stackpackConfig.cmake
  ${PROJECT_BINARY_DIR}/stackpackConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT development)

# The prefix is known at install time only (cmake --install --prefix).
install(CODE "
  set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  set(STACKPACK_DEMANGLER_FLAGS \"${STACKPACK_DEMANGLER_FLAGS}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/stackpack.pc.in\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/stackpack.pc\" @ONLY)"
  COMPONENT development)

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
install(FILES ${made}/stackpack.bash RENAME stackpack
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_stackpack DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/stackpack.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

include(DebianPackages)
