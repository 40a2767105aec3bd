"""Live rankers: search engines that are asked, in revisions; their snapshots become runs."""
