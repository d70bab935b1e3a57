#include "support/decoder_check.h"

namespace stackpack::fuzz {

void xpress_huffman(std::span<const std::byte> data) {
  check_decoder(data, etl::decode_xpress_huffman, test::naive_xpress_huffman);
}

}  // namespace stackpack::fuzz
