"""Public incidents in which a package installed later changed what a training venv runs."""

import zipfile

from tests import wheels
from tests.incidents.conftest import LOCK, NCCL, NVIDIA, NVSHMEM, SITE, Station

CHANGED, GONE, STRAY = "venv-file-changed", "venv-file-missing", "venv-file-unowned"
EXTRA, VERSION, UNMET = "venv-distribution-extra", "venv-distribution-version", "venv-requirement-unmet"


def test_nothing_happened(station: Station) -> None:
    """No incident: parts of one CUDA share an empty nvidia/__init__.py, and a requirement is for another system."""
    verdict = station.doctor()
    assert (verdict.exit_code, verdict.errors, verdict.warnings) == (0, {}, {}), verdict


def test_an_uninstall_takes_a_file_that_another_package_needs(station: Station) -> None:
    """sgl-project/sglang#31035: NVSHMEM for CUDA 12 and for CUDA 13 hold one library under one path. Uninstalling
    the foreign one took the library of both; the package that remained still said that it was installed, so that no
    later install put the library back."""
    wheels.make(station.house, "nvidia-nvshmem-cu13", "3.5.0", files=NVIDIA | {NVSHMEM: "NVSHMEM for 13"})
    station.uv("install", "nvidia-nvshmem-cu13")
    station.uv("uninstall", "nvidia-nvshmem-cu13")
    assert not (station.site / NVSHMEM).exists()
    station.uv("check")
    assert "Installed" not in station.uv("install", "nvidia-nvshmem-cu12==3.4.5"), "a plain install restores nothing"

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [GONE], {})
    verdict.says(GONE, f"{SITE}/{NVSHMEM} of nvidia-nvshmem-cu12: missing", "dflash-env rebuild")

    rebuilt = station.rebuild()
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
    assert (station.site / NVSHMEM).read_text() == "NVSHMEM for 12"


def test_two_packages_write_one_path_and_the_last_one_wins(station: Station) -> None:
    """pytorch/pytorch#186591 and rwth-i6/returnn#1802: NCCL for CUDA 12 and for CUDA 13 were both installed and both
    as their metadata said; the file on disk was the other one's, and `import torch` missed a symbol."""
    wheels.make(station.house, "nvidia-nccl-cu13", "2.29.7", files=NVIDIA | {NCCL: "NCCL for 13"})
    station.uv("install", "nvidia-nccl-cu13")
    assert (station.site / NCCL).read_text() == "NCCL for 13"

    verdict = station.doctor()
    assert (verdict.exit_code, verdict.warnings) == (1, {})
    assert list(verdict.errors) == ["venv-cuda-mixed", EXTRA, "venv-path-contested"]
    verdict.says(EXTRA, "nvidia-nccl-cu13 2.29.7 is installed and not locked")
    verdict.says("venv-cuda-mixed", "CUDA 13: nvidia-nccl-cu13 2.29.7", "the lock is for CUDA 12.8")
    verdict.says(
        "venv-path-contested",
        f"{SITE}/{NCCL}: claimed by nvidia-nccl-cu12 and nvidia-nccl-cu13; "
        "the bytes on disk are those of nvidia-nccl-cu13",
        "dflash-env rebuild",
        "removes the shared files",
    )


def test_an_add_on_swaps_torch_for_one_without_cuda(station: Station) -> None:
    """oobabooga/textgen#7581, facebookresearch/xformers#802 and vllm-project/vllm#9701: an add-on pins another patch
    of torch, and the index that was asked had only a build for CPUs. Training went on, on the CPU."""
    wheels.make(station.house, "torch", "2.9.0+cpu", files={"torch/version.py": "cuda = None\n"})
    station.offer("xformers", "0.0.33", "torch==2.9.0")
    station.uv("install", "xformers")
    assert station.python("import torch.version; print(torch.version.cuda)") == "None"

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [EXTRA, VERSION], {})
    verdict.says(VERSION, "torch 2.9.0+cpu is installed; the lock has 2.9.1+cu128", "dflash-env rebuild")
    verdict.says(EXTRA, "xformers 0.0.33 is installed and not locked")


