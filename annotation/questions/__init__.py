"""Questions of annotators about pairs, the leads' answers, and announcements to all annotators."""
