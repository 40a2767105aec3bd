"""What every public tool would say of a run or a leaderboard."""
