"""Streaming: a long table that does not fit into memory -> a corpus folder in the order of items.

The file is read in batches (`batches.py`). Their texts become codes (`text_codes.py`), and their
rows are written to sorted files, the runs (`runs.py`), which are merged in blocks of items. The
roles of columns are recognised in the first rows (`first_rows.py`). A pass over the blocks collects
what is known about items, annotators and values (`facts.py`), another one writes the answers
(`conversion.py`). In memory are a batch or block, the distinct texts, and facts about items.
"""
