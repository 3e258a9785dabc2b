"""
Classifies texts by logistic regression on TF-IDF beside ELMo, which know more than either alone.

    python examples/features_sklearn.py
"""

import csv

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from elmo_tasks.sklearn import ElmoFeatures

with open("fixtures/classify.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]

words, elmo = TfidfVectorizer(), make_pipeline(ElmoFeatures("base"), StandardScaler())
both = FeatureUnion(
    [("words", words), ("elmo", elmo)], transformer_weights={"words": 10**0.5, "elmo": 0.01**0.5}
)
classifier = make_pipeline(both, LogisticRegression(max_iter=1000))

print(f"accuracy on texts held out: {cross_val_score(classifier, texts, labels, cv=2).mean():.2f}")
classifier.fit(texts, labels)
print(classifier.predict(["The soup was cold."])[0])
