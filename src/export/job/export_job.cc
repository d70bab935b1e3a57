#include "export/job/export_job.h"

#include <algorithm>

namespace stackpack::exporting {

Status for_each_resolved(
    query::SampleGrouper& grouper, query::StackResolver& resolver, std::size_t block_groups,
    const std::function<Result<std::uint32_t>(const query::GroupKey&)>& root_of,
    const std::function<Status(std::span<const query::Group>, std::span<const std::uint32_t>)>&
        visit) {
  std::vector<query::StackResolver::Request> requests;
  std::vector<std::uint32_t> nodes;
  return grouper.for_each([&](std::span<const query::Group> groups) -> Status {
    for (std::size_t begin = 0; begin < groups.size(); begin += block_groups) {
      const auto block = groups.subspan(begin, std::min(block_groups, groups.size() - begin));
      requests.clear();
      for (const query::Group& group : block) {
        const Result<std::uint32_t> root = root_of(group.key);
        if (!root) {
          return root.error();
        }
        requests.push_back({group.key.stack, group.key.context, *root});
      }
      if (const Status status = resolver.resolve(requests, nodes); !status) {
        return status;
      }
      if (const Status status = visit(block, nodes); !status) {
        return status;
      }
    }
    return {};
  });
}

}  // namespace stackpack::exporting
