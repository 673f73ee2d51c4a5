"""Which values of two columns belong together because other tables of the lake hold both in one row."""