def test_an_inference_server_replaces_the_torch_that_an_extension_was_built_for(station: Station) -> None:
    """ltzheng/SimpleTIR#29, vllm-project/vllm#3912 and sgl-project/sglang#5100: a server brought an older torch. The
    compiled attention was still the one for the newer torch, and its import missed a symbol."""
    station.offer("torch", "2.6.0+cu124")
    station.offer("vllm", "0.8.5", "torch==2.6.0")
    station.uv("install", "vllm")
    assert [path.name for path in station.site.glob("flash_attn-*")] == ["flash_attn-2.8.3+cu12torch2.9.dist-info"]

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [EXTRA, VERSION], {})
    verdict.says(VERSION, "torch 2.6.0+cu124 is installed; the lock has 2.9.1+cu128", "dflash-env rebuild")
    verdict.says(EXTRA, "vllm 0.8.5 is installed and not locked", "venv of their own")


def test_an_extension_for_another_torch_takes_the_locked_ones_place(station: Station) -> None:
    """The same the other way round: torch is the locked one, and the extension was built for an older one."""
    station.offer("flash-attn", "2.8.1+cu12torch2.7", "torch")
    station.uv("install", "flash-attn==2.8.1+cu12torch2.7")

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [VERSION], {})
    verdict.says(VERSION, "flash-attn 2.8.1+cu12torch2.7 is installed; the lock has 2.8.3+cu12torch2.9")


def test_a_downgrade_leaves_modules_and_takes_a_pth_along(station: Station) -> None:
    """NVIDIA/cutlass#3132: from one release to the next the files moved into a helper package. After the way back
    the helper and its modules were still there, and with the helper went the .pth that made all of it importable."""
    moved = {"nvidia_cutlass_dsl.pth": "nvidia_cutlass_dsl\n", "nvidia_cutlass_dsl/libs/x.so": "4.4.1"}
    wheels.make(station.house, "nvidia-cutlass-dsl-libs-base", "4.4.1", files=moved)
    station.offer("nvidia-cutlass-dsl", "4.4.1", "nvidia-cutlass-dsl-libs-base==4.4.1")
    station.uv("install", "nvidia-cutlass-dsl==4.4.1")
    station.uv("install", "nvidia-cutlass-dsl==4.3.0")
    experimental = station.site / "nvidia_cutlass_dsl/cute/experimental"
    experimental.mkdir()
    (experimental / "__init__.py").write_text("raise NotImplementedError\n")
    (experimental / "math.py").write_text("")

    verdict = station.doctor()
    # uv also writes down in the package's own metadata that it was asked for by name.
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [EXTRA, CHANGED, STRAY], {})
    verdict.says(EXTRA, "nvidia-cutlass-dsl-libs-base 4.4.1 is installed and not locked")
    verdict.says(STRAY, f"{SITE}/nvidia_cutlass_dsl/cute/experimental/", " and 1 more: no package", "rebuild")

    station.uv("uninstall", "nvidia-cutlass-dsl-libs-base")
    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [CHANGED, GONE, STRAY], {})
    verdict.says(GONE, f"{SITE}/nvidia_cutlass_dsl.pth of nvidia-cutlass-dsl: missing", "rebuild")


def test_a_second_and_hollow_metadata_folder_of_torch(station: Station) -> None:
    """python/cpython#100666, python/importlib_metadata#457 and #291: an upgrade that was cut off left the old
    version's folder with one empty file in it. Whoever asked for torch's version got none."""
    hollow = station.site / "torch-1.12.1+cu116.dist-info"
    hollow.mkdir()
    (hollow / "REQUESTED").write_text("")
    ask = "from importlib.metadata import distributions; print(sorted(str(d.name) for d in distributions()))"
    assert "'None'" in station.python(ask)

    assert_hollow_torch(station)


def test_a_hollow_metadata_folder_without_any_file(station: Station) -> None:
    """The same, where not even that one file was left."""
    (station.site / "torch-1.12.1+cu116.dist-info").mkdir()
    assert_hollow_torch(station)


def assert_hollow_torch(station: Station) -> None:
    """One finding that names both; the real torch, whose RECORD is whole, is not accused."""
    verdict = station.doctor()
    assert (verdict.exit_code, verdict.warnings) == (1, {})
    messages = [each for found in verdict.errors.values() for each in found]
    assert len(messages) == 1, messages
    assert "torch" in messages[0] and "1.12.1+cu116" in messages[0] and "2.9.1+cu128" in messages[0], messages


def put_aside(station: Station) -> None:
    """`~orch` and its metadata, as pip names what it is about to remove."""
    older = wheels.make(station.home, "torch", "2.7.1+cu128", files={"torch/version.py": "cuda = '12.6'\n"})
    with zipfile.ZipFile(older.path) as archive:
        archive.extractall(station.home / "older")
    for name in ("torch", "torch-2.7.1+cu128.dist-info"):
        (station.home / "older" / name).rename(station.site / f"~{name[1:]}")


