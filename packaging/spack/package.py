# A Spack recipe. From a checkout of Skein:
#
#     make dist && cd build/dist
#     spack repo create skein-repo && mkdir -p skein-repo/packages/skein
#     cp ../../packaging/spack/package.py skein-repo/packages/skein/ && spack repo add skein-repo
#     spack install --no-checksum skein ^openmpi
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.meson import MesonPackage
except ImportError:
    pass  # before Spack 1.0 it is in spack.package


class Skein(MesonPackage):
    """Faster collectives for unmodified MPI programs: `skein run mpirun -n 64 ./app`."""

    manual_download = True
    url = f"file://{os.getcwd()}/skein-0.2.0.tar.xz"

    license("BSD-3-Clause")

    version("0.2.0")

    variant("match", default=True, description="Build the libfabric provider of `skein run --match`")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("libfabric@1.17:", when="+match")

    requires("^[virtuals=mpi] openmpi@4.1:", "^[virtuals=mpi] mpich@4.0:", policy="one_of")

    def meson_args(self):
        flavour = "openmpi" if self.spec.satisfies("^openmpi") else "mpich"
        return [f"-Dflavours={flavour}", "-Dtests=disabled", "-Dwerror=false"]

    def test_info(self):
        """the command finds its libraries"""
        skein = which(join_path(self.prefix.bin, "skein"))
        out = skein("info", output=str.split)
        assert str(self.spec.version) in out and "libskein-" in out
