"""Analysis: the journal in, figures on the behaviour of models out; DuckDB does the adding up."""
