"""A typed client of a twinsmith server: `Client("https://…", key="tws_…").runs()`."""
