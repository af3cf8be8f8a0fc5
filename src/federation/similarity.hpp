// How alike two clients' encoders are, from their embeddings of the same probe points (theory 2.4, item 1).
#pragma once

#include <span>
#include <vector>

#include "config/words.hpp"

namespace fedpp::federation {

using config::Similarity;

/// A vector of length 1 (all zeros where the embeddings say nothing or are not finite), such that the similarity of two
/// clients is the inner product of theirs: this is what a client sends, not its embeddings.
///   mean of cosines   [n x D] each embedding over its length, over sqrt(n)
///   cosine of means   [D]     the mean embedding over its length
///   centred Gram      [n x n] H E'E H over its Frobenius norm (centred kernel alignment): blind to rotations of E
/// \param h [D x n] column-major
std::vector<double> signature(Similarity similarity, std::span<const double> h, std::size_t dimension);

/// How many numbers that is, of n points and an embedding of so many dimensions.
std::size_t signature_length(Similarity similarity, std::size_t points, std::size_t dimension);

/// [K][K] inner products of signatures of one kind.
std::vector<double> similarities(const std::vector<const std::vector<double>*>& signatures);

}  // namespace fedpp::federation
