"""The model card shows the figures of the model that ships."""

from ops.model_card import CARD, page


def test_the_card_is_current() -> None:
    assert CARD.read_text() == page(CARD.read_text()), "run `python -m ops.model_card`"
