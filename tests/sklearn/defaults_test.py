from tests.helpers.defaults import defaults


def test_defaults_are_those_of_the_docstrings() -> None:
    documented, actual = defaults("sklearn")

    assert documented and actual == documented
