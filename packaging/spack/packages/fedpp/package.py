"""Spack recipe of fedpp, run with Spack 1.1: `spack -e jobs/environment install` builds the sources that this file lies in. After `spack repo add
packaging/spack`, `spack install fedpp` builds the branch main of the repository that this file lies in, or of the one that FEDPP_GIT names."""

import os
import pathlib

from spack.package import *


class Fedpp(CMakePackage, CudaPackage):
    """Federated Bayesian point processes on HPC machines."""

    # Spack refuses an empty one, even for sources that it does not clone.
    git = os.environ.get("FEDPP_GIT") or pathlib.Path(__file__).resolve().parents[4].as_uri()
    license("Apache-2.0")
    version("main", branch="main")

    variant("openmp", default=True, description="Threads inside a rank (Kokkos with OpenMP)")
    variant("report", default=True, description="Python with what 'fedpp report' draws with")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("git", type="build")  # the revision in the executable
    depends_on("mpi")
    depends_on("hdf5@1.10:")
    depends_on("blas")
    depends_on("lapack")
    depends_on("zlib-api")
    depends_on("xxhash")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3.3:")

    depends_on("kokkos@4.6:")
    depends_on("kokkos ~openmp", when="~openmp")
    depends_on("kokkos +openmp", when="+openmp")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda +wrapper cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    requires("^kokkos@:4 +cuda_lambda", when="+cuda ^kokkos@:4")  # from 5 on lambdas are always there
    conflicts("cuda_arch=none", when="+cuda", msg="+cuda needs cuda_arch=, as in cuda_arch=90")

    depends_on("python@3.10:", type="run", when="+report")
    depends_on("py-numpy", type="run", when="+report")
    depends_on("py-h5py", type="run", when="+report")
    depends_on("py-matplotlib", type="run", when="+report")

    depends_on("googletest +gmock", type="test")
    depends_on("python@3.10:", type="test")
    depends_on("py-numpy", type="test")
    depends_on("py-h5py", type="test")
    depends_on("py-matplotlib", type="test")

    generator("ninja")

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", self.prefix.share.fedpp.python)

    def cmake_args(self):
        # Spack's compiler wrapper names the target processor.
        args = [self.define("FEDPP_ARCH", ""), self.define("FEDPP_BUILD_TESTS", self.run_tests),
                self.define_from_variant("FEDPP_REQUIRE_CUDA", "cuda")]
        if self.spec.satisfies("+cuda"):
            # Kokkos' own, which a Kokkos that Spack did not build (a module's) has, too.
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["kokkos"].prefix.bin.nvcc_wrapper))
        return args
