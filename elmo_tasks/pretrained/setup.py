"""Builds the wheel of elmo-tasks-models from this folder, except `mini`."""

import runpy
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
CODE = runpy.run_path(str(HERE.parents[1] / "setup.py"))
VERSION = CODE["VERSION"]

setup(
    name="elmo-tasks-models",
    version=VERSION,
    description="The biLM base and the trained models of elmo-tasks",
    long_description=CODE["away_from_home"](HERE / "README.md"),
    long_description_content_type="text/markdown",
    license_expression="Apache-2.0 AND LicenseRef-terms-of-the-data",
    license_files=["LICENSE", "README.md"],
    python_requires=">=3.11",
    classifiers=CODE["CLASSIFIERS"],
    project_urls=CODE["LINKS"] if CODE["REPOSITORY"] else {},
    packages=["elmo_tasks_models"],
    package_dir={"elmo_tasks_models": "."},
    package_data={"elmo_tasks_models": ["README.md", "base/*", "models/**"]},
    install_requires=[f"elmo-tasks=={VERSION}"],
)
