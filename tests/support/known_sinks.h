// What a source hands over in a test, as a whole: beside what the test itself asks for, the
// samples, tables and losses of its first sinks are compared with stored ones. So every odd input
// that a test makes is one more whole answer.
#pragma once

namespace stackpack::test {

class CollectingSink;

/// Compares a sink with the line of its test and number in tests/support/known_sinks.txt. With
/// STACKPACK_REWRITE=1 the file gets new lines for the tests that are run.
void check_known_sink(const CollectingSink& sink);

}  // namespace stackpack::test
