"""Tables that share no value with mine, but join with it through other tables of the lake."""
