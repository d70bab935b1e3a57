#include "formats/protobuf/message_shape.h"

#include <string>

#include <doctest/doctest.h>

#include "support/test_bytes.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using protobuf::FieldKind;
using protobuf::FieldShape;
using protobuf::MessageShape;

namespace {

constexpr FieldShape kInnerFields[] = {{1, FieldKind::kNumber}, {2, FieldKind::kNumbers}};
constexpr MessageShape kInner{kInnerFields};
constexpr FieldShape kOuterFields[] = {
    {1, FieldKind::kMessage, &kInner}, {2, FieldKind::kBytes}, {3, FieldKind::kNumber}};
constexpr MessageShape kOuter{kOuterFields};

protobuf::ShapeFit fit(const std::string& text, bool whole) {
  return fit_of(test::TestBytes().text(text).bytes, kOuter, whole);
}

std::string message() {
  std::string text;
  protozero::pbf_writer outer(text);
  outer.add_uint64(3, 300);
  {
    protozero::pbf_writer inner(outer, 1);
    inner.add_uint64(1, 7);
    const std::uint64_t numbers[] = {1, 2, 3};
    inner.add_packed_uint64(2, std::begin(numbers), std::end(numbers));
    inner.add_uint64(2, 4);
  }
  outer.add_string(2, "text of any kind");
  return text;
}

}  // namespace

TEST_CASE("message shape: every beginning of a message fits it") {
  const std::string text = message();
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CAPTURE(size);
    CHECK(fit(text.substr(0, size), false).fits);
  }
  const protobuf::ShapeFit whole = fit(text, true);
  CHECK(whole.fits);
  CHECK(whole.unknown == 0);
  CHECK((whole.has(1) && whole.has(2) && whole.has(3) && !whole.has(4)));
  CHECK_FALSE(fit(text.substr(0, text.size() - 1), true).fits);
}

TEST_CASE("message shape: fields of other kinds do not fit, fields of other numbers are counted") {
  std::string text;
  protozero::pbf_writer(text).add_string(3, "a number is wanted");
  CHECK_FALSE(fit(text, true).fits);
  text.clear();
  protozero::pbf_writer(text).add_uint64(1, 1);
  CHECK_FALSE(fit(text, true).fits);
  text.clear();
  protozero::pbf_writer(text).add_string(1, "\x0a\x01x");  // field 1 of the inner one is a number
  CHECK_FALSE(fit(text, true).fits);
  text = message();
  protozero::pbf_writer(text).add_uint64(9, 1);
  CHECK(fit(text, true).fits);
  CHECK(fit(text, true).unknown == 1);
  CHECK_FALSE(fit("\x0f", false).fits);  // no such kind of field
  CHECK_FALSE(fit("plain text of some length that is no message at all", false).fits);
}
