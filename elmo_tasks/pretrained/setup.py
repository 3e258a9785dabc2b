"""Builds the wheel of elmo-tasks-models: what is in this folder, except for `mini`."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
(VERSION,) = re.findall(r'__version__ = "(.+)"', (HERE.parent / "__init__.py").read_text())

setup(
    name="elmo-tasks-models",
    version=VERSION,
    description="The biLM base and the trained models of elmo-tasks",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license_expression="Apache-2.0 AND LicenseRef-terms-of-the-data",
    license_files=["LICENSE", "README.md"],
    python_requires=">=3.10",
    packages=["elmo_tasks_models"],
    package_dir={"elmo_tasks_models": "."},
    package_data={"elmo_tasks_models": ["README.md", "base/*", "base-1/*", "models/**"]},
    install_requires=[f"elmo-tasks=={VERSION}"],
)
