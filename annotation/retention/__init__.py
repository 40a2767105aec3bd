"""For how long a collection keeps what is no fact: times of labels, answers of machine judges."""
