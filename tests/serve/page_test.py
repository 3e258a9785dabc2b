"""
Tests of the page in a real browser. They run where Playwright is in build/browser (`make browser`)
and Chromium is on the path, and are skipped elsewhere.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from allennlp.models import load_archive

from elmo_tasks.common.package_data import config_folder
from elmo_tasks.serve.app import ServedModel
from tests.helpers.command_line import our_command
from tests.helpers.configs import FIXTURE_BILM, evaluate
from tests.helpers.served import NAMES, app_of, run_server
from tests.helpers.training import train

ROOT = Path(__file__).parents[2]
BROWSER = ROOT / "build" / "browser"
AXE = BROWSER / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

if BROWSER.is_dir():
    sys.path.append(str(BROWSER))
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not in build/browser; `make browser` fetches it"
)
if not AXE.is_file():
    pytest.skip("axe is not in build/browser; `make browser` fetches it", allow_module_level=True)
if CHROMIUM is None:
    pytest.skip("Chromium is not installed; Debian's package is chromium", allow_module_level=True)

TABS = ["SST", "NER", "SNLI", "SQuAD", "SRL", "Coref"]
TABS += ["Layers", "Senses", "Words", "Mix"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page, loaded. Requests to other addresses are blocked, and make the test fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    elsewhere: list[str] = []
    failures: list[str] = []

    def block(route: Any) -> None:
        if route.request.url.startswith(f"{address}/"):
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    context.route("**/*", block)
    page = context.new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    # A refused request is no mistake of the page.
    page.on(
        "console",
        lambda message: (
            failures.append(message.text)
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    page.goto(address)
    page.get_by_role("tab").first.wait_for()
    yield page
    context.close()
    assert elsewhere == [] and failures == []


def open_tab(page: Any, title: str) -> Any:
    """Opens a tab, and returns its panel."""
    page.get_by_role("tab", name=title, exact=True).click()
    return page.get_by_role("tabpanel", name=title, exact=True)


def answered(panel: Any) -> Any:
    """Returns a panel when the answer is there."""
    panel.locator('.result[aria-busy="false"] details').wait_for()
    return panel


def click_example(page: Any, title: str, index: int = 0) -> Any:
    """Opens a tab, clicks an example, and returns the panel when the answer is there."""
    panel = open_tab(page, title)
    panel.locator(".examples button").nth(index).click()
    return answered(panel)


def ask(page: Any, address: str, title: str, index: int = 0) -> tuple[Any, Any]:
    """Clicks an example, and returns the panel and what HTTP answers."""
    about = httpx.get(f"{address}/models").json()
    model = next(model for model in about["models"] if model["title"] == title)
    url = f"{address}/predict/{model['name']}"
    answer = httpx.post(url, json=model["examples"][index]).json()
    return click_example(page, title, index), answer


def ask_for(page: Any, title: str, sentence: str) -> Any:
    """Asks about a sentence, and returns the panel when the answer is there."""
    panel = open_tab(page, title)
    panel.get_by_label("Sentence").fill(sentence)
    panel.get_by_role("button", name="Show").click()
    return answered(panel)


def test_each_model_and_tool_has_a_tab_and_the_first_is_open_with_its_first_example_answered(
    page: Any, address: str
) -> None:
    assert page.get_by_role("tab").all_inner_texts() == TABS
    about = httpx.get(f"{address}/models").json()["models"][0]

    panel = answered(page.get_by_role("tabpanel", name=TABS[0], exact=True))

    assert panel.get_by_label("Sentence").input_value() == about["examples"][0]["sentence"]
    assert panel.locator(".about").inner_text() == about["about"]
    assert panel.locator(".big").is_visible()
    shown = panel.inner_text()
    assert about["class"] not in shown and "About this model" in shown
    panel.get_by_text("About this model").click()
    assert f"{about['class']} with {about['parameters']:,} parameters" in panel.inner_text()


def test_a_label_is_shown_with_the_probabilities_of_all(page: Any, address: str) -> None:
    panel, answer = ask(page, address, "SST")

    assert panel.locator(".big").inner_text() == answer["label"]
    rows = panel.locator(".bars tr").all_inner_texts()
    expected = sorted(answer["probabilities"].items(), key=lambda pair: -pair[1])
    assert [row.split() for row in rows] == [
        [*name.split(), f"{probability:.3f}"] for name, probability in expected
    ]
    width = panel.locator(".bar").first.evaluate("bar => parseFloat(bar.style.width)")
    assert width == pytest.approx(100 * expected[0][1], abs=0.01)


def test_entities_are_marked_with_their_confidence(page: Any, address: str) -> None:
    panel, answer = ask(page, address, "NER")

    marked = [text.split("\n")[0] for text in panel.locator("mark").all_inner_texts()]
    assert marked == [entity["text"] + entity["type"] for entity in answer["entities"]]
    panel.locator("mark").first.hover()
    confidence = f"confidence {answer['entities'][0]['confidence']:.3f}"
    assert panel.locator(".readout").inner_text().endswith(confidence)


def test_reading_marks_the_answer_that_is_chosen(page: Any, address: str) -> None:
    panel, answer = ask(page, address, "SQuAD")
    about = httpx.get(f"{address}/models").json()["models"][3]

    assert panel.locator(".text").inner_text() == about["examples"][0]["passage"]
    for index, span in enumerate(answer["best"]):
        panel.get_by_role("radio").nth(index).check()
        assert panel.locator("mark").inner_text() == span["answer"]


def test_a_text_with_signs_beyond_16_bits_is_marked_where_the_answer_is(
    page: Any, address: str
) -> None:
    panel = open_tab(page, "SQuAD")
    passage = "😀😀 <b>Anna</b> & Zoë 😀 built 𝒜 the library."
    panel.get_by_label("Passage").fill(passage)
    panel.get_by_label("Question").fill("Who?")
    panel.get_by_role("button", name="Show").click()
    answered(panel)

    assert panel.locator(".text").inner_text() == passage
    assert panel.locator("mark").inner_text() == panel.locator(".big").inner_text()


def test_roles_are_rows_under_the_sentence_and_have_a_legend(page: Any, address: str) -> None:
    panel, answer = ask(page, address, "SRL")

    assert panel.locator("thead th").all_inner_texts()[1:] == answer["tokens"]
    rows = panel.locator("tbody tr")
    assert rows.count() == len(answer["predicates"]) > 0
    for index, predicate in enumerate(answer["predicates"]):
        row = rows.nth(index)
        assert row.locator("th").inner_text() == predicate["text"]
        cells = row.locator("td").evaluate_all("all => all.map(td => [td.innerText, td.colSpan])")
        expected = [["", 1] for _ in answer["tokens"]]
        for role in reversed(predicate["roles"]):
            start, end = role["tokens"]
            expected[start:end] = [[role["role"], end - start]]
        assert cells == expected
    names = panel.locator("dt").all_inner_texts()
    roles = {role["role"] for predicate in answer["predicates"] for role in predicate["roles"]}
    meanings = httpx.get(f"{address}/models").json()["models"][4]["legend"]
    assert set(names) >= roles & set(meanings) and names
    assert panel.locator("dd").all_inner_texts() == [meanings[name] for name in names]


@pytest.mark.parametrize("title", ["SST", "SNLI", "SQuAD"])
def test_words_are_coloured_by_how_much_they_matter(page: Any, address: str, title: str) -> None:
    panel, _ = ask(page, address, title)
    about = httpx.get(f"{address}/models").json()["models"]
    model = next(model for model in about if model["title"] == title)
    texts = httpx.post(f"{address}/saliency/{model['name']}", json=model["examples"][0]).json()

    panel.get_by_role("button", name="Which words matter?").click()

    panel.get_by_text("Words that matter").wait_for()
    words = panel.locator(".word")
    expected = [word for text in texts["texts"] for word in text["tokens"]]
    assert words.all_inner_texts() == expected
    weights = [weight for text in texts["texts"] for weight in text["weights"][0]]
    shown = [float(words.nth(index).get_attribute("title")) for index in range(len(expected))]
    assert shown == pytest.approx(weights, abs=6e-4)


PRODUCTS = ["Rasko", "Tibo", "Velm"]


def products(num_sentences: int) -> str:
    """Returns sentences in columns, each with a product."""
    sentences = (
        f"The O\nred O\n{PRODUCTS[n % 3]} B-PRODUCT\nbroke O\n{n} O\ntimes O\n"
        for n in range(num_sentences)
    )
    return "\n".join(sentences)


@pytest.fixture(scope="module")
def own_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of a model that was trained on a file by `new tag`."""
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("parts.txt").write_text(products(24))
        our_command("new", "tag", Path("parts.txt"))
        text = Path("parts.jsonnet").read_text()
        text = text.replace("'elmo_tasks/", f"'{config_folder()}/lib/")
    config = evaluate(f"{text} + {{ bilm:: {FIXTURE_BILM}, hidden_dim:: 8, store:: null }}")
    config["trainer"]["num_epochs"] = 30
    config["trainer"]["optimizer"]["lr"] = 0.03
    for name in ("train_data_path", "validation_data_path"):
        config[name] = str(folder / config[name])
    train(config, folder / "run")
    served = ServedModel("parts", load_archive(str(folder / "run" / "model.tar.gz")))
    with run_server(app_of([served])) as url:
        yield url


