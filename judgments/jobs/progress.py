"""How far the jobs of this process are, in bytes read or units done, by the job's pk.

On SQLite a row can't show it: while a job writes, no one else can. There the page and the worker
are threads of one process, so the page looks here first.
"""

in_this_process: dict[int, int] = {}
