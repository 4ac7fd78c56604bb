"""Books of judgements: how relevant a text is for a query, said by people, files and labels, independent of jobs."""
