# doctest, as scripts/windows puts it together: its own CMake package is made for this system.
find_path(HEADERS_FOR_WINDOWS doctest/doctest.h REQUIRED)
add_library(doctest::doctest INTERFACE IMPORTED GLOBAL)
target_include_directories(doctest::doctest INTERFACE ${HEADERS_FOR_WINDOWS})
