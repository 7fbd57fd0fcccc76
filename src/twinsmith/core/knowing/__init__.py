"""Knowledge and insights as values: documents, passages, a graph, what runs have learned."""
