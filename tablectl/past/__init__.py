"""Looking back: rounds, their derivation and shoes, told from the rows of the journal."""
