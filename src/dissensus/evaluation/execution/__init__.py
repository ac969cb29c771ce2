"""Running a comparison: jobs, processes, trials, and the folder that keeps the fits."""
