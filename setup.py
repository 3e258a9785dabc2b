"""Builds elmo-tasks. elmo_tasks/pretrained/setup.py reads this, too."""

import os
import platform
import re
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

ROOT = Path(__file__).resolve().parent
README = ROOT / "README.md"
(VERSION,) = re.findall(r'__version__ = "(.+)"', (ROOT / "elmo_tasks/__init__.py").read_text())

# The address of the repository without `.git`; empty until it has one.
REPOSITORY = ""

LINKS = {
    "Source": REPOSITORY,
    "Issues": f"{REPOSITORY}/issues",
    "Documentation": f"{REPOSITORY}/blob/v{VERSION}/README.md#i-want-to-",
    "Changelog": f"{REPOSITORY}/blob/v{VERSION}/CHANGELOG.md",
    "Licences of the models": f"{REPOSITORY}/blob/v{VERSION}/elmo_tasks/pretrained/README.md",
}
CLASSIFIERS = [
    "Development Status :: 4 - Beta",
    "Intended Audience :: Science/Research",
    "Natural Language :: English",
    "Operating System :: POSIX :: Linux",
    # docs/install.md has a table of what was tried with each Python.
    *(f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 14)),
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Topic :: Text Processing :: Linguistic",
    "Typing :: Typed",
]
# A link, or a picture if it begins with "!".
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|#)([^()\s]+)\)")


