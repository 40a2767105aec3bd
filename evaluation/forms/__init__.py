"""What people type about rankers and runs, checked before a service sees it."""
