"""
ELMo in spaCy: the components `elmo`, `elmo_coref`, `elmo_ner`, `elmo_sentiment`, `elmo_srl`,
`elmo_tagger` and `elmo_textcat`, and the architecture `elmo_tasks.Tok2Vec.v1`. Importing this
package registers them. If elmo_tasks is installed, spaCy finds them without an import.
"""

from elmo_tasks.spacy import components, tok2vec  # noqa: F401
from elmo_tasks.spacy.elmo import ElmoComponent, use_elmo

__all__ = ["ElmoComponent", "use_elmo"]
