"""What clicks on other rankers' pages say of a ranker: counterfactual estimates."""
