// Version and git revision of this binary (written at every build by cmake/WriteVersion.cmake).
#pragma once

#include <string>

namespace fedpp {
const char* version();
const char* git_revision();
bool git_dirty();  ///< the work tree held changes that the revision does not

/// As results and checkpoints name the program that wrote them.
inline std::string revision() { return git_revision() + std::string(git_dirty() ? "-dirty" : ""); }

}  // namespace fedpp
