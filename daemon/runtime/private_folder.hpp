// Folders and files that only the daemon's own user may touch: made that way, and refused when laxer.
// Not key material (crypto.hpp checks its own files).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sy::daemon {

// Exists (made if its parent does), is a folder and no link, is ours, mode 0700.
base::Result<void> ensure_private_folder(const std::string& path);
// Replaces the file by one with this content, durable, by rename.
base::Result<void> write_file(const std::string& path, std::string_view content, unsigned mode);
// At most `limit` bytes.
base::Result<std::string> read_file(const std::string& path, std::size_t limit);

}  // namespace sy::daemon
