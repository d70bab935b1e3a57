#include "app/listing/listed_build_id.h"

#include "query/naming/build_id_text.h"

namespace stackpack::app {

std::string listed_build_id(const Module& module) {
  return query::build_id_text(module);
}

}  // namespace stackpack::app
