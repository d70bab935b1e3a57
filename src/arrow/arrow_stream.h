#pragma once

#include <functional>
#include <string_view>

#include "arrow/arrow_batch.h"
#include "stackpack/arrow_c_data.h"
#include "stackpack/result.h"

namespace stackpack::arrow {

/// Where the batches of a stream come from.
struct BatchSource {
  std::string_view table;  ///< a static text
  Projection projection;
  /// Puts the next rows into a batch, which is empty; none: the end. Not called again after an
  /// error or the end.
  std::function<Status(Batch& batch)> next;
};

/// Makes *out a stream over a source, which it holds until it is released. Throws std::bad_alloc,
/// *out is not written then.
void make_stream(BatchSource source, ArrowArrayStream* out);

}  // namespace stackpack::arrow
