"""Clicks as evidence: logs, position bias, click models, counterfactual estimates, interleaving.

    log             reads UBI and CSV logs: evidence per (query, document, rank), and a ledger
    coec            clicks over expected clicks
    sessions        the result pages of a log, for the models below
    ctr, sdbn, pbm  click models; `fit` evaluates them on sessions
    interventions   examination estimates from documents that were shown at several ranks
    counterfactual  inverse propensity estimates of a policy or a ranking
    interleaving    who gets the credit, and who wins
    people          how well clicks agree with people
    simulation      logs with known propensities

Arrays in, arrays out; the ranks of the log are kept as they are, positions count from 1.
"""
