"""Relevance judgments and rankings: measures, file formats, statistics, agreement, pools.

    measures    definitions and presets, scoring, exact means; `files.evaluate_file`
    files       strict readers and writers of qrels, runs, ratings, labels
    statistics  paired tests, intervals, stability, machine judges corrected by people
    agreement   Krippendorff's alpha, kappas, Dawid-Skene, drift, accuracy
    pooling     pools, and what to judge next
    sampling    which queries to judge, and what a sample of them says about all
    clicks      click logs, position bias, click models, interleaving
    bulk        Parquet too large for memory, here or on Spark; exact sums by segment
    cli         the command `touchstone`

Importing it imports none of them.
"""
