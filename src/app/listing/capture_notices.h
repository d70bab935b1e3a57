// What a report says of a capture that is not whole.
#pragma once

#include "query/selection/cut_notices.h"

namespace stackpack::app {

using query::cut_notices;

}  // namespace stackpack::app
