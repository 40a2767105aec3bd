"""Requests that the server makes: to the hosts that an administrator allows, and to no other."""
