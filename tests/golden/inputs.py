"""Twenty inputs for each trained model, in the names of its predictor's JSON."""

_SENTENCES = [
    "Maria Lindqvist moved from Stockholm to Siemens in Munich .",
    "The storm broke two windows and frightened the dog .",
    "A slow , clumsy film that wastes two fine actors .",
    "Nobody told the children that the train had left .",
    "Washington beat Leeds 3-1 on Saturday , said coach Paul Reed .",
    "An unexpectedly moving story , told with warmth and wit .",
    "The World Bank lends Kenya money for the Nairobi railway .",
    "She wants to sell the house that her father built in 1952 .",
    "It is neither funny nor sad , and it never ends .",
    "The baker who lives upstairs gave us bread on Friday .",
    "Zoë Ågren sings in Malmö , not in Oslo .",
    "The songs almost make up for the thin plot .",
    "Why did the European Union refuse to pay ?",
    "I could watch it again tomorrow .",
    "Rain .",
    "The ministers were asked to explain why prices had risen .",
    "One of the best films of the year , by a long way .",
    "Toyota and Ford will build cars in Brazil , the Financial Times reported .",
    "Two hours of shouting , and not one joke that works .",
    "The old man says he may have seen them swim across the river .",
]

_PAIRS = [
    (
        "Two girls in red coats are throwing a ball to a dog on the beach .",
        [
            "Children are playing outside .",
            "The girls are sisters .",
            "The girls are asleep in a bed .",
            "A dog is on the beach .",
            "Nobody is outside .",
        ],
    ),
    (
        "A man with a grey beard is repairing a bicycle in front of a small shop .",
        [
            "A man works on a bike .",
            "The man owns the shop .",
            "A woman is repairing a car .",
            "The man has a beard .",
            "The bicycle belongs to a friend .",
        ],
    ),
    (
        "An orchestra plays on a stage while people sit on the grass and listen .",
        [
            "There is music .",
            "The concert is free .",
            "The stage is empty .",
            "People are sitting .",
            "Everybody is dancing inside a church .",
        ],
    ),
    (
        "Three cooks stand around a table and cut vegetables .",
        [
            "People are preparing food .",
            "The cooks are making soup for a wedding .",
            "Three cooks are sleeping .",
            "Some people are near a table .",
            "The vegetables are cut by one child .",
        ],
    ),
]

_PASSAGES = [
    (
        "The town library of Vellmar was built in 1911 by Anna Brandt, an architect from Kassel. A "
        "fire destroyed its roof in 1943, and for nine years the books were kept in the cellar of "
        "the brewery. Since 1952 the library has stood open every day but Monday. Its oldest book "
        "is a herbal of 1542, which a baker gave in exchange for a lost novel.",
        [
            "Who built the library?",
            "When was the library built?",
            "Where were the books kept after the fire?",
            "When is the library closed?",
            "What is the oldest book of the library?",
            "What did the fire destroy?",
            "Where did Anna Brandt come from?",
        ],
    ),
    (
        "Lake Ornis lies 640 metres above the sea and is fed by three rivers, of which the Sarn is "
        "the longest. In winter its northern shore is covered with ice for about ten weeks. "
        "Fishermen from the village of Tolm catch whitefish there, and sell most of it to hotels "
        "in the capital. A steamer, the Helvig, has crossed the lake twice a day since 1889.",
        [
            "How high does Lake Ornis lie?",
            "Which river is the longest?",
            "How long is the shore covered with ice?",
            "What do the fishermen catch?",
            "Who buys the fish?",
            "What is the name of the steamer?",
            "Since when has the steamer crossed the lake?",
        ],
    ),
    (
        "The Marrow Prize is awarded every third year to a mathematician under forty. It was "
        "founded by the engineer Ludmila Marrow, who had made a fortune with pumps. The first "
        "winner was Pavel Ostrow in 1936; the youngest was Ines Calder, who was only twenty-two. "
        "The winner receives a gold medal and 50,000 crowns.",
        [
            "Who founded the Marrow Prize?",
            "Who was the first winner?",
            "How much money does the winner receive?",
            "How old was the youngest winner?",
            "With what did Marrow make a fortune?",
            "How often is the prize awarded?",
        ],
    ),
]

_DOCUMENTS = [
    "Anna took her dog to the park. The dog saw a boat and barked at it, so she took him home.",
    "The mayor of Vellmar has resigned. He told the town council that it had never listened.",
    "The sisters opened a bakery in 1911. They sold it to their cousin, who never baked.",
    "My brother says he lost his keys. I found them in the car, which is mine.",
    "The company fired its director. She sued the company, and it paid her.",
    "When the children came home, their mother was asleep. They did not wake her.",
    "Paul Reed trained Leeds for ten years. The club dismissed him on Saturday.",
    "A fox lives behind our house. It comes at night, and we feed it.",
    "The president met the queen in London. She gave him a horse. The horse is white.",
    "Rain fell.",
    "You lent me your umbrella, and I left it on the train.",
    "Kenya asked the World Bank for money. The bank lent the country two million dollars.",
    "The actors loved the director because he let them improvise. The critics hated him.",
    "The lake freezes in winter. Its shore is covered with ice, and fishermen walk on it.",
    "Maria and her husband bought a farm. They keep goats there. The farm lost money last year.",
    "This book is old. A baker gave it to the library. The library keeps it in a box.",
    "The girl who won the prize thanked her teacher. He had never doubted her.",
    "The soldiers left the village. The people there had hidden them from their enemies.",
    "Ford will build a factory in Brazil. The carmaker says the factory will employ 900 people.",
    "The judge asked the man whether he had seen his wife. He said that he had not seen her.",
]

INPUTS: dict[str, list[dict[str, str]]] = {
    **{name: [{"sentence": each} for each in _SENTENCES] for name in ("ner", "sst", "srl")},
    "snli": [{"premise": one, "hypothesis": each} for one, others in _PAIRS for each in others],
    "squad": [{"passage": text, "question": each} for text, asked in _PASSAGES for each in asked],
    "coref": [{"document": each} for each in _DOCUMENTS],
}
