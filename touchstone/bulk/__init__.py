"""Evaluation of rankings in Parquet, too many rows for memory: exact sums per measure and segment.

    plan      what is asked: columns, measures, segments, what a signal means as a grade
    columns   Arrow columns of any fitting type as the five columns that the kernel reads
    kernel    the measures of a table of whole queries: `evaluate_rows`
    counts    its answer: integers, which merge in any order to the same integers
    data_sets folders, globs and Hive partitions as files with their row groups
    lowest    the queries with the lowest values, to look at
    spill     rows scattered over files, brought together by a hash of their query
    local     the engine of one machine: `evaluate`
    spark     the engine for data frames of Spark: `evaluate`

One kernel computes, engines only move rows: the same data gives the same integers everywhere. All
of it needs pyarrow, the extra `parquet`; importing this package does not.
"""
