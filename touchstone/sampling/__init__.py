"""Which queries to judge, and what a sample of them says about all.

    frames       the queries that could be drawn, with stratum and size; their digest
    frame_files  reads a frame from a CSV file
    traffic      reads a traffic log; how concentrated it is; strata by cumulative traffic
    allocation   how many queries of each stratum: proportional, Neyman, cost-optimal
    designs      seeded draws, with the chance that each query had
    estimation   totals, means, their standard errors under each design
    readings     both means of a judged sample under its design, with standard errors
    weighting    per query and per search, effective sample size, post-stratification
    planning     a budget or a difference to detect: allocation, cost, expected standard error
    sample_files reads a judged sample from a CSV file

Pure NumPy: arrays in, arrays out.
"""
