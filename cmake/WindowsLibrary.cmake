# stackpack.dll, for the Python package: the C API alone, which is what its headers declare. Classes of C++ are for those who
# compile with the same compiler, and they have the static library.
include(CHeaders)
set(header)
foreach(file ${C_HEADERS})
  file(READ ${file} part)
  string(APPEND header "${part}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${C_HEADERS})
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" header "${header}")
string(REGEX MATCHALL "stackpack_[a-z0-9_]+\\(" functions "${header}")
list(TRANSFORM functions REPLACE "\\($" "")
list(REMOVE_DUPLICATES functions)
list(SORT functions)
list(JOIN functions "\n  " functions)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/stackpack.def CONTENT "LIBRARY stackpack.dll\nEXPORTS\n  @functions@\n" @ONLY)

add_library(stackpack_shared SHARED EXCLUDE_FROM_ALL
  $<TARGET_OBJECTS:stackpack> $<TARGET_OBJECTS:stackpack_engine> ${PROJECT_BINARY_DIR}/stackpack.def)
set_target_properties(stackpack_shared PROPERTIES OUTPUT_NAME stackpack PREFIX "" LINKER_LANGUAGE CXX)
# Nothing besides the libraries of Windows itself; the time of the link is not in it.
target_link_options(stackpack_shared PRIVATE -static -s -Wl,--no-insert-timestamp)
target_link_libraries(stackpack_shared
  PRIVATE stackpack_flags PkgConfig::zstd PkgConfig::xxhash PkgConfig::zlib PkgConfig::re2 ${STACKPACK_DEMANGLERS} Threads::Threads)
install(FILES $<TARGET_FILE:stackpack_shared> DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
