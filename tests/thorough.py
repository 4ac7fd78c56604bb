"""How much a test tries: little in `make test`, much in `make prove`, by the profile of hypothesis."""

from typing import Final

from hypothesis import settings

IS_THOROUGH: Final = settings.get_current_profile_name() == "thorough"


def tries(few: int, many: int) -> int:
    """`few`, and `many` with --hypothesis-profile=thorough. A test that asks this has the marker `thorough`."""
    return many if IS_THOROUGH else few
