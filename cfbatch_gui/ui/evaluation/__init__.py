"""Pages that compare jobs and judge them."""
