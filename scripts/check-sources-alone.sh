#!/usr/bin/env bash
# check-sources-alone.sh - every source and header of the product finds what it uses of ours through its own includes. A unity build, which is what
# scripts/build.sh and so the tests build, does not ask: there a source sees what those before it included. Headers of others are read once
# (precompiled, for all sources alike: whether a source names <vector> is not asked), so that a source takes under a second. A warning fails. Parses, builds
# nothing. Needs Clang 19.
set -euo pipefail
cd "$(dirname "$0")/.."
clang="clang++-19"
command -v $clang >/dev/null || { echo "check-sources-alone: clang++-19 is missing (Debian: apt-get install clang-19)" >&2; exit 1; }
build=build/alone
cmake --preset cpu -B $build -DFEDPP_BUILD_TESTS=OFF >/dev/null

# What all sources are given together: definitions and folders.
python3 - $build/compile_commands.json >$build/flags <<'PYTHON'
import json, shlex, sys
words = [word for entry in json.load(open(sys.argv[1])) for word in shlex.split(entry["command"].replace("-isystem ", "-isystem"))]
print(*dict.fromkeys(shlex.quote(word) for word in words if word != "-DFEDPP_HOST_ONLY" and word.startswith(("-D", "-I", "-isystem", "-std", "-fopenmp"))), sep="\n")
PYTHON

# Headers of others, and what many sources would instantiate of them.
sources=$(git ls-files -- {gpu,mpi,io,src}/'*.cpp')
headers=$(git ls-files -- {gpu,mpi,io,src}/'*.hpp')
# shellcheck disable=SC2086
grep -hoE '^ *# *include <[^>]+>' $sources $headers | grep -oE '<.*>' | grep -vE '<(cu|nvtx)' | sort -u |
  sed 's/.*/#if __has_include(&)\n#include &\n#endif/' >$build/others.hpp
cat >>$build/others.hpp <<'CPP'
template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
inline bool instantiated(std::string text) {
  fmt::format_to(std::back_inserter(text), "{:.1f}", 1.0);
  const auto json = nlohmann::json::parse(text);
  const auto ordered = nlohmann::ordered_json::parse(fmt::format("{} {} {}", text, 1, 1.0));
  return json.dump() == ordered.dump() || json == nlohmann::json(ordered) || ordered != nlohmann::ordered_json(json);
}
CPP
# Warnings are errors here, where they do not depend on the processor or on what the optimiser sees; the two that are off are of headers that are
# parsed by themselves, and of the standard library's own code.
options=(-Wall -Wextra -Werror -Wno-pragma-once-outside-header -Wno-deprecated-declarations -O0 "@$build/flags" -DFMT_CONSTEVAL=)
$clang "${options[@]}" -x c++-header -fpch-instantiate-templates $build/others.hpp -o $build/others.pch

# A header is read alone where no source bears its name: such a source includes it first.
alone=$(for header in $headers; do [ -f "${header%.hpp}.cpp" ] || echo "$header"; done)
printf '%s\n' "$sources" "$alone" |
  xargs -n 1 -P "${FEDPP_BUILD_JOBS:-$(nproc)}" $clang "${options[@]}" -include-pch $build/others.pch -x c++ -fsyntax-only
echo "check-sources-alone: $(wc -w <<<"$sources") sources and $(wc -w <<<"$alone") headers find what they use"
