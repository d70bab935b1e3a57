// The laws of what a source hands over are checked by the unit tests, replayed corpora included: a
// fuzz target has no library of tests.
#include "support/sink_laws.h"

namespace stackpack::test {

void check_sink_laws(const CollectingSink& /*sink*/) {}

}  // namespace stackpack::test
