"""
Classifies texts by a biLSTM in PyTorch that reads [x_k; ELMo_k] (section 3.3 of the paper): the
vector of a word, which trains, beside its ELMo, of which the mix trains and the biLM does not.

    python examples/classify_pytorch.py
"""

import csv

import torch

from elmo_tasks.elmo import Elmo

with open("fixtures/classify.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
texts = [row["text"].split() for row in rows]
labels = sorted({row["label"] for row in rows})
words = {word: index for index, word in enumerate(sorted({w for text in texts for w in text}))}
gold = torch.tensor([labels.index(row["label"]) for row in rows])


class Classifier(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.elmo = Elmo.from_pretrained("base", dropout=0.2)
        # The last row is for words that the training text lacks.
        self.embedding = torch.nn.Embedding(len(words) + 1, 16)
        width = 16 + self.elmo.get_output_dim()
        self.encoder = torch.nn.LSTM(width, 32, batch_first=True, bidirectional=True)
        self.scores = torch.nn.Linear(64, len(labels))

    def forward(self, texts: list[list[str]]) -> torch.Tensor:
        vectors, mask = self.elmo(texts)
        x = vectors.new_zeros(*mask.shape, 16)
        x[mask] = self.embedding(
            torch.tensor([words.get(word, len(words)) for text in texts for word in text])
        )
        h, _ = self.encoder(torch.cat([x, vectors], dim=-1))
        return self.scores(h.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(dim=1))


classifier = Classifier()
optimizer = torch.optim.Adam((p for p in classifier.parameters() if p.requires_grad), lr=0.01)
for _ in range(8):
    classifier.train()
    loss = torch.nn.functional.cross_entropy(classifier(texts), gold)
    # The paper's L2 penalty on the weights of the layers, before their softmax.
    loss = loss + 0.001 * classifier.elmo.mixes[0].scalar_parameters.square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

classifier.eval()
with torch.no_grad():
    accuracy = (classifier(texts).argmax(dim=-1) == gold).double().mean().item()
    print(f"accuracy on the training texts: {accuracy:.2f}")
    print(labels[classifier(["The soup was cold .".split()]).argmax()])
print(f"how much of each layer: {classifier.elmo.mixes[0].weights.tolist()}")
