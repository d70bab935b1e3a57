#include "support/decoder_check.h"

namespace stackpack::fuzz {

void xpress_plain(std::span<const std::byte> data) {
  check_decoder(data, etl::decode_xpress_plain, test::naive_xpress_plain);
}

}  // namespace stackpack::fuzz
