"""Methods, one folder per row of the survey's Table 1, one file per method."""
