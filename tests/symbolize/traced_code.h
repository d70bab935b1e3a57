// Code whose debug information the tests look at: it is compiled with -g -O2.
#pragma once

namespace stackpack::test {

/// Has an inlined call of another function, which has one, too.
int traced_outer(int value);

}  // namespace stackpack::test

/// A symbol that is found by its name.
extern "C" void stackpack_traced_reference();
