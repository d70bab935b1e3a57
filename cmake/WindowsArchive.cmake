# cpack in the build folder gives a zip: the program, how to use it, and the licences of what is in it.
install(TARGETS stackpack_cli DESTINATION .)
install(FILES ${PROJECT_SOURCE_DIR}/docs/windows.md ${PROJECT_SOURCE_DIR}/LICENSE
  ${PROJECT_SOURCE_DIR}/packaging/windows/stackpack.wprp DESTINATION .)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/windows-libraries/licences DESTINATION .)
set(CPACK_GENERATOR ZIP)
set(CPACK_PACKAGE_FILE_NAME stackpack-${PROJECT_VERSION}-windows-x86_64)
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY ON)
include(CPack)
