// A column-major matrix that others own: what a kernel's pointer, sizes and stride say together, so that kernels read
// like the equations which they implement.
#pragma once

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

template <class T>
struct Matrix {
  T* data;
  int rows, columns;
  int stride;  ///< numbers from a column to the next

  KOKKOS_INLINE_FUNCTION Matrix(T* x, int m, int n, int ld) : data(x), rows(m), columns(n), stride(ld) {}
  /// Columns without gaps.
  KOKKOS_INLINE_FUNCTION Matrix(T* x, int m, int n) : Matrix(x, m, n, m) {}
  /// The same, to be read only.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  KOKKOS_INLINE_FUNCTION Matrix(const Matrix<U>& other)  // NOLINT: as a pointer converts
      : Matrix(other.data, other.rows, other.columns, other.stride) {}

  KOKKOS_INLINE_FUNCTION T& operator()(int r, int c) const { return column(c)[r]; }
  KOKKOS_INLINE_FUNCTION T* column(int c) const { return data + static_cast<Index>(c) * stride; }
  KOKKOS_INLINE_FUNCTION Matrix rows_from(int first, int count) const {
    return Matrix(data + first, count, columns, stride);
  }
  KOKKOS_INLINE_FUNCTION Matrix columns_from(int first, int count) const {
    return Matrix(column(first), rows, count, stride);
  }
  /// Of a matrix without gaps: entry `at` of size() in the order of memory.
  KOKKOS_INLINE_FUNCTION T& operator[](Index at) const { return data[at]; }
  KOKKOS_INLINE_FUNCTION Index size() const { return static_cast<Index>(rows) * columns; }
};

/// A matrix or its transpose as a factor of a product, op(A): [rows x columns].
template <class T>
struct Factor {
  const T* data;
  int rows, columns;
  int stride;       ///< of the matrix that is stored
  bool transposed;  ///< whether that is op(A)'

  KOKKOS_INLINE_FUNCTION Factor(Matrix<const T> a)  // NOLINT: a matrix is a factor
      : data(a.data), rows(a.rows), columns(a.columns), stride(a.stride), transposed(false) {}
  KOKKOS_INLINE_FUNCTION Factor(Matrix<T> a) : Factor(Matrix<const T>(a)) {}  // NOLINT: a matrix is a factor
  KOKKOS_INLINE_FUNCTION Factor(const T* x, int m, int n, int ld, bool is_transposed)
      : data(x), rows(m), columns(n), stride(ld), transposed(is_transposed) {}

  /// Numbers from an entry to the one below it, and to the one on its right.
  KOKKOS_INLINE_FUNCTION Index down() const { return transposed ? stride : 1; }
  KOKKOS_INLINE_FUNCTION Index right() const { return transposed ? 1 : stride; }
};

/// T, where the result of a call and not its factors says what T is: double, or float for products in mixed precision.
template <class T>
using Same = std::type_identity_t<T>;

/// A' as a factor.
template <class T>
KOKKOS_INLINE_FUNCTION Factor<std::remove_const_t<T>> transposed(const Matrix<T>& a) {
  return {a.data, a.columns, a.rows, a.stride, true};
}

}  // namespace fedpp::gpu
