// The ranks that take part in a collective, a barrier or a hash. The world is one group.
#ifndef RINGSIDE_COMMON_GROUP_H_
#define RINGSIDE_COMMON_GROUP_H_

#include <cstdint>
#include <numeric>
#include <vector>

namespace ringside {

struct Group {
  uint32_t id = 0;           // travels in every frame; 0 is the world
  std::vector<int> members;  // global ranks, in ring order
  int index = 0;             // position of this process in `members`
  uint32_t generation = 0;   // of the membership that the coordinator gave out

  int size() const { return static_cast<int>(members.size()); }
  int rank() const { return members[index]; }
  int left() const { return members[(index + size() - 1) % size()]; }
  int right() const { return members[(index + 1) % size()]; }

  static Group World(int size, int rank, uint32_t generation) {
    Group group;
    group.members.resize(size);
    std::iota(group.members.begin(), group.members.end(), 0);
    group.index = rank;
    group.generation = generation;
    return group;
  }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_GROUP_H_
