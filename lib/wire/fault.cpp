#include "wire/fault.hpp"

#include <fmt/format.h>

namespace sy::wire {

namespace {

// "switchyard.yaml:12:7: ", without what is not known.
std::string place(const Fault& f) {
  std::string out = f.file.empty() ? "" : f.file + ":";
  if (f.mark.line != 0) out += fmt::format("{}:", f.mark.line);
  if (f.mark.line != 0 && f.mark.column != 0) out += fmt::format("{}:", f.mark.column);
  if (!out.empty()) out += ' ';
  return out;
}

}  // namespace

std::string to_text(const Fault& f) { return place(f) + base::to_text(f.error); }

void Faults::add(const Fault& f) {
  if (list_.size() < limit_) list_.push_back(f);
  else ++dropped_;
}

void Faults::add(FileMark mark, base::Error e) { add(Fault{file_, mark, std::move(e)}); }

void Faults::add(FileMark mark, std::string message, std::string field, std::string value, std::string hint) {
  add(mark, base::Error{base::Code::invalid_argument, std::move(message), std::move(field), {}, std::move(value), std::move(hint)});
}

base::Error Faults::to_error() const {
  if (list_.size() == 1 && dropped_ == 0) {
    base::Error e = list_.front().error;
    if (list_.front().mark.line != 0) e.message = place(list_.front()) + e.message;
    return e;
  }
  base::Error all{base::Code::invalid_argument, {}, {}, {}, {}, {}};
  for (const auto& f : list_) {
    if (!all.message.empty()) all.message += '\n';
    all.message += to_text(f);
  }
  if (dropped_ != 0) all.message += fmt::format("\nand {} more", dropped_);
  return all;
}

}  // namespace sy::wire
