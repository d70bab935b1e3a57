#pragma once

#include <span>
#include <string_view>

#include "arrow/arrow_column.h"
#include "stackpack/arrow_c_data.h"

namespace stackpack::arrow {

/// Makes *out the schema of a batch with these columns, which the caller releases. `table` goes
/// into its metadata as `stackpack.table`, the version of the columns as `stackpack.schema`. Throws
/// std::bad_alloc, *out is not written then.
void make_schema(std::string_view table, std::span<const Field> fields, ArrowSchema* out);

}  // namespace stackpack::arrow
