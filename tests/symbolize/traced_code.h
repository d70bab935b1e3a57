// Code whose debug information the tests look at: it is compiled with -g -O2.
#pragma once

namespace stackpack::test {

/// Has an inlined call of another function, which has one, too.
int traced_outer(int value);

/// A function of a class within a function that is inlined; one call is inlined into it.
using TracedCode = int (*)(int);
TracedCode traced_local();

}  // namespace stackpack::test

/// A symbol that is found by its name.
extern "C" void stackpack_traced_reference();
