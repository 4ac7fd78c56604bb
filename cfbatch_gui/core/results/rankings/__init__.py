"""The scores of ranking jobs, and the ranks computed from them."""
