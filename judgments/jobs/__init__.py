"""Long work as rows: submitted by a page, run by a worker, with progress."""
