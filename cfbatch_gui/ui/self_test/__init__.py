"""The self-test of the whole program: that of the core, and what needs Qt."""
