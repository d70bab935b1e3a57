#include "export/job/export_job.h"

#include <algorithm>
#include <utility>

namespace stackpack::exporting {

namespace {

using query::Group;
using query::StackResolver;

Status request(std::span<const Group> block,
               const std::function<Result<std::uint32_t>(const query::GroupKey&)>& root_of,
               std::vector<StackResolver::Request>& requests) {
  requests.clear();
  for (const Group& group : block) {
    const Result<std::uint32_t> root =
        root_of ? root_of(group.key) : Result<std::uint32_t>(query::StackTree::kRoot);
    if (!root) {
      return root.error();
    }
    requests.push_back({group.key.stack, group.key.context, *root});
  }
  return {};
}

}  // namespace

Status for_each_resolved(
    query::SampleGrouper& grouper, query::StackResolver& resolver, std::size_t block_groups,
    const std::function<Result<std::uint32_t>(const query::GroupKey&)>& root_of,
    const std::function<Status(std::span<const query::Group>, std::span<const std::uint32_t>)>&
        visit) {
  std::vector<StackResolver::Request> requests;
  std::vector<StackResolver::Request> next;
  std::vector<std::uint32_t> nodes;
  return grouper.for_each([&](std::span<const Group> groups) -> Status {
    const auto block_at = [&](std::size_t begin) {
      return groups.subspan(begin, std::min(block_groups, groups.size() - begin));
    };
    Status status = request(block_at(0), root_of, requests);
    for (std::size_t begin = 0; begin < groups.size() && status;) {
      const auto block = block_at(begin);
      status = resolver.resolve(requests, nodes);
      begin += block.size();
      if (!root_of && status) {
        status = request(block_at(begin), root_of, next);
        resolver.begin(next);
      }
      status = status ? visit(block, nodes) : status;
      if (!root_of) {
        std::swap(requests, next);
      } else if (status) {
        status = request(block_at(begin), root_of, requests);
      }
    }
    return status;
  });
}

}  // namespace stackpack::exporting
