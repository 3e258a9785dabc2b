"""
The tasks that have a tab of their own. Each is a `Task` here, and a function of the same name in
static/page.js shows its answers.
"""

from typing import Any, NamedTuple

# A request of at most this many words is short: it does not wait for longer requests. It should
# take at most a second on one core.
MAX_SHORT = 256


class Task(NamedTuple):
    """
    What the page needs to know of a task.

    # Parameters

    name: The key of the function in `static/page.js` that shows an answer.
    title: The text on the tab.
    fields: The label of each text box, by the name of the field in the predictor's input.
    examples: Inputs to click.
    details: Arguments of the predictor that make its answers have all that the page shows.
    limits: Arguments of the predictor that limit its work, besides the number of words.
    max_short: The most words of a short request.
    """

    name: str
    title: str
    fields: dict[str, str]
    examples: list[dict[str, str]]
    details: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    max_short: int = MAX_SHORT

    def describe(self) -> dict[str, Any]:
        """Returns what the page is told of the task."""
        shown = {"title": self.title, "fields": self.fields, "examples": self.examples}
        return {"task": self.name, **shown}


_BEACH = "Two girls in red coats are throwing a ball to a dog on the beach."
_LIBRARY = (
    "The town library of Vellmar was built in 1911 by Anna Brandt, an architect from Kassel. A "
    "fire destroyed its roof in 1943, and for nine years the books were kept in the cellar of "
    "the brewery. Since 1952 the library has stood open every day but Monday. Its oldest book "
    "is a herbal of 1542, which a baker gave in exchange for a lost novel."
)

# The tasks, by the registered names of their predictors.
TASKS = {
    "elmo_sst": Task(
        "sentiment",
        "Sentiment",
        {"sentence": "Sentence"},
        [
            {"sentence": "An unexpectedly moving film with two wonderful actors."},
            {"sentence": "The plot is thin, but the songs almost make up for it."},
            {"sentence": "Two hours of shouting, and not one joke that works."},
            {"sentence": "The film opens in Lisbon in 1961."},
        ],
    ),
    # A user's own model has its columns as fields, and no examples.
    "elmo_classify": Task("texts", "Texts", {}, []),
    "elmo_tag": Task("tags", "Tags", {"sentence": "Sentence"}, []),
    "elmo_ner": Task(
        "entities",
        "Entities",
        {"sentence": "Sentence"},
        [
            {"sentence": "Maria Lindqvist moved from Stockholm to Siemens in Munich."},
            {"sentence": "Washington beat Leeds 3-1 on Saturday, said coach Paul Reed."},
            {"sentence": "The World Bank lends Kenya money for the Nairobi railway."},
        ],
        {"top_k": 5},
    ),
    "elmo_snli": Task(
        "entailment",
        "Entailment",
        {"premise": "Premise", "hypothesis": "Hypothesis"},
        [
            {"premise": _BEACH, "hypothesis": "Children are playing outside."},
            {"premise": _BEACH, "hypothesis": "The girls are sisters."},
            {"premise": _BEACH, "hypothesis": "The girls are asleep in a bed."},
        ],
        {"attention": True},
    ),
    "elmo_squad": Task(
        "reading",
        "Reading",
        {"passage": "Passage", "question": "Question"},
        [
            {"passage": _LIBRARY, "question": "Who built the library?"},
            {"passage": _LIBRARY, "question": "Where were the books kept after the fire?"},
            {"passage": _LIBRARY, "question": "When is the library closed?"},
        ],
        {"attention": True},
    ),
    "elmo_srl": Task(
        "roles",
        "Roles",
        {"sentence": "Sentence"},
        [
            {"sentence": "The storm broke two windows and frightened the dog."},
            {"sentence": "The baker who lives upstairs gave us bread on Friday."},
            {"sentence": "Nobody told the children that the train had left."},
        ],
        # This takes a few seconds on one core.
        limits={"max_tags": 20_000},
        # Each word may be a predicate.
        max_short=64,
    ),
    "elmo_coref": Task(
        "coreference",
        "Coreference",
        {"document": "Document"},
        [
            {
                "document": "Anna took her dog to the park. The dog saw a boat and barked at it, "
                "so she took him home."
            },
            {
                "document": "The mayor of Vellmar has resigned. He told the town council that it "
                "had never listened to him."
            },
            {
                "document": "The sisters opened a bakery in 1911. They sold it to their cousin, "
                "who never baked."
            },
        ],
    ),
}

_SENSES = """
The children play in the garden after school.
We play cards every Sunday evening.
They play football behind the church.
She can play the violin and the harp.
Our dogs play with an old shoe.
I play chess with my uncle.
He will play for the team in May.
Do you play any games at work?
The play opened in London in March.
Her first play is about three sisters.
The critics praised the play and its cast.
We saw a play by a young writer.
The second act of the play is too long.
He wrote the play in only six weeks.
Nobody left the theatre before the play ended.
The school puts on a play each winter.
"""
_BANKS = """
The bank lends money to small firms.
She opened an account at the bank.
The bank raised its rates in June.
He works for a bank in the city.
The bank closed two hundred branches.
They sat on the bank of the river.
The boat drifted towards the left bank.
Willows grow along the bank of the stream.
We walked down the bank to the water.
The river broke its bank after the rain.
"""

# The tabs that show the biLM itself. Their names are also their addresses.
TOOLS = [
    Task(
        "layers",
        "Layers",
        {"sentence": "Sentence"},
        [
            {"sentence": "The players play a play in the old theatre."},
            {"sentence": "The bank on the left bank of the river lends money."},
            {"sentence": "He saw the saw, and she left on the left."},
        ],
    ),
    Task(
        "senses",
        "Senses",
        {"word": "Word", "text": "Text, a sentence a line"},
        [
            {"word": "play", "text": _SENSES.strip()},
            {"word": "bank", "text": _BANKS.strip()},
        ],
    ),
]

# The tab of a biLM that has a softmax.
WORDS = Task(
    "words",
    "Words",
    {"sentence": "Sentence"},
    [
        {"sentence": "The boat left the bank."},
        {"sentence": "The keys to the cabinet is on the table."},
        {"sentence": "She opened the door and went into the idea."},
    ],
)