def test_a_model_of_own_data_has_its_name_its_labels_and_two_examples(
    browser: Any, own_address: str
) -> None:
    context = browser.new_context()
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.goto(own_address)
    page.get_by_role("tab").first.wait_for()

    panel = answered(page.get_by_role("tabpanel", name="parts", exact=True))

    assert page.get_by_role("tab").first.inner_text() == "parts"
    assert page.title() == "parts – ELMo in the browser"
    about = "Marks the spans of a sentence that are: PRODUCT."
    assert panel.locator(".about").inner_text() == about
    examples = panel.locator(".examples button").all_inner_texts()
    assert len(set(examples)) == 2
    for index, example in enumerate(examples):
        assert example.startswith("The red ") and example.endswith(" times")
        panel.locator(".examples button").nth(index).click()
        marked = panel.locator("mark", has_text=example.split()[2])
        assert marked.inner_text().split() == [f"{example.split()[2]}PRODUCT"]
        assert panel.locator(".legend dt").all_inner_texts() == ["PRODUCT"]
        assert panel.locator(".legend dd").count() == 0
    assert "persons" not in panel.inner_text()
    context.close()


def find(page: Any, answer: dict[str, Any]) -> Any:
    """Returns the panel of Coref with an answer. A model that is not trained may find nothing."""
    page.route("**/predict/coref*", lambda route: route.fulfill(json=answer))
    return click_example(page, "Coref")


