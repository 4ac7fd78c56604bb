"""Results that earlier jobs have, found for a draft and taken from there instead of being paid for again."""
