# Libraries that are headers alone, as scripts/windows puts them together: their CMake packages are made
# for this system.
find_path(HEADERS_FOR_WINDOWS CLI/CLI.hpp REQUIRED)
if(TARGET doctest::doctest)
  return()
endif()
foreach(library fmt::fmt-header-only CLI11::CLI11 doctest::doctest)
  add_library(${library} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${library} INTERFACE ${HEADERS_FOR_WINDOWS})
endforeach()
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
