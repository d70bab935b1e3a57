# The headers of the C API, without c_api.h, which only names the others: the Python package reads them to know what is in the
# library, and stackpack.dll exports what they declare. What follows uses what came before.
set(C_HEADERS arrow_c_data.h c_reader.h c_tables.h c_diff.h c_convert.h)
list(TRANSFORM C_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/stackpack/)
install(FILES ${C_HEADERS}
  DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