def test_mentions_are_marked_within_each_other_with_their_cluster(page: Any) -> None:
    text = "😀 Her <b>dog saw Zoë & her dog."
    mentions = [["Her <b>dog", "her dog"], ["Her", "Zoë", "her"]]
    starts = [[2, 23], [2, 17, 23]]
    answer: dict[str, Any] = {
        "document": text,
        "clusters": [
            [
                {"text": each, "characters": [start, start + len(each)], "probability": None}
                for each, start in zip(*cluster)
            ]
            for cluster in zip(mentions, starts)
        ],
    }
    answer["clusters"][0][1]["probability"] = 0.25

    panel = find(page, answer)

    assert panel.locator(".text").inner_text() == "😀 Her2 <b>dog1 saw Zoë2 & her2 dog1."
    marks = panel.locator("mark")
    assert marks.evaluate_all("all => all.map(mark => [mark.textContent, mark.title])") == [
        ["Her2 <b>dog1", "the first mention"],
        ["Her2", "the first mention"],
        ["Zoë2", "the first mention"],
        ["her2 dog1", "probability 0.250"],
        ["her2", "the first mention"],
    ]
    colours = marks.evaluate_all("all => all.map(mark => mark.className)")
    first, second = "entity type-0", "entity type-1"
    assert colours == [first, second, second, first, second]
    clusters = panel.locator(".clusters li").all_inner_texts()
    assert clusters == ["Her <b>dog, her dog", "Her, Zoë, her"]


# Marks that close what others opened, and marks that are never closed.
TURNED = "\u2069\u202eTom \u202bmet\u200f\u2029\u202e Ida\u2067"

# Whether the pieces of an element, or the characters of its only text, stand from left to right.
IN_ORDER = """element => {
  const boxes = [];
  for (const node of element.childNodes) {
    const length = node.textContent.length;
    for (let index = 0; index < (element.childNodes.length > 1 ? 1 : length); index += 1) {
      const range = document.createRange();
      range.selectNodeContents(node);
      if (element.childNodes.length === 1) {
        range.setStart(node, index);
        range.setEnd(node, index + 1);
      }
      if (range.toString().trim()) boxes.push(range.getBoundingClientRect());
    }
  }
  return boxes.length > 1
    && boxes.every((box, index) => !index || box.left >= boxes[index - 1].right - 1);
}"""


