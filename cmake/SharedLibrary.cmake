# libstackpack.so: the objects of the static library, of which only the public interface is visible
# (stackpack.map). Program, tests and benchmarks link the static one, which shows them everything.
# Before 1.0 a minor version may change the interface, so it is part of the name.
add_library(stackpack_shared SHARED $<TARGET_OBJECTS:stackpack> $<TARGET_OBJECTS:stackpack_engine>)
set(map ${PROJECT_SOURCE_DIR}/cmake/stackpack.map)
set_target_properties(stackpack_shared PROPERTIES
  OUTPUT_NAME stackpack EXPORT_NAME stackpack LINKER_LANGUAGE CXX LINK_DEPENDS ${map}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(stackpack_shared PRIVATE -Wl,--version-script=${map} -Wl,-z,relro -Wl,-z,now -Wl,-z,defs)
target_include_directories(stackpack_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(stackpack_shared INTERFACE cxx_std_20)
target_link_libraries(stackpack_shared
  PRIVATE PkgConfig::zstd PkgConfig::xxhash PkgConfig::zlib PkgConfig::re2 PkgConfig::lzma
          PkgConfig::elfutils ${STACKPACK_DEMANGLERS} Threads::Threads)
if(STACKPACK_SANITIZE)
  # The runtime of a sanitizer comes with the program.
  set_target_properties(stackpack_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
