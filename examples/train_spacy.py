"""
Trains spaCy's entity recognizer on [x_k; ELMo_k], saves the pipeline and loads it.

    python examples/train_spacy.py
"""

import os

import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

import elmo_tasks.spacy  # noqa: F401  registers the architecture

TEXTS = [
    ("Mara Lind moved to Bergen.", [(0, 9, "PERSON"), (19, 25, "PLACE")]),
    ("In Lisbon she met Tom Hale.", [(3, 9, "PLACE"), (18, 26, "PERSON")]),
    ("The ferry to Dover was late.", [(13, 18, "PLACE")]),
    ("Anna Weiss wrote to her aunt.", [(0, 10, "PERSON")]),
]

embed = {
    "@architectures": "elmo_tasks.Tok2Vec.v1",
    "width": 64,
    "bilm": "base",
    "words": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 64,
        "attrs": ["NORM", "SHAPE"],
        "rows": [2000, 500],
        "include_static_vectors": False,
    },
}
encode = {
    "@architectures": "spacy.MaxoutWindowEncoder.v2",
    "width": 64,
    "depth": 2,
    "window_size": 1,
    "maxout_pieces": 3,
}
model = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 64,
    "maxout_pieces": 2,
    "tok2vec": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode},
}

fix_random_seed(1)
nlp = spacy.blank("en")
nlp.add_pipe("ner", config={"model": model})
examples = [Example.from_dict(nlp.make_doc(text), {"entities": spans}) for text, spans in TEXTS]
optimizer = nlp.initialize(lambda: examples)
for step in range(20):
    losses = nlp.update(examples, sgd=optimizer)
    if step % 5 == 4:
        print(f"step {step + 1}: loss {losses['ner']:.2f}")

os.makedirs("runs", exist_ok=True)
nlp.to_disk("runs/spacy-ner")
doc = spacy.load("runs/spacy-ner")("Anna Weiss met Mara Lind in Dover.")
print([(entity.text, entity.label_) for entity in doc.ents])
