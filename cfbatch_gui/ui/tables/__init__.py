"""Tables: columns over frozen rows, and the view that shows them."""
