from collections.abc import Iterator

import torch
from tqdm import tqdm

from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.probe import Probe, ProbeRow, accuracy
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo.mix import ElmoMix

# The number of tokens that `predict` classifies at a time.
_GROUP = 8192


@Probe.register("linear")
class LinearProbe(Probe):
    """
    Trains a linear classifier on each layer alone, and one on a mix of all layers (Peters et al.
    2018, section 5.3). The weights of the mix are trained together with the classifier. Training
    uses Adam and a learning rate that falls to 0. The number of epochs is fixed, so that nothing is
    chosen on the validation data. If a token has several gold tags, training uses the first.

    Registered as a `Probe` with name "linear".

    # Parameters

    num_epochs (default `10`)
    batch_size (default `256`): Tokens per batch.
    learning_rate (default `0.003`): The learning rate of the first step.
    seed (default `1`): The seed of the initial weights and of the order of the tokens.
    """

    def __init__(
        self,
        num_epochs: int = 10,
        batch_size: int = 256,
        learning_rate: float = 0.003,
        seed: int = 1,
    ) -> None:
        self.num_epochs = num_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.seed = seed

    def rows(
        self, train: TaggedTokens, validation: TaggedTokens, most_frequent: MostFrequent
    ) -> Iterator[ProbeRow]:
        num_layers = train.layers.size(1)
        for layer in range(num_layers):
            name = layer_name(layer)
            only = slice(layer, layer + 1)
            # The layer is copied, so that its vectors are contiguous in memory.
            classifier = self._train(train._replace(layers=train.layers[:, only].clone()), name)
            predicted = classifier.predict(validation.layers[:, only])
            yield ProbeRow(name, accuracy(predicted, validation.tags))
        classifier = self._train(train, "mix")
        predicted = classifier.predict(validation.layers)
        weights = classifier.mix.weights.tolist()
        yield ProbeRow("mix", accuracy(predicted, validation.tags), weights)

    def _train(self, train: TaggedTokens, name: str) -> "LinearClassifier":
        random = torch.Generator().manual_seed(self.seed)
        classifier = LinearClassifier(train, random)
        index_of = {tag: index for index, tag in enumerate(classifier.tags)}
        labels = torch.tensor([index_of[tag] for tag, *_ in train.tags])
        num_steps = self.num_epochs * -(-len(labels) // self.batch_size)
        optimizer = torch.optim.Adam(classifier.parameters(), self.learning_rate)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, num_steps)
        with tqdm(total=num_steps, desc=f"probe of {name}", unit="step") as progress:
            for _ in range(self.num_epochs):
                order = torch.randperm(len(labels), generator=random)
                for batch in order.split(self.batch_size):
                    scores = classifier(train.layers[batch])
                    optimizer.zero_grad()
                    torch.nn.functional.cross_entropy(scores, labels[batch]).backward()
                    optimizer.step()
                    schedule.step()
                    progress.update()
        return classifier


class LinearClassifier(torch.nn.Module):
    """Softmax regression on a mix of layers. Its classes are the tags of the training data."""

    def __init__(self, train: TaggedTokens, random: torch.Generator) -> None:
        super().__init__()
        _, num_layers, dim = train.layers.shape
        self.tags = sorted({tag for tag, *_ in train.tags})
        self.mix = ElmoMix(num_layers, "all" if num_layers > 1 else 0, dropout=0.0)
        self.linear = torch.nn.Linear(dim, len(self.tags))
        torch.nn.init.normal_(self.linear.weight, std=dim**-0.5, generator=random)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, layers: torch.Tensor) -> torch.Tensor:
        """Maps layers of shape (tokens, num_layers, dim) to scores of shape (tokens, tags)."""
        # The mix expects sentences, so all tokens are passed as one sentence.
        mixed = self.mix(layers.transpose(0, 1).unsqueeze(0), layers.new_ones(1, len(layers)))
        return self.linear(mixed.squeeze(0))

    @torch.no_grad()
    def predict(self, layers: torch.Tensor) -> list[str]:
        labels = torch.cat([self(group).argmax(dim=1) for group in layers.split(_GROUP)])
        return [self.tags[label] for label in labels.tolist()]