def test_marks_of_direction_in_an_entity_are_kept_and_turn_no_word_of_the_page(page: Any) -> None:
    entity = {"type": "PER", "text": TURNED, "confidence": 0.5, "characters": [2, 2 + len(TURNED)]}
    answer = {"sentence": f"A {TURNED} saw it.", "entities": [entity]}
    page.route("**/predict/ner*", lambda route: route.fulfill(json=answer))

    panel = click_example(page, "NER")

    assert panel.locator(".text").text_content() == f"A {TURNED}PER saw it."
    assert panel.locator("mark small").evaluate(IN_ORDER)
    panel.locator("mark").hover()
    readout = panel.locator(".readout")
    assert readout.text_content() == f"PER “{TURNED}”, confidence 0.500"
    assert readout.evaluate(IN_ORDER)


def test_marks_of_direction_in_an_answer_turn_no_word_of_the_page(page: Any) -> None:
    span = {"answer": TURNED, "probability": 0.5, "start": 0, "end": len(TURNED)}
    page.route(
        "**/predict/squad*", lambda route: route.fulfill(json={"answer": TURNED, "best": [span]})
    )
    panel = open_tab(page, "SQuAD")
    panel.get_by_label("Passage").fill(f"{TURNED}.")
    panel.get_by_label("Question").fill("Who?")
    panel.get_by_role("button", name="Show").click()
    answered(panel)

    assert panel.locator(".big").text_content() == panel.locator("mark").text_content() == TURNED
    assert panel.locator(".text").text_content() == f"{TURNED}."
    name = panel.locator("fieldset bdi").first
    assert name.text_content() == f"1: {TURNED} (0.500)"
    assert name.evaluate(IN_ORDER)


def test_marks_of_direction_in_a_mention_turn_no_word_of_the_page(page: Any) -> None:
    ends = ([0, len(TURNED)], [len(TURNED) + 5, len(TURNED) + 8])
    texts = (TURNED, "her")
    mentions = [
        {"text": text, "characters": end, "probability": 1} for text, end in zip(texts, ends)
    ]

    panel = find(page, {"document": f"{TURNED} saw her.", "clusters": [mentions]})

    assert panel.locator(".text").text_content() == f"{TURNED}1 saw her1."
    assert panel.locator(".clusters li").text_content() == f"{TURNED}, her"
    assert panel.locator(".clusters li").evaluate(IN_ORDER)


@pytest.mark.parametrize(
    ("title", "quoted", "words"),
    [("Layers", "caption", ".text .token"), ("Words", "h2", "tbody .token")],
)
def test_marks_of_direction_in_a_word_are_kept_and_turn_no_word_of_the_page(
    page: Any, title: str, quoted: str, words: str
) -> None:
    word = "\u202eTom\u202b"
    panel = ask_for(page, title, f"He met {word} .")

    assert "".join(panel.locator(words).all_text_contents()) == f"Hemet{word}."
    panel.locator(words).nth(2).click()
    around = panel.locator(quoted).last
    assert around.text_content().endswith(f" “{panel.locator(words).nth(2).text_content()}”")
    assert around.evaluate(IN_ORDER)


def test_a_label_with_marks_of_direction_is_escaped(page: Any) -> None:
    answer = {"label": TURNED, "probabilities": {TURNED: 1}}
    page.route("**/predict/sst*", lambda route: route.fulfill(json=answer))

    panel = click_example(page, "SST")

    escaped = r"\u2069\u202eTom \u202bmet\u200f\u2029\u202e Ida\u2067"
    assert panel.locator(".big").text_content() == escaped
    assert panel.locator(".bars th").text_content() == escaped


def test_document_without_clusters_says_so(page: Any) -> None:
    panel = find(page, {"document": "Yes.", "clusters": []})

    assert panel.get_by_text("No two mentions refer to the same thing.").is_visible()


# An Arabic sentence with an English verb, which spaCy's English model finds.
LEFTWARD = "\u0642\u0627\u0631\u0628 left \u0627\u0644\u0636\u0641\u0629"


@pytest.mark.parametrize(
    ("title", "words"), [("Layers", ".text .token"), ("SRL", "thead th:not(:empty)")]
)
def test_words_stand_in_the_direction_of_their_text(page: Any, title: str, words: str) -> None:
    for text, leftward in [("A boat left", False), (LEFTWARD, True)]:
        panel = ask_for(page, title, text)

        lefts = [word.bounding_box()["x"] for word in panel.locator(words).all()]
        assert len(set(lefts)) == 3 and lefts == sorted(lefts, reverse=leftward), text


def test_the_right_arrow_goes_back_in_a_text_from_right_to_left(page: Any) -> None:
    for text, key in [("A boat left", "ArrowRight"), (LEFTWARD, "ArrowLeft")]:
        buttons = ask_for(page, "Layers", text).locator(".token")
        buttons.first.press(key)
        assert buttons.nth(1).evaluate("word => word === document.activeElement"), text


