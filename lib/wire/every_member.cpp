#include "model/state.hpp"

// A member added to one of these stops compiling here, so that it is not forgotten where it is kept: describe it in
// describe_spec.hpp or describe_state.hpp (what is derived needs no description), give it a value in
// tests/unit/wire, and count it below.
namespace sy::wire {
namespace {

[[maybe_unused]] void count(const model::Job& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = v;
}
[[maybe_unused]] void count(const model::Attempt& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = v;
}
[[maybe_unused]] void count(const model::PlacementRecord& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = v;
}
[[maybe_unused]] void count(const model::PlacedPart& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = v; }
[[maybe_unused]] void count(const model::NodeGrant& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = v; }
[[maybe_unused]] void count(const model::ExitRecord& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8] = v; }
[[maybe_unused]] void count(const model::Node& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
                                m24, m25, m26, m27, m28] = v;
}
[[maybe_unused]] void count(const model::NodeShape& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = v; }
[[maybe_unused]] void count(const model::GresInstance& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5] = v; }
[[maybe_unused]] void count(const model::Partition& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = v;
}
[[maybe_unused]] void count(const model::Settings& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = v;
}
[[maybe_unused]] void count(const model::Topology& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7] = v; }
[[maybe_unused]] void count(const model::Domain& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8] = v; }
[[maybe_unused]] void count(const model::JobSpec& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = v;
}
[[maybe_unused]] void count(const model::Group& v) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
                                m24, m25, m26, m27, m28, m29, m30, m31] = v;
}
[[maybe_unused]] void count(const model::Segment& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = v; }
[[maybe_unused]] void count(const model::PackWish& v) { [[maybe_unused]] const auto& [m1, m2, m3, m4, m5] = v; }

}  // namespace
}  // namespace sy::wire
