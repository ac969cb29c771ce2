"""Several trainings that run as one, each with its own weights.

Nothing here is needed to understand how one network is trained: see `training.loop` for that.
"""
