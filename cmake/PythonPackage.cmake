# What the Python package (pyproject.toml) takes of a build: the shared library under a name without a
# version, and the headers of the C API, which the package reads to know what is in the library.
install(PROGRAMS $<TARGET_FILE:stackpack_shared> RENAME libstackpack.so
  DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
include(CHeaders)
# pip's build has the program, too; the wheel of scripts/dist has the static one.
if(SKBUILD AND TARGET stackpack_cli)
  install(PROGRAMS $<TARGET_FILE:stackpack_cli> DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python EXCLUDE_FROM_ALL)
endif()
