#!/usr/bin/env bash
# update-configuration-reference.sh FEDPP - renews the key reference in docs/configuration.md from what FEDPP (an executable)
# prints. A test (cli.Documentation) compares the two.
set -euo pipefail
fedpp=${1:?usage: update-configuration-reference.sh PATH-TO-fedpp}
page=$(dirname "$0")/../docs/configuration.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
  sed '/^```toml$/,$d' "$page"
  echo '```toml'
  "$fedpp" config
  echo '```'
} >"$new"
cat "$new" >"$page"
