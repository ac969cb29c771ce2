"""Large tables with a row per annotator, of which a step changes the rows of its batch only.

Nothing here is needed to understand how a network is trained: see `training.loop` for that.
"""