def test_what_a_cut_off_uninstall_put_aside_is_an_error(station: Station) -> None:
    """pypa/pip#10452 and pypa/pip#14047: pip renames what it is about to remove, and died in between. pip itself only
    warns, since `~orch` cannot be imported by any name. We are stricter: a sealed venv holds nothing that its lock does
    not name, and the entry points in such metadata are still loaded."""
    put_aside(station)
    assert station.python("import torch.version; print(torch.version.cuda)") == "12.8"
    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [STRAY], {})
    verdict.says(STRAY, f"{SITE}/~orch/version.py", f"{SITE}/~orch-2.7.1+cu128.dist-info/", "dflash-env rebuild")


def test_what_a_cut_off_uninstall_put_aside_is_not_taken_for_torch(station: Station) -> None:
    """The same incident: the torch that is imported is the locked one, in version, files and RECORD."""
    put_aside(station)
    verdict = station.doctor()
    messages = [each for found in (verdict.errors | verdict.warnings).values() for each in found]
    assert messages
    aside = [each for each in messages if each.startswith(f"{SITE}/~orch") and "uninstall that was cut off" in each]
    assert aside == messages


def test_a_cut_off_uninstall_that_took_a_part_of_torch_along(station: Station) -> None:
    """The same incident, where the step that was cut off did reach the real package."""
    put_aside(station)
    (station.site / "torch/version.py").unlink()
    verdict = station.doctor()
    assert verdict.exit_code == 1
    verdict.says(GONE, f"{SITE}/torch/version.py of torch: missing", "dflash-env rebuild")


def test_triton_moves_past_the_version_that_torch_asks_for(station: Station) -> None:
    """coreweave/ml-containers#64 and vllm-project/vllm#3426: a layer of an image took the newest triton. torch asks
    for exactly one version, and compiling missed a name in the other."""
    station.offer("triton", "3.6.0")
    station.offer("bitsandbytes", "0.49.0", "triton>=3.6")
    station.uv("install", "bitsandbytes")

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [EXTRA, VERSION], {})
    verdict.says(VERSION, "triton 3.6.0 is installed; the lock has 3.5.1", "dflash-env rebuild")
    verdict.says(EXTRA, "bitsandbytes 0.49.0 is installed and not locked")


def test_a_lock_that_holds_another_triton_than_torch_asks_for(station: Station) -> None:
    """The same, where the newer triton came into the lock itself: all is as locked, and nothing fits."""
    torch = wheels.make(station.house, "torch", "2.8.0", ("triton==3.5.1; platform_system == 'Linux'",))
    station.relock(torch.locked, wheels.make(station.house, "triton", "3.6.0").locked)
    built = station.rebuild()
    assert built.returncode == 1, built.stdout + built.stderr

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [UNMET], {})
    verdict.says(UNMET, "torch requires triton==3.5.1", "version 3.6.0 is installed", "dflash-env lock")


def test_a_lock_row_without_a_hash_downloads_nothing(station: Station) -> None:
    """nod-ai/AMD-SHARK-Studio#743, karpathy/nanoGPT#13 and triton-lang/triton#1424: a stranger's package of the same
    name stood on the public index, and nightly users got it. Here a lock names no index, so any may answer; what
    answers is held against a hash, and a row that has none is no lock: it is refused before uv is started."""
    with station.lockfile.open("a") as lock:
        lock.write("torchtriton==3.0.0\n")
    station.commit()
    before = sorted(station.state.venvs.iterdir())
    for done in (station.rebuild(), station.run("doctor", "--profile", "bench")):
        assert done.returncode == 2
        line = len(station.lockfile.read_text().splitlines())
        assert f"{LOCK}.txt:{line}: expected `name==version --hash=sha256:" in done.stderr
        assert "torchtriton==3.0.0" in done.stderr and "dflash-env lock" in done.stderr
    assert sorted(station.state.venvs.iterdir()) == before
    assert not (station.home / ".cache").exists(), "nothing was fetched"


def test_a_strangers_package_of_the_locked_name_and_version_is_refused(station: Station) -> None:
    """The same incident, where the name is locked and the stranger answers for it, version and all."""
    theirs = wheels.make(station.house, "torchtriton", "3.0.0").locked
    station.relock(theirs)
    wheels.make(station.house, "torchtriton", "3.0.0", body="import os  # whatever the stranger likes\n")
    done = station.rebuild()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "torchtriton" in done.stderr
    assert not (station.state.venvs / ".building").exists()
    assert "stranger" not in "".join(path.read_text() for path in station.state.venvs.rglob("torchtriton/*.py"))