def test_layers_show_the_cosines_to_the_chosen_word(page: Any, address: str) -> None:
    panel = click_example(page, "Layers")
    panel.get_by_role("button", name="play", exact=True).nth(1).click()

    example = httpx.get(f"{address}/models").json()["tools"][0]["examples"][0]
    answer = httpx.post(f"{address}/layers", json=example).json()
    chosen = 4
    assert answer["tokens"][chosen] == "play"
    rows = panel.locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        [word, *(f"{layer[chosen][other]:z.2f}" for layer in answer["cosines"])]
        for other, word in enumerate(answer["tokens"])
    ]


def test_words_have_their_bits_and_the_likelier_words_of_the_chosen_one(
    page: Any, address: str
) -> None:
    panel = click_example(page, "Words")
    panel.get_by_role("button", name="boat", exact=True).click()

    answer = httpx.post(f"{address}/words", json={"sentence": "The boat left the bank."}).json()
    rows = [row.split("\t") for row in panel.locator("tbody").first.locator("tr").all_inner_texts()]
    bits = zip(answer["tokens"], answer["forward"], answer["backward"])
    assert [row[:3] for row in rows] == [
        [word, f"{one:.1f}", f"{other:.1f}"] for word, one, other in bits
    ]
    likely = panel.locator(".columns table").last.locator("th").all_inner_texts()
    assert likely == [word for word, _ in answer["likely"][1]["both"]]


def test_senses_show_a_point_for_each_occurrence_and_the_nearest(page: Any) -> None:
    panel = click_example(page, "Senses")

    assert panel.locator("circle").count() == 16
    sentences = panel.locator(".list button").all_inner_texts()
    assert len(sentences) == 15
    panel.locator(".list button").nth(3).click()
    assert panel.locator("strong").last.inner_text() == sentences[3]
    cosines = [float(text) for text in panel.locator(".list .number").all_inner_texts()]
    assert cosines == sorted(cosines, reverse=True)
    panel.get_by_role("radio", name="tokens").check()
    assert set(panel.locator(".list .number").all_inner_texts()) == {"1.000"}


def test_the_mix_of_every_model_is_shown(page: Any) -> None:
    panel = open_tab(page, "Mix")

    assert panel.locator("h2").all_inner_texts() == [
        f"{name}, {place}" for name in NAMES for place in ("input", "output")
    ]
    assert panel.locator(".bars").first.locator("tr").all_inner_texts()[0].split()[0] == "tokens"


def test_an_error_is_a_sentence_under_the_box(page: Any) -> None:
    panel = open_tab(page, "SST")
    panel.get_by_label("Sentence").fill(" ")
    panel.get_by_role("button", name="Show").click()

    alert = panel.get_by_role("alert")
    sync_api.expect(alert).to_have_text("Write something into “Sentence” first.")
    assert panel.locator(".result").inner_text() == ""


def test_the_curl_line_gives_the_same_answer(page: Any, address: str) -> None:
    panel = open_tab(page, "SST")
    panel.get_by_label("Sentence").fill("It's a film.")
    panel.get_by_role("button", name="Show").click()
    answered(panel)

    panel.get_by_text("About this model").click()
    line = panel.locator("pre").inner_text()
    assert line.startswith(f"curl '{address}/predict/sst' ")
    assert line.endswith("""-d '{"sentence":"It'\\''s a film."}'""")


def test_the_keyboard_alone_reaches_everything(page: Any) -> None:
    page.get_by_role("tab", name="SST").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    panel = page.get_by_role("tabpanel", name="SNLI")
    sync_api.expect(panel).to_be_visible()
    answered(panel)
    seen = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                "(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()"
                ".split('\\n')[0]"
            )
        )
    assert {"Premise", "Hypothesis", "Show", "Which words matter?", "About this model"} <= seen


def test_nothing_is_cut_off_at_any_width(page: Any) -> None:
    for title in TABS[:-1]:
        click_example(page, title)
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for title in TABS:
            open_tab(page, title)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, title


@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 400)])
def test_axe_finds_nothing_serious(scheme: str, width: int, page: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    # Evaluated and not added as a script, which the page's policy forbids.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for title in TABS[:-1]:
        click_example(page, title)
    # One run looks at all tabs.
    page.evaluate("for (const panel of document.querySelectorAll('section')) panel.hidden = false")
    serious = [
        (each["id"], node["html"])
        for each in page.evaluate("axe.run()")["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]

    assert serious == []
