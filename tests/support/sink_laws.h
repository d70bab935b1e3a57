// What is true of all that a source hands over, whatever a test reads.
#pragma once

namespace stackpack::test {

class CollectingSink;

/// Events of samples are there, recorded callstacks have frames and missing ones none, and nothing
/// ends before it begins.
void check_sink_laws(const CollectingSink& sink);

}  // namespace stackpack::test
