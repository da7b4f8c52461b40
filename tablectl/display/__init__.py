"""The table display: a page for a monitor at the table, and what the daemon tells it (docs/display.md).

``model``: what is to be seen, made of the committed state and the shoe's settled rounds; ``rounds``: those
rounds, from the journal; ``feed``: HTTP; ``page``: the page's own files, as a browser gets them.
"""
