// Inner products of signatures against the similarities as they are defined, in plain loops over embeddings.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "federation/similarity.hpp"

namespace {
using namespace fedpp::federation;

using Points = std::vector<std::vector<double>>;  // [n][D]

Points random_points(std::size_t n, std::size_t d, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0.3, 1);
  Points points(n, std::vector<double>(d));
  for (auto& point : points)
    for (double& x : point) x = normal(engine);
  return points;
}

std::vector<double> flat(const Points& points) {
  std::vector<double> h;
  for (const auto& point : points) h.insert(h.end(), point.begin(), point.end());
  return h;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

std::vector<double> mean_of(const Points& points) {
  std::vector<double> mean(points[0].size(), 0.0);
  for (const auto& point : points)
    for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += point[d] / static_cast<double>(points.size());
  return mean;
}

/// Centred kernel alignment from the matrices H K H.
double alignment(const Points& a, const Points& b) {
  const std::size_t n = a.size();
  const auto centred = [&](const Points& points) {
    Points k(n, std::vector<double>(n, 0.0)), result = k;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t d = 0; d < points[0].size(); ++d) k[i][j] += points[i][d] * points[j][d];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double row = 0, column = 0, all = 0;
        for (std::size_t x = 0; x < n; ++x) {
          row += k[i][x], column += k[x][j];
          for (std::size_t y = 0; y < n; ++y) all += k[x][y];
        }
        const auto m = static_cast<double>(n);
        result[i][j] = k[i][j] - row / m - column / m + all / (m * m);
      }
    return flat(result);
  };
  return cosine(centred(a), centred(b));
}

double between(Similarity similarity, const Points& a, const Points& b) {
  const auto u = signature(similarity, flat(a), a[0].size()), v = signature(similarity, flat(b), b[0].size());
  const auto all = similarities({&u, &v});
  EXPECT_EQ(all[1], all[2]);
  EXPECT_NEAR(all[0], 1, 1e-12);
  EXPECT_NEAR(all[3], 1, 1e-12);
  return all[1];
}

TEST(Similarity, InnerProductsOfSignaturesAreTheDefinitions) {
  for (const std::size_t n : {2, 9, 64})
    for (const std::size_t d : {1, 5, 32}) {
      const auto a = random_points(n, d, 1), b = random_points(n, d, 2);
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) mean += cosine(a[i], b[i]) / static_cast<double>(n);
      EXPECT_NEAR(between(Similarity::kMeanOfCosines, a, b), mean, 1e-12);
      EXPECT_NEAR(between(Similarity::kCosineOfMeans, a, b), cosine(mean_of(a), mean_of(b)), 1e-12);
      EXPECT_NEAR(between(Similarity::kCentredGram, a, b), alignment(a, b), 1e-12);
    }
}

TEST(Similarity, OnlyTheCentredGramIsBlindToRotationsAndShifts) {
  const auto a = random_points(20, 2, 3);
  auto turned = a;
  for (auto& p : turned) p = {0.6 * p[0] - 0.8 * p[1] - 5, 0.8 * p[0] + 0.6 * p[1] + 2};
  EXPECT_NEAR(between(Similarity::kCentredGram, a, turned), 1, 1e-12);
  EXPECT_LT(between(Similarity::kMeanOfCosines, a, turned), 0.9);
  EXPECT_LT(between(Similarity::kCosineOfMeans, a, turned), 0.9);
}

TEST(Similarity, WhatSaysNothingIsLikeNobody) {
  const std::vector<double> h{1, 2, 3, 4};
  for (const auto kind : {Similarity::kMeanOfCosines, Similarity::kCosineOfMeans, Similarity::kCentredGram}) {
    const auto known = signature(kind, h, 2);
    for (const auto& other : {std::vector<double>(4, 0.0), std::vector<double>{1, NAN, 2, 3}}) {
      const auto nothing = signature(kind, other, 2);
      EXPECT_EQ(similarities({&known, &nothing})[1], 0);
      EXPECT_EQ(similarities({&known, &nothing})[3], 0);
    }
  }
}

TEST(Similarity, APointThatSaysNothingTakesNothingFromTheOthers) {
  const auto all = signature(Similarity::kMeanOfCosines, std::vector<double>{1, 2, 3, 4}, 2);
  const auto half = signature(Similarity::kMeanOfCosines, std::vector<double>{1, 2, 0, 0}, 2);
  EXPECT_NEAR(similarities({&all, &half})[1], 0.5, 1e-12);
}

TEST(Similarity, ASignaturesLengthIsSaidBeforeItIsMade) {
  for (const auto kind : {Similarity::kMeanOfCosines, Similarity::kCosineOfMeans, Similarity::kCentredGram})
    EXPECT_EQ(signature(kind, flat(random_points(7, 3, 1)), 3).size(), signature_length(kind, 7, 3));
}

}  // namespace
