from setuptools import find_packages, setup

setup(
    name="elmo-tasks",
    version="0.1.0",
    description="Deep contextualized word representations (ELMo) and their tasks, for AllenNLP",
    license="Apache-2.0",
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=["elmo_tasks", "elmo_tasks.*"]),
    package_data={
        "elmo_tasks": [
            "py.typed",
            "pretrained/**/options.json",
            "pretrained/**/weights.hdf5",
            "pretrained/**/MODEL_CARD.md",
            "pretrained/**/*.txt",
        ]
    },
    # Empty, because AllenNLP's own pins (torch < 1.13 and others) cannot be resolved beside the
    # versions it is run with here: `pip install --no-deps -r requirements.txt` installs those.
    install_requires=[],
)
