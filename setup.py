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
            "bilm/native/kernels.cpp",
            "pretrained/**/options.json",
            "pretrained/**/weights.hdf5",
            "pretrained/**/MODEL_CARD.md",
            "pretrained/**/*.txt",
        ]
    },
    # Empty, because AllenNLP's upper bounds (torch < 1.13 and others) exclude the versions that
    # elmo_tasks is tested with. `pip install --no-deps -r requirements.txt` installs those.
    install_requires=[],
    # spaCy finds its components and architectures by these.
    entry_points={
        "spacy_factories": [
            "elmo = elmo_tasks.spacy.elmo:ElmoComponent",
            "elmo_ner = elmo_tasks.spacy.entities:EntityComponent",
            "elmo_sentiment = elmo_tasks.spacy.sentiment:SentimentComponent",
        ],
        "spacy_architectures": ["elmo_tasks.Tok2Vec.v1 = elmo_tasks.spacy.tok2vec:tok2vec"],
    },
)
