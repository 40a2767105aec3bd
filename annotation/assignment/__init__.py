"""Who labels which queries of a campaign: named people, or people with languages and skills."""
