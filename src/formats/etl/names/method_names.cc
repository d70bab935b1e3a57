#include "formats/etl/names/method_names.h"

#include "formats/etl/etl_losses.h"
#include "formats/etl/names/method_events.h"

namespace stackpack::etl {

Result<bool> MethodNames::read(std::uint64_t offset, std::uint32_t bytes, std::string& name) {
  payload_.resize(bytes);
  if (const Status read = io::read_exactly_at(trace_, offset, payload_, "etl: method event");
      !read) {
    return read.error();
  }
  const bool good = read_method_name(payload_, name);
  if (!good) {
    losses_.add(loss::kBadMethodEvents, LossKind::kDamage, 1, offset);
  }
  return good;
}

}  // namespace stackpack::etl
