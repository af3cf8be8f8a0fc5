// The fixed workloads of whole rounds, the same on every machine:
//   a  the published configuration on Taobao: 20 clients of four types each, undealt, pooled, deep kernel, M 50, E 5,
//      all take part; the data of $FEDPP_SHARED/data/taobao_fedpp where it is there, else lists with its counts and ties
//   b  per sequence: 20 clients x 100 sequences, S 8, M 32
//   c  200 clients, 10 % a round, LSTM, pooled, M 50
//   d  2,000 clients, all take part, deep kernel, M 32: small problems in great number
#pragma once

#include <string>

#include "config/options.hpp"

namespace fedpp::bench {

/// The configuration of workload 'a', 'b', 'c' or 'd', whose data it writes into `folder` where they are drawn.
/// \param clients other than 0: instead of the workload's number (drawn data grow with it)
config::Config make_workload(char name, const std::string& folder, std::int64_t clients = 0);

}  // namespace fedpp::bench
