#include "formats/v8/v8_source.h"
