"""Draws figures and reads the texts in them."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def drawn_texts(figure: Figure) -> list[str]:
    """Draws a figure, checks that nothing is cut off, and returns its texts."""
    FigureCanvasAgg(figure).draw()
    # The bounding box of everything that is drawn, in inches.
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]