def away_from_home(page: Path) -> str:
    """
    Returns a page as an index shows it: with addresses in place of paths. Without an address of the
    repository, links become text and pictures are left out.
    """

    def replaced(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if not REPOSITORY:
            return "" if picture else words
        path = os.path.relpath(page.parent / target, ROOT).replace(os.sep, "/")
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({REPOSITORY}/{kind}/v{VERSION}/{path})"

    return LINK.sub(replaced, page.read_text(encoding="utf-8"))


# What AllenNLP 2.10.1 imports, and the packages that its features need, in the versions that it
# runs on. AllenNLP itself is not listed, because it declares older ones: it is installed by
# `pip install --no-deps allennlp==2.10.1` (docs/install.md).
ALLENNLP = [
    "base58>=2.1.1",
    "cached-path>=1.8,<2",
    "dill>=0.3.4",
    "fairscale==0.4.13",
    "huggingface-hub<1",
    "jsonnet>=0.21",
    "lmdb>=1.4.1",
    "matplotlib>=3.8",
    "more-itertools>=8.12",
    "nltk>=3.6.5",
    "protobuf>=4",
    "requests>=2.28",
    "scikit-learn>=1.3",
    "scipy>=1.11",
    "spacy>=3.8,<4",
    "tensorboardX>=2.6",
    "termcolor>=1.1",
    "torchvision>=0.21",
    "transformers>=4.49,<4.50",
    "typer>=0.9",
]


# The instructions of a CPU that each file of compiled functions may use.
INSTRUCTIONS = {
    "plain": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx2", "-mfma"]
    + [f"-mavx512{part}" for part in ("f", "bw", "dq", "vl")]
    + ["-mprefer-vector-width=512"],
}
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-shared", "-fPIC"]


def kernels() -> list[Extension]:
    """
    Returns the compiled functions, which are optional: without a C++ compiler, the package has
    none. With ELMO_TASKS_NATIVE=0, a wheel has none and suits every machine.
    """
    if os.environ.get("ELMO_TASKS_NATIVE") == "0":
        return []
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    return [
        Extension(
            f"elmo_tasks.kernels.kernels_{name}",
            ["elmo_tasks/kernels/kernels.cpp"],
            extra_compile_args=FLAGS + flags,
            depends=["setup.py"],
            optional=True,
        )
        for name, flags in INSTRUCTIONS.items()
        if is_x86 or not flags
    ]


class BuildKernels(build_ext):
    """Makes plain shared libraries, which any Python loads by their path."""

    def get_ext_filename(self, fullname: str) -> str:
        # With a dot in its name, a file is not taken for a module of Python.
        *folders, name = fullname.split(".")
        return os.path.join(*folders, name.replace("_", ".") + ".so")

    def build_extension(self, ext: Extension) -> None:
        target = self.get_ext_fullpath(ext.name)
        if not self.force and not newer_group(ext.sources + ext.depends, target):
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        compiler = os.environ.get("CXX", "c++")
        self.spawn([compiler, *ext.extra_compile_args, "-o", target, *ext.sources])


class AnyPython(bdist_wheel):
    """Names a wheel after the machine that its kernels run on, if it has any, and no Python."""

    def get_tag(self) -> tuple[str, str, str]:
        has_kernels = any(Path(self.bdist_dir).rglob("*.so"))
        return "py3", "none", super().get_tag()[2] if has_kernels else "any"


if __name__ == "__main__":
    setup(
        name="elmo-tasks",
        version=VERSION,
        description="Deep contextualized word representations (ELMo) and their tasks, for AllenNLP",
        long_description=away_from_home(README),
        long_description_content_type="text/markdown",
        license_expression="Apache-2.0",
        license_files=["LICENSE", "NOTICE"],
        python_requires=">=3.11",
        classifiers=CLASSIFIERS,
        project_urls=LINKS if REPOSITORY else {},
        packages=[
            *find_packages(include=["elmo_tasks", "elmo_tasks.*"]),
            "elmo_tasks.training_configs",
        ],
        # The configs are at the top of the repository, where configs of users import them.
        package_dir={"elmo_tasks.training_configs": "training_configs"},
        package_data={
            "elmo_tasks": [
                "py.typed",
                # The rest of the folder is another distribution: elmo_tasks/pretrained/setup.py.
                "pretrained/README.md",
                "pretrained/mini/*",
                "serve/static/*",
            ],
            "elmo_tasks.training_configs": [
                "lib/*.json",
                "lib/*.libsonnet",
                "*/*.jsonnet",
                "*/*.cfg",
            ],
        },
        ext_modules=kernels(),
        cmdclass={"build_ext": BuildKernels, "bdist_wheel": AnyPython},
        # The lowest versions that scripts/installed_checks.py passes with.
        install_requires=[
            "torch>=2.6",
            "filelock>=3.30",
            "numpy>=1.26",
            "h5py>=3.10",
            "safetensors>=0.4.3",
            "tqdm>=4.66",
        ],
        extras_require={
            "allennlp": ALLENNLP,
            "models": [f"elmo-tasks-models=={VERSION}"],
            # Both read and write files of ONNX; `elmo-tasks export --onnx` needs the first alone.
            "onnx": ["onnx>=1.17", "onnxruntime>=1.20"],
            "parquet": ["pyarrow>=26"],
            "plots": ["matplotlib>=3.8"],
            "ray": ["ray[data]>=2.60", "pyarrow>=26"],
            "serve": ["starlette>=0.40", "uvicorn>=0.30"],
            "sklearn": ["scikit-learn>=1.3", "regex>=2022.10.31"],
            "spacy": ["spacy>=3.8,<4"],
        },
        entry_points={
            "console_scripts": ["elmo-tasks = elmo_tasks.__main__:main"],
            # spaCy finds its components and architectures by these.
            "spacy_factories": [
                "elmo = elmo_tasks.spacy.factories:elmo",
                "elmo_coref = elmo_tasks.spacy.factories:elmo_coref",
                "elmo_ner = elmo_tasks.spacy.factories:elmo_ner",
                "elmo_sentiment = elmo_tasks.spacy.factories:elmo_sentiment",
                "elmo_srl = elmo_tasks.spacy.factories:elmo_srl",
                "elmo_tagger = elmo_tasks.spacy.factories:elmo_tagger",
                "elmo_textcat = elmo_tasks.spacy.factories:elmo_textcat",
            ],
            "spacy_architectures": ["elmo_tasks.Tok2Vec.v1 = elmo_tasks.spacy.factories:tok2vec"],
        },
    )
