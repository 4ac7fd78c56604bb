"""What both faces say of categories."""

from collections.abc import Sequence

from cfbatch_gui.core.results.categories import parse_categories


def category_lines(lines: Sequence[str]) -> list[str]:
    """Lines of categories with one for each, as people type them."""
    found = []
    for each in parse_categories(lines):
        examples = [sentence.removeprefix(f"{each.name}: ") for sentence in each.sentences]
        found.append(each.name if examples == [each.name] else f"{each.name}: {' | '.join(examples)}")
    return found
