"""`cfbatch groups`: which rows of a file belong together, by their number or by how much alike they are."""

from cfbatch_gui.cli import match
from cfbatch_gui.cli import run as running
from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser, checked, number_in
from cfbatch_gui.core.jobs.states import DuplicateOptions, GroupOptions, Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.groups import MOST_CLUSTERS
from cfbatch_gui.words.figures import number
from cfbatch_gui.words.languages import tr

_NO_NUMBER = message("text_is_no_number_clusters_give")
_NO_SIMILARITY = message("text_is_no_similarity_give_number")
_NO_LIKENESS = message("text_should_be_auto_or_score")
EXAMPLES = """
  cfbatch groups survey.xlsx --number 9 --out grouped.xlsx
  cfbatch groups letters.csv --likeness auto --text Letter
  cfbatch groups suppliers.csv --similarity 0.97 --out kept.duplicates.xlsx
"""
_AUTO = 0.0


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options("file FILE  the texts, a row each")
    parser.one_of(
        """
        --number K  so many groups (default: by the number of texts)
        --likeness SCORE  groups of rows that are all at least so alike, the rest in none; or “auto”
        """,
        {
            "--number": {"type": number_in(2, MOST_CLUSTERS, _NO_NUMBER, most=MOST_CLUSTERS, whole=True), "default": 0},
            "--likeness": {"type": checked(_likeness, _NO_LIKENESS)},
        },
    )
    usual = DuplicateOptions().similarity
    parser.add_options(
        "--similarity SCORE  from which similarity on a row is a duplicate of another (default: {usual})",
        {"--similarity": {"type": number_in(1e-9, 1, _NO_SIMILARITY), "default": usual}},
        usual=number(usual, "g"),
    )
    match.add_text_arguments(parser)
    running.add_sending_arguments(parser)
    parser.set_defaults(second=None, within=None, not_within=None)


def _likeness(text: str) -> float:
    return _AUTO if text == "auto" else number_in(0.01, 1, _NO_LIKENESS)(text)


async def run(call: Call) -> int:
    likeness = call.likeness or None
    grouping = GroupOptions(by_likeness=call.likeness is not None, number=call.number, likeness=likeness)
    duplicates = DuplicateOptions(similarity=call.similarity)
    return await running.run_job(
        call, match.open_lists, purpose=Purpose.GROUPS, grouping=grouping, duplicates=duplicates
    )
