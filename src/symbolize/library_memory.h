#pragma once

namespace stackpack::symbolize {

/// A library that gets no memory gives up what it is at, and what its caller sees is the same as of
/// a file that has nothing there. The numbers of the last errors tell them apart, the system's as
/// well as the libraries', as long as they are looked at before other calls set them.
void forget_lack_of_memory();

/// To be called when libelf or libdw has worked. Errors: std::bad_alloc when it was refused memory
/// since forget_lack_of_memory().
void heed_lack_of_memory();

}  // namespace stackpack::symbolize
