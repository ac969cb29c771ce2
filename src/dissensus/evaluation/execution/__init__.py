"""Running a comparison: jobs, processes, a cluster, trials, and the folder that keeps the fits."""
