"""How a comparison runs: one fit (`task`), which fits when (`schedule`), in which process
(`processes`), and where they are saved, so that it can be resumed (`folder`)."""
