"""The people of a collection: invitations, roles, pseudonyms."""
