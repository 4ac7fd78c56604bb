"""Jobs on the screen: the library, drafts, work under way."""
