// Version and git revision of this binary (written at every build by cmake/WriteVersion.cmake).
#pragma once
namespace fedpp {
const char* version();
const char* git_revision();
bool git_dirty();  ///< the work tree held changes that the revision does not
}  // namespace fedpp
